//===- CrossMeshReductions.h - reductions over meshes, as parts -*- C++ -*-===//
//
// A dist.cross_mesh_all_reduce joins one value of each of n meshes for all of them. It becomes
// parts that add, and what they hand to one another: channels like all others, so that transfers,
// their counts and their checks are the same.
//
// Two meshes, or a small value: each mesh is handed all values and joins them.
//
//   @part0 → a ─┬→ @join_mesh0(a, b) → a + b       n·(n-1) values are sent, in one step
//   @part1 → b ─┴→ @join_mesh1(a, b) → a + b
//
// More meshes and a larger value: it is cut into n chunks along a dimension that no mesh splits.
// Each mesh joins one chunk, and is handed the others' sums.
//
//   @part_k → its chunks → @join_mesh_j(chunk j of all) → @collect_mesh_k(the sums): joined
//                                                 2·(n-1) values are sent altogether, in two steps
//
// Where fewer chunks divide, fewer meshes join. In either way a sum is over the values in their
// order, and equal on all meshes bit for bit.
//
// A value of which a block is worth to be gathered goes and is joined in pieces: devices of a mesh
// that hold the same take a part of it each, so that a partial value is reduce-scattered, and what
// reads the result gathers it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_CROSSMESHREDUCTIONS_H
#define WEFT_COMPILER_SHARDING_CROSSMESHREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// Replaces every dist.cross_mesh_all_reduce of @main, whose parts have shardings, by parts and
/// their calls. Reductions that stand together share their parts.
void expandCrossMeshReductions(mlir::func::FuncOp main);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_CROSSMESHREDUCTIONS_H

//===- ReshardPath.h - from one sharding to another -------------*- C++ -*-===//
//
// The cheapest list of collectives that brings a value from one sharding (its partial axes
// included) to another. On {x=4} and f32[64, 64]:
//
//   [{"x"}, {}]              → [{}, {"x"}]    all_to_all split 1 concat 0 ["x"]       (1/4 of an
//   all_gather's bytes)
//   [{}, {}] partial sum x   → [{"x"}, {}]    reduce_scatter dim 0 ["x"]
//   [{}, {}]                 → [{}, {"x"}]    slice dim 1 ["x"]                        (free)
//
// Blocks that are padded are cut off a value that is whole, and join to one: on {x=4} and f32[5],
// [{"x"}] holds 2, 2, 1 and 0 elements. Where blocks of further axes are no parts of the blocks at
// hand, the way leads over the whole dimension: 5 over {a=2, b=2} is 2, 2, 1, 0, no parts of 3, 2.
//
// Found by Dijkstra's algorithm over shardings made of the axes of both sides, cut into the
// sub-axes that occur (atoms). An atom moves only to where the target has it or vanishes, which
// keeps the states few.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_RESHARDPATH_H
#define WEFT_COMPILER_SHARDING_RESHARDPATH_H

#include "compiler/Sharding/Axes.h"

namespace weft {

enum class ReshardKind { AllGather, AllReduce, AllToAll, Permute, ReduceScatter, Slice };

/// One collective, with the sharding of the value behind it.
struct ReshardStep {
  ReshardKind kind = ReshardKind::Slice;
  unsigned dim =
      0; ///< that is gathered, scattered or sliced; for AllToAll the dimension that becomes split
  unsigned concatDim = 0; ///< for AllToAll the dimension that is joined
  AxisList axes;          ///< the group; for Permute the axes of `from`
  AxisList to;            ///< for Permute
  TensorSharding after;
};

struct ReshardPath {
  llvm::SmallVector<ReshardStep, 2> steps;
  /// Bytes that all devices of the mesh send together (compiler/Cost/Traffic.h); in a permute each
  /// sends what it has, in a slice nothing.
  double bytes = 0;
};

/// The path of fewest bytes for a tensor of this global shape; among equals the one of fewer
/// communications, then of fewer steps. None if there is no path: `to` is partial where `from` is
/// not, or by another reduction.
std::optional<ReshardPath> findReshardPath(const MeshShape &mesh, llvm::ArrayRef<int64_t> shape,
                                           int64_t elementBytes, const TensorSharding &from,
                                           const TensorSharding &to);

/// The extents of one device's block.
llvm::SmallVector<int64_t, 4> localShape(llvm::ArrayRef<int64_t> shape,
                                         const TensorSharding &sharding);

/// `all_to_all split 1 concat 0 {"x"}; slice 1 {"y"}`.
std::string str(const MeshShape &mesh, const ReshardPath &path);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_RESHARDPATH_H

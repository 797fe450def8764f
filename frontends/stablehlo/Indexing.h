//===- Indexing.h - what gathers and scatters have in common ----*- C++ -*-===//
//
// Both address blocks of an operand by index tuples. Here the tuples become one position each, in
// the operand's *addressed* dimensions taken together row-major: those that have a start, and those
// that a block covers in part. *Batch* dimensions are shared with the tuples; the others, the
// *rest*, are taken whole.
//
//   operand [8, 5, 6], blocks of [1, 2, 6] at tuples (i, j) for dimensions 0 and 1:
//   addressed 0, 1; rest 2; positions of shape [tuples…, 2]: i·5 + j + {0, 1}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_INDEXING_H
#define WEFT_FRONTENDS_STABLEHLO_INDEXING_H

#include "frontends/common/Emitter.h"

namespace weft::frontend::stablehlo {

/// As the attributes of a gather or scatter give it.
struct IndexDims {
  Shape batch;        ///< of the operand, shared with the indices
  Shape indicesBatch; ///< of the indices, one for each of `batch`
  Shape addressedBy;  ///< the operand's dimension for each number of a tuple
  int64_t vector = 0; ///< the dimension of the indices along which a tuple lies
  Shape block;        ///< the sizes of a block, in the operand's dimensions
  Shape dropped;      ///< dimensions of the operand that are no dimensions of the blocks
};

/// Where blocks lie.
struct Positions {
  Shape batch, addressed, rest; ///< dimensions of the operand
  /// Those of `addressed` that blocks extend along.
  Shape extended;
  /// The tuples' dimensions (those of the indices without the one along which a tuple lies) in the
  /// order in which `positions` has them: first one for each of `batch`.
  Shape tupleDims;
  mlir::Value positions; ///< i64; a dimension for each of `tupleDims`, then of `extended`
  mlir::Value legal;     ///< i1, without `extended`: whether the whole block lies within; null: all
};

/// Throws ImportError where the dimensions do not fit. With `clamp`, starts move so that blocks lie
/// within; else positions of blocks that do not are those of the nearest that does.
Positions findPositions(Emitter &emit, mlir::RankedTensorType operand, mlir::Value indices,
                        const IndexDims &dims, bool clamp);

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_INDEXING_H

//===- Product.h - a tensor product as one strided GEMM ---------*- C++ -*-===//
//
// c[batch…, m, n] = Σ_k a[batch…, m, k] · b[batch…, k, n] with strides in every dimension takes in
// every dot_general: dimensions of one role are joined where all operands walk them as one loop.
// The largest loop of m and of n is the matrix's, others become batch dimensions with stride 0 in
// the operand that lacks them. Only k must be one loop; where it is not, the operand that does not
// walk it so is laid out as the other one does, its rows kept where elements lie side by side;
// where a matrix has no unit stride, it is copied. Each loop that became a dimension of the batch
// reads the operand that lacks it again: where that is much, rows are laid out as one loop too.
//
// Example: q [b, s, h·d] seen as [b, h, s, d] times k [b, h, t, d] contracts d: batch (b, h), m = s
// with stride h·d, n = t, k = d with stride 1: no copy.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_PRODUCT_H
#define WEFT_COMPILER_LOWERING_PRODUCT_H

#include "compiler/Lowering/SegmentBuilder.h"

namespace weft {

/// Which dimensions of the operands go together (weft.dot_general).
struct ProductDims {
  llvm::ArrayRef<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};

/// Adds the product of two views to the segment. `result` has dot_general's dimensions: batch, the
/// left operand's others, the right operand's others.
void addProduct(SegmentBuilder &segment, mlir::Location loc, View lhs, View rhs, View result,
                const ProductDims &dims);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_PRODUCT_H

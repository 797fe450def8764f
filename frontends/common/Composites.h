//===- Composites.h - operators that are several operations -----*- C++ -*-===//
//
// Operators that several frontends have and weft has not: each is built of weft operations, once,
// so that the same model gives the same operations whichever frontend read it. All throw
// ImportError where operands do not fit.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_COMPOSITES_H
#define WEFT_FRONTENDS_COMMON_COMPOSITES_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

// Products.

/// numpy's matmul: a vector on either side gains a dimension and loses it again; leading dimensions
/// broadcast.
mlir::Value emitMatMul(Emitter &emit, mlir::Value lhs, mlir::Value rhs);
/// Einstein's sum: `bij,bjk->bik`, with ellipses, repeated labels and the implicit result.
mlir::Value emitEinsum(Emitter &emit, llvm::StringRef equation,
                       llvm::ArrayRef<mlir::Value> operands);

// Search.

/// The first (or last) position along `axis` of the maximum or minimum, as i64 with that dimension
/// kept.
mlir::Value emitArg(Emitter &emit, ReduceKind kind, mlir::Value x, int64_t axis, bool last = false);
/// 1 where the position along a new dimension `axis` of size `depth` equals the index, as i1.
mlir::Value emitOneHot(Emitter &emit, mlir::Value indices, int64_t depth, int64_t axis);
struct TopK {
  mlir::Value values, positions; ///< positions as i64
};
/// The `k` largest (or smallest) along `axis`, sorted; the first of equals comes first.
TopK emitTopK(Emitter &emit, mlir::Value x, int64_t k, int64_t axis, bool largest);

// Activations.

/// log(1 + exp(x))
mlir::Value emitSoftplus(Emitter &emit, mlir::Value x);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_COMPOSITES_H

//===- Random.h - random numbers of a model ---------------------*- C++ -*-===//
//
// A model with random numbers has two states: `random.seed`, which nothing changes, and
// `random.step`, the number of steps done. All random tensors of it are functions of these and of
// their number in the model (compiler/Training/Random.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_RANDOM_H
#define WEFT_FRONTENDS_COMMON_RANDOM_H

#include "dialects/Weft/IR/WeftDialect.h"
#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// What dropout leaves of x, and what it kept of it.
struct Dropped {
  mlir::Value result; ///< x / (1 - p) where kept, else 0
  mlir::Value kept;   ///< i1, of x's shape
};

/// Drops elements of x, of floats, each with probability p; along `together` dimensions only all at
/// once. Throws ImportError where p is no probability.
Dropped emitDropout(Emitter &emit, mlir::Value x, double p, llvm::ArrayRef<int64_t> together = {});

/// The result of an attention whose weights are dropped, each with probability p, in the place of
/// the attention itself, which goes. Throws ImportError as above.
mlir::Value emitDropout(Emitter &emit, AttentionOp attention, double p);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_RANDOM_H

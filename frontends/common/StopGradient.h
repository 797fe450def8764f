//===- StopGradient.h - what training holds constant ------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_STOPGRADIENT_H
#define WEFT_FRONTENDS_COMMON_STOPGRADIENT_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// The same value, held constant by differentiation; what has no gradient stays.
mlir::Value stopGradient(Emitter &emit, mlir::Value x);

/// Rows of a table, [rows, …], at indices that count from its start. Differentiation holds those of
/// the row `padding` constant; below 0 there is none.
mlir::Value emitEmbedding(Emitter &emit, mlir::Value table, mlir::Value indices, int64_t padding);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_STOPGRADIENT_H

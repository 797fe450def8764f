//===- Recurrent.h - recurrent networks, unrolled ---------------*- C++ -*-===//
//
// A step of a cell for each element of a sequence. What comes from the input is one product for the
// whole sequence, which the steps take apart.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_RECURRENT_H
#define WEFT_FRONTENDS_COMMON_RECURRENT_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// What goes from one element to the next, [batch, …] each; the cell's is null but for an LSTM.
struct RecurrentState {
  mlir::Value hidden, cell;
};

/// The state behind an element, of which the weights have made `input`: [batch, gates · hidden].
using RecurrentStep =
    llvm::function_ref<RecurrentState(mlir::Value input, const RecurrentState &state)>;

/// The hidden states of all elements of `input` [time, batch, …]; `state` becomes that of the last
/// one, of the first one if `backward`. Where there are lengths, [batch] integers, the states stay
/// beyond them, and what is put out is 0. There is an element at least (checkUnrolled).
mlir::Value unrollRecurrence(Emitter &emit, mlir::Value input, RecurrentState &state, bool backward,
                             mlir::Value lengths, RecurrentStep step);

/// Throws ImportError where `cells` cells of `length` steps each are none, or too many.
void checkUnrolled(int64_t length, int64_t cells);

/// x · weightᵀ + bias; the bias may be null.
mlir::Value emitAffine(Emitter &emit, mlir::Value x, mlir::Value weight, mlir::Value bias);
/// One of `count` gates side by side: [batch, hidden].
mlir::Value takeGate(Emitter &emit, mlir::Value gates, int64_t index, int64_t count);
/// Element `index` of the first dimension, without it.
mlir::Value takeFirst(Emitter &emit, mlir::Value all, int64_t index);
/// Tensors of one shape along a new dimension.
mlir::Value stackAlong(Emitter &emit, llvm::ArrayRef<mlir::Value> parts, int64_t dim);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_RECURRENT_H

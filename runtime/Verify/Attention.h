//===- Attention.h - is attention well formed? ------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_VERIFY_ATTENTION_H
#define WEFT_RUNTIME_VERIFY_ATTENTION_H

#include "runtime/Verify/Checks.h"

namespace weft::runtime {

/// The operands that are there: what it reads, and what it writes.
Accesses getAccesses(const program::Attention &attention);
Accesses getAccesses(const program::AttentionBackward &backward);

/// Operands have passed checkOperand.
void checkAttention(ProgramContext &context, const program::Attention &attention);
void checkAttention(ProgramContext &context, const program::AttentionBackward &backward);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_ATTENTION_H

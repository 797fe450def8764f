//===- FrozenWeight.h - parameters that are not to be trained ---*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_FROZENWEIGHT_H
#define WEFT_DIALECTS_WEFT_IR_FROZENWEIGHT_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// A unit attribute of a `weft.weight` of kind parameter that its model holds constant in training.
/// It is trained where it is asked for by name.
inline constexpr llvm::StringLiteral frozenAttrName = "weft.frozen";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_FROZENWEIGHT_H

//===- Splat.h - constants that are one number everywhere -------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_SPLAT_H
#define WEFT_DIALECTS_WEFT_IR_SPLAT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace weft {

/// The number that a constant of any float or integer type holds everywhere (true is 1), or
/// nothing.
std::optional<double> splatNumber(mlir::Attribute attribute);

/// Likewise for a value: a weft.constant, or a broadcast of one.
std::optional<double> splatNumber(mlir::Value value);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_SPLAT_H

//===- Fingerprint.h - what a model is, in 32 digits ------------*- C++ -*-===//

#ifndef WEFT_COMPILER_PLAN_FINGERPRINT_H
#define WEFT_COMPILER_PLAN_FINGERPRINT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace weft {

/// A hash of a module before it is planned: operations with their attributes and operands, shapes,
/// element types, and names, of values and weights; the mesh and the shardings that a person wrote
/// there. Not of weights' contents or whereabouts, or of locations other than names.
std::string fingerprint(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_FINGERPRINT_H

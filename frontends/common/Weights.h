//===- Weights.h - tensors of a model's files -------------------*- C++ -*-===//
//
// A tensor of a file becomes a `weft.weight` that names file, offset and length and a `weft.load`
// of it, or where shapes may depend on its values, a constant that takes part in folding.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_WEIGHTS_H
#define WEFT_FRONTENDS_COMMON_WEIGHTS_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// A tensor of a model: its type and where its values lie.
struct StoredTensor {
  mlir::RankedTensorType type;
  mlir::Attribute external; ///< #weft.external; null where no file holds the values as they are
  Tensor value; ///< null where they were not asked for, are too many, or their file is absent
  bool isFrozen = false; ///< not trained unless it is asked for
};

class Weights {
public:
  /// Weights are added to `module`, loads of them where `emit` builds.
  Weights(mlir::ModuleOp module, Emitter &emit) : emit(emit), symbols(module) {}

  /// Whether a tensor of this type may be a parameter, so that its values need not be read: floats
  /// with dimensions. Integers, booleans and scalars may decide shapes.
  static bool isParameter(mlir::RankedTensorType type) {
    return mlir::isa<mlir::FloatType>(type.getElementType()) && type.getRank() > 0;
  }

  /// The values as a weight of this name, made unique.
  mlir::Value addWeight(const StoredTensor &stored, llvm::StringRef name, WeightKind kind);
  /// A weight of kind state, of this name, made unique, which is zero at first.
  mlir::Value addState(mlir::RankedTensorType type, llvm::StringRef name);
  /// As a constant, where the values are at hand; else as a weight.
  mlir::Value addConstant(StoredTensor stored, llvm::StringRef name);

private:
  Emitter &emit;
  mlir::SymbolTable symbols;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_WEIGHTS_H

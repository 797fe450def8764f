//===- GradientBuilder.h - builds an operation's gradients ------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_GRADIENTBUILDER_H
#define WEFT_DIALECTS_WEFT_IR_GRADIENTBUILDER_H

#include "dialects/Weft/IR/TensorBuilder.h"

namespace weft {

/// What an operation builds its gradients with: DifferentiableOpInterface::buildGradients.
class GradientBuilder : public TensorBuilder {
public:
  /// `results` holds the gradient of each result, null where it is zero; at least one is not.
  /// Operands of the gradients are built where `wanted`, which has an entry an operand.
  GradientBuilder(mlir::ImplicitLocOpBuilder &builder, mlir::Operation *op,
                  mlir::ValueRange results, llvm::ArrayRef<bool> wanted)
      : TensorBuilder(builder), op(op), results(results), wanted(wanted.begin(), wanted.end()),
        gradients(op->getNumOperands()) {}

  /// Whether the gradient of an operand is asked for: that of a float on which a weight depends.
  bool wants(unsigned operand) const { return wanted[operand]; }
  bool wants(mlir::OpOperand &operand) const { return wants(operand.getOperandNumber()); }
  /// Whether a result has a gradient other than zero.
  bool has(unsigned result = 0) const { return static_cast<bool>(results[result]); }
  /// The gradient of a result, of the result's type; zeros where there is none.
  mlir::Value of(unsigned result = 0);
  /// Sets the gradient of an operand, of the operand's type. At most once each.
  void set(unsigned operand, mlir::Value gradient);

  /// Sets the gradient of an optional operand where it is there and wanted.
  void setIfWanted(mlir::MutableOperandRange optional, llvm::function_ref<mlir::Value()> make);

  /// Puts `results`, those of an operation that computes the same and has what the gradients need
  /// besides, in the place of the operation's.
  void replaceWith(mlir::ValueRange results);
  bool isReplaced() const { return replaced; }

  /// By operand; null where it is zero.
  llvm::ArrayRef<mlir::Value> take() const { return gradients; }

private:
  mlir::Operation *op;
  mlir::ValueRange results;
  llvm::SmallVector<bool> wanted;
  llvm::SmallVector<mlir::Value> gradients;
  bool replaced = false;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_GRADIENTBUILDER_H

//===- Families.h - evaluation by op family ---------------------*- C++ -*-===//
//
// One function a .td file of the dialect. Each returns a null tensor for operations of other
// families.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_FAMILIES_H
#define WEFT_COMPILER_INTERPRET_FAMILIES_H

#include "compiler/Interpret/Tensor.h"
#include "mlir/IR/Operation.h"

namespace weft {

using Evaluated = llvm::Expected<llvm::SmallVector<Tensor>>;

/// No result yet: the operation is of another family.
inline Evaluated otherFamily() { return llvm::SmallVector<Tensor>(); }
inline Evaluated single(Tensor tensor) { return llvm::SmallVector<Tensor>{std::move(tensor)}; }
inline Evaluated single(llvm::Expected<Tensor> tensor) {
  if (!tensor)
    return tensor.takeError();
  return llvm::SmallVector<Tensor>{std::move(*tensor)};
}
inline mlir::RankedTensorType resultType(mlir::Operation *op, unsigned index = 0) {
  return mlir::cast<mlir::RankedTensorType>(op->getResult(index).getType());
}

Evaluated evaluateUnary(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
Evaluated evaluateElementwise(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
Evaluated evaluateIndexing(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
Evaluated evaluateStructural(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
Evaluated evaluateSemantic(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

/// Products and attention, in files of their own.
Tensor evaluateDotGeneral(mlir::Operation *op, const Tensor &lhs, const Tensor &rhs);
Tensor evaluateConv(mlir::Operation *op, const Tensor &input, const Tensor &kernel);
Tensor evaluateConvKernelGradient(mlir::Operation *op, const Tensor &input, const Tensor &gradient);
Evaluated evaluateAttention(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
Evaluated evaluateAttentionBackward(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_FAMILIES_H

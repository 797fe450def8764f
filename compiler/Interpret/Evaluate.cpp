#include "compiler/Interpret/Evaluate.h"

#include "compiler/Interpret/Families.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

/// Whether values of all operands and results can be held.
static llvm::Error checkTypes(Operation *op, ArrayRef<Tensor> operands) {
  if (operands.size() != op->getNumOperands())
    return interpretError("expected one value per operand");
  for (auto [tensor, type] : llvm::zip_equal(operands, op->getOperandTypes()))
    if (tensor.type() != type)
      return interpretError("an operand's value is not of the operand's type");
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || !getDType(tensor.getElementType()))
      return interpretError("a result's element type cannot be computed with");
  }
  return llvm::Error::success();
}

llvm::Expected<SmallVector<Tensor>> weft::evaluate(Operation *op, ArrayRef<Tensor> operands) {
  if (llvm::Error error = checkTypes(op, operands))
    return error;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return single(Tensor::fromElements(constant.getValue()));
  for (auto family : {evaluateUnary, evaluateElementwise, evaluateIndexing, evaluateStructural,
                      evaluateSemantic}) {
    Evaluated results = family(op, operands);
    if (!results || !results->empty())
      return results;
  }
  return interpretError("operation has no value of its own");
}

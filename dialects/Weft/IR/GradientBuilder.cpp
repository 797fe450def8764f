#include "dialects/Weft/IR/GradientBuilder.h"

using namespace mlir;
using namespace weft;

#include "dialects/Weft/IR/GradientInterface.cpp.inc"

Value GradientBuilder::of(unsigned result) {
  return results[result] ? results[result] : splat(op->getResult(result), 0);
}

void GradientBuilder::set(unsigned operand, Value gradient) {
  assert(wants(operand) && !gradients[operand] && "a gradient that is not asked for");
  assert(gradient.getType() == op->getOperand(operand).getType() && "a gradient of another type");
  gradients[operand] = gradient;
}

void GradientBuilder::setIfWanted(MutableOperandRange optional, llvm::function_ref<Value()> make) {
  for (OpOperand &operand : optional)
    if (wants(operand))
      set(operand.getOperandNumber(), make());
}

void GradientBuilder::replaceWith(ValueRange results) {
  for (auto [own, other] : llvm::zip(op->getResults(), results))
    own.replaceAllUsesWith(other);
  replaced = true;
}

#include "compiler/Kernel/Buckets.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

int64_t weft::getBucketBytes(ModuleOp module) {
  auto training =
      module ? module->getAttrOfType<DictionaryAttr>("weft.training") : DictionaryAttr();
  auto asked = training ? training.getAs<IntegerAttr>("bucket_bytes") : IntegerAttr();
  return asked ? asked.getInt() : defaultBucketBytes;
}

bool weft::isSmallGather(Operation *op) {
  auto gather = dyn_cast<dist::AllGatherOp>(op);
  if (!gather)
    return false;
  Operation *maker = gather.getInput().getDefiningOp();
  if (!maker)
    return false;
  while (maker && maker->getNumOperands() == 1) // views and casts of weights
    maker = maker->getOperand(0).getDefiningOp();
  auto type = cast<ShapedType>(gather.getInput().getType());
  return (!maker || maker->getNumOperands() > 0) &&
         type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8) < smallGatherBytes;
}

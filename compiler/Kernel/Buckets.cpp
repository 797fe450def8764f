#include "compiler/Kernel/Buckets.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

int64_t weft::getBucketBytes(ModuleOp module) {
  auto training =
      module ? module->getAttrOfType<DictionaryAttr>("weft.training") : DictionaryAttr();
  auto asked = training ? training.getAs<IntegerAttr>("bucket_bytes") : IntegerAttr();
  return asked ? asked.getInt() : defaultBucketBytes;
}

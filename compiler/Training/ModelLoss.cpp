#include "compiler/Training/ModelLoss.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

static constexpr StringRef lossAttr = "weft.loss";

void weft::setModelLoss(ModuleOp module, const ModelLoss &loss) {
  Builder builder(module.getContext());
  module->setAttr(
      lossAttr,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("logits", builder.getStringAttr(loss.logits)),
           builder.getNamedAttr("labels", builder.getStringAttr(loss.labels)),
           builder.getNamedAttr("label_shift", builder.getI64IntegerAttr(loss.labelShift))}));
}

std::optional<ModelLoss> weft::getModelLoss(ModuleOp module) {
  auto held = module->getAttrOfType<DictionaryAttr>(lossAttr);
  if (!held)
    return std::nullopt;
  auto logits = held.getAs<StringAttr>("logits"), labels = held.getAs<StringAttr>("labels");
  auto shift = held.getAs<IntegerAttr>("label_shift");
  if (!logits || !labels || !shift)
    return std::nullopt;
  return ModelLoss{logits.str(), labels.str(), shift.getInt()};
}

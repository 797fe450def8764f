// Constants and conversions of their values.

#include "frontends/stablehlo/ops/OpTable.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// Floats of more elements than this are weights of a closed function, not tables to compute with.
static constexpr int64_t maxTableElements = 1 << 14;

static void importConstant(Instruction &op) {
  auto elements = dyn_cast_or_null<ElementsAttr>(op.attribute("value"));
  RankedTensorType type = op.resultType();
  if (!elements || op.walker.translate(elements.getShapedType()) != type)
    throw ImportError("expected elements of the result's type in attribute 'value'");
  llvm::Expected<Tensor> value = Tensor::fromElements(elements);
  if (!value)
    throw ImportError(llvm::toString(value.takeError()));
  Tensor tensor = value->withType(type);
  if (Weights::isParameter(type) && !tensor.isSplat() && type.getNumElements() > maxTableElements)
    return op.result(op.walker.weightStore().addWeight(
        {type, {}, std::move(tensor)}, op.walker.currentName(), WeightKind::Constant));
  op.result(op.emit.constant(std::move(tensor)));
}

void stablehlo::addConstants(OpTable &table) { table["stablehlo.constant"] = importConstant; }

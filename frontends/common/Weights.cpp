#include "frontends/common/Weights.h"

#include "dialects/Weft/IR/FrozenWeight.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Value Weights::addWeight(const StoredTensor &stored, StringRef name, WeightKind kind) {
  Location loc = NameLoc::get(emit.builder.getStringAttr(name));
  Attribute storage = stored.external;
  if (!storage)
    storage = stored.value.isSplat() ? Attribute(stored.value.toElements())
                                     : stored.value.toResource(name);
  Operation *function = emit.builder.getInsertionBlock()->getParentOp();
  OpBuilder builder(function);
  auto weight = WeightOp::create(builder, loc, name, stored.type, storage, kind);
  if (stored.isFrozen)
    weight->setAttr(frozenAttrName, builder.getUnitAttr());
  StringAttr symbol = symbols.insert(weight);
  return LoadOp::create(emit.builder, loc, stored.type, symbol.getValue());
}

Value Weights::addState(RankedTensorType type, StringRef name) {
  Tensor zero = Tensor::allocate(type, /*splat=*/true);
  std::fill_n(zero.mutableData(), zero.elementBytes(), 0);
  return addWeight({type, {}, std::move(zero)}, name, WeightKind::State);
}

Value Weights::addConstant(StoredTensor stored, StringRef name) {
  if (stored.type.getNumElements() == 0)
    return emit.constant(Tensor::allocate(stored.type));
  if (!stored.value)
    return addWeight(stored, name, WeightKind::Constant);
  Value value = emit.constant(std::move(stored.value), stored.external);
  emit.nameResult(value, name);
  return value;
}

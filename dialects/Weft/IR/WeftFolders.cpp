// Folders: identities that need no new operation. Folding of constants' values is the
// interpreter's.

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

std::optional<double> weft::splatNumber(Attribute attribute) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!elements || !elements.isSplat() || elements.getNumElements() == 0)
    return std::nullopt;
  Type element = elements.getElementType();
  if (isa<FloatType>(element))
    return elements.getSplatValue<APFloat>().convertToDouble();
  if (element.isInteger(1))
    return elements.getSplatValue<APInt>().getZExtValue();
  APInt value = elements.getSplatValue<APInt>();
  return element.isUnsignedInteger() ? value.roundToDouble(false) : value.roundToDouble(true);
}

std::optional<double> weft::splatNumber(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  return splatNumber(attribute);
}

/// Whether a constant operand is `number` everywhere.
static bool isSplat(Attribute attribute, double number) {
  std::optional<double> value = splatNumber(attribute);
  return value && *value == number;
}

/// The constant under another shape, if it is a splat.
static OpFoldResult resplat(Attribute attribute, Type type) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!elements || !elements.isSplat())
    return {};
  return elements.resizeSplat(cast<ShapedType>(type));
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 0) ? getLhs() : Value();
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  if (!elementOf(getLhs()).isInteger(1))
    return {};
  if (isSplat(adaptor.getRhs(), 1))
    return getLhs();
  return isSplat(adaptor.getRhs(), 0) ? adaptor.getRhs() : Attribute();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

/// i1 converted to a number and back, and conversions to a wider type of the kind and back, are
/// exact.
OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto inner = getInput().getDefiningOp<CastOp>();
  if (!inner || inner.getInput().getType() != getType())
    return {};
  Type narrow = elementOf(inner.getInput()), wide = elementOf(inner);
  bool integers = isa<IntegerType>(narrow) && isa<IntegerType>(wide) &&
                  narrow.isUnsignedInteger() == wide.isUnsignedInteger();
  bool floats = isa<FloatType>(narrow) && isa<FloatType>(wide) &&
                !(isa<BFloat16Type>(narrow) && isa<Float16Type>(wide));
  bool wider = wide.getIntOrFloatBitWidth() > narrow.getIntOrFloatBitWidth();
  if (narrow.isInteger(1) || ((integers || floats) && wider))
    return inner.getInput();
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs().front() : Value();
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) ? getLhs() : Value();
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) ? getLhs() : Value();
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NegOp>();
  return inner ? inner.getInput() : Value();
}

OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NotOp>();
  return inner ? inner.getInput() : Value();
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  if (!elementOf(getLhs()).isInteger(1))
    return {};
  if (isSplat(adaptor.getRhs(), 0))
    return getLhs();
  return isSplat(adaptor.getRhs(), 1) ? adaptor.getRhs() : Attribute();
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) ? getLhs() : Value();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) { return getDims().empty() ? getInput() : Value(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return elements.reshape(cast<ShapedType>(getType()));
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  std::optional<double> condition = splatNumber(adaptor.getCondition());
  if (!condition)
    return {};
  return *condition != 0 ? getOnTrue() : getOnFalse();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 0) ? getLhs() : Value();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

// Operators that compute each element of the result from one element of each operand.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

template <CompareDirection direction> static void compare(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  node.result(
      node.emit.compare(direction, operandAs(node, "self", type), operandAs(node, "other", type)));
}

/// Bitwise operators of integers, logical ones of bools.
template <typename Op> static void bitwise(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  if (!type.isInteger())
    throw ImportError("expected integers, got " + describe(node.tensor("self")));
  node.result(node.emit.binary<Op>(operandAs(node, "self", type), operandAs(node, "other", type)));
}

/// Logical operators of anything: what is not 0 is true.
template <typename Op> static void logical(Node &node) {
  Type type = node.emit.builder.getI1Type();
  node.result(node.emit.binary<Op>(operandAs(node, "self", type), operandAs(node, "other", type)));
}

static void importBitwiseNot(Node &node) {
  Value self = node.tensor("self");
  if (!elementOf(self).isInteger())
    throw ImportError("expected integers, got " + describe(self));
  node.result(node.emit.unary<NotOp>(self));
}

static void importGelu(Node &node) {
  std::string form = node.text("approximate", "none");
  if (form != "none" && form != "tanh")
    throw ImportError("approximation '" + form + "' is not known");
  Value x = node.tensor("self");
  expectFloat(x);
  node.result(
      node.emit.create<GeluOp>(typeOf(x), x, form == "tanh" ? GeluForm::Tanh : GeluForm::Erf));
}

static void importLogicalNot(Node &node) {
  node.result(node.emit.unary<NotOp>(operandAs(node, "self", node.emit.builder.getI1Type())));
}

static void importMaskedFill(Node &node) {
  Emitter &emit = node.emit;
  Value self = node.tensor("self");
  Value value = operandAs(node, "value", elementOf(self));
  node.result(emit.select(node.tensor("mask"), value, self));
}

static void importNeg(Node &node) {
  if (elementOf(node.tensor("self")).isInteger(1))
    throw ImportError("bools have no negation");
  node.result(node.emit.unary<NegOp>(node.tensor("self")));
}

static void importPow(Node &node) {
  Type type = promotedType(node, {"self", "exponent"});
  bool isNegative = node.isNumber("exponent") && node.real("exponent") < 0;
  if (isNegative && type.isInteger())
    throw ImportError("integers have no negative powers");
  node.result(
      node.emit.binary<PowOp>(operandAs(node, "self", type), operandAs(node, "exponent", type)));
}

/// In f64 whatever the operands are.
static void importFloatPower(Node &node) {
  Type type = node.emit.builder.getF64Type();
  node.result(
      node.emit.binary<PowOp>(operandAs(node, "self", type), operandAs(node, "exponent", type)));
}

static void importSquare(Node &node) {
  node.result(node.emit.binary<MulOp>(node.tensor("self"), node.tensor("self")));
}

static void importRsub(Node &node) { // other - α · self
  Emitter &emit = node.emit;
  Type type = promotedType(node, {"self", "other"});
  Value self = operandAs(node, "self", type);
  if (node.real("alpha", 1) != 1)
    self = emit.binary<MulOp>(self, constantOf(emit, node.number("alpha"), type));
  node.result(emit.binary<SubOp>(operandAs(node, "other", type), self));
}

static void importWhere(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  node.result(node.emit.select(node.tensor("condition"), operandAs(node, "self", type),
                               operandAs(node, "other", type)));
}

void weft::frontend::aten::addElementwise(OpTable &table) {
  table["aten.__and__.Scalar"] = bitwise<AndOp>;
  table["aten.__and__.Tensor"] = bitwise<AndOp>;
  table["aten.__or__.Scalar"] = bitwise<OrOp>;
  table["aten.__or__.Tensor"] = bitwise<OrOp>;
  table["aten.__xor__.Scalar"] = bitwise<XorOp>;
  table["aten.__xor__.Tensor"] = bitwise<XorOp>;
  table["aten.bitwise_and.Scalar"] = bitwise<AndOp>;
  table["aten.bitwise_and.Scalar_Tensor"] = bitwise<AndOp>;
  table["aten.bitwise_and.Tensor"] = bitwise<AndOp>;
  table["aten.bitwise_not.default"] = importBitwiseNot;
  table["aten.bitwise_or.Scalar"] = bitwise<OrOp>;
  table["aten.bitwise_or.Scalar_Tensor"] = bitwise<OrOp>;
  table["aten.bitwise_or.Tensor"] = bitwise<OrOp>;
  table["aten.bitwise_xor.Scalar"] = bitwise<XorOp>;
  table["aten.bitwise_xor.Scalar_Tensor"] = bitwise<XorOp>;
  table["aten.bitwise_xor.Tensor"] = bitwise<XorOp>;
  table["aten.eq.Scalar"] = compare<CompareDirection::EQ>;
  table["aten.eq.Tensor"] = compare<CompareDirection::EQ>;
  table["aten.float_power.Scalar"] = importFloatPower;
  table["aten.float_power.Tensor_Scalar"] = importFloatPower;
  table["aten.float_power.Tensor_Tensor"] = importFloatPower;
  table["aten.ge.Scalar"] = compare<CompareDirection::GE>;
  table["aten.ge.Tensor"] = compare<CompareDirection::GE>;
  table["aten.gelu.default"] = importGelu;
  table["aten.gt.Scalar"] = compare<CompareDirection::GT>;
  table["aten.gt.Tensor"] = compare<CompareDirection::GT>;
  table["aten.le.Scalar"] = compare<CompareDirection::LE>;
  table["aten.le.Tensor"] = compare<CompareDirection::LE>;
  table["aten.logical_and.default"] = logical<AndOp>;
  table["aten.logical_not.default"] = importLogicalNot;
  table["aten.logical_or.default"] = logical<OrOp>;
  table["aten.logical_xor.default"] = logical<XorOp>;
  table["aten.lt.Scalar"] = compare<CompareDirection::LT>;
  table["aten.lt.Tensor"] = compare<CompareDirection::LT>;
  table["aten.masked_fill.Scalar"] = importMaskedFill;
  table["aten.masked_fill.Tensor"] = importMaskedFill;
  table["aten.ne.Scalar"] = compare<CompareDirection::NE>;
  table["aten.ne.Tensor"] = compare<CompareDirection::NE>;
  table["aten.neg.default"] = importNeg;
  table["aten.pow.Scalar"] = importPow;
  table["aten.pow.Tensor_Scalar"] = importPow;
  table["aten.pow.Tensor_Tensor"] = importPow;
  table["aten.rsub.Scalar"] = importRsub;
  table["aten.rsub.Tensor"] = importRsub;
  table["aten.square.default"] = importSquare;
  table["aten.where.Scalar"] = importWhere;
  table["aten.where.ScalarOther"] = importWhere;
  table["aten.where.ScalarSelf"] = importWhere;
  table["aten.where.self"] = importWhere;
}

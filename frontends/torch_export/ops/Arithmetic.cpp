// Arithmetic of tensors and numbers, with ATen's promotion.

#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// `other` of a sum or difference, times `alpha`.
static Value scaledOther(Node &node, Type type) {
  Value other = operandAs(node, "other", type);
  Number alpha = node.has("alpha") ? node.number("alpha") : Number(int64_t(1));
  if (asDouble(alpha) == 1)
    return other;
  if (type.isInteger(1))
    throw ImportError("'alpha' of bools is not supported");
  return node.emit.binary<MulOp>(other, constantOf(node.emit, alpha, type));
}

static void importAdd(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  Value self = operandAs(node, "self", type), other = scaledOther(node, type);
  node.result(type.isInteger(1) ? node.emit.binary<OrOp>(self, other)
                                : node.emit.binary<AddOp>(self, other));
}

static void importSub(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  if (type.isInteger(1))
    throw ImportError("bools have no difference");
  node.result(node.emit.binary<SubOp>(operandAs(node, "self", type), scaledOther(node, type)));
}

static void importMul(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  Value self = operandAs(node, "self", type), other = operandAs(node, "other", type);
  node.result(type.isInteger(1) ? node.emit.binary<AndOp>(self, other)
                                : node.emit.binary<MulOp>(self, other));
}

static void importDiv(Node &node) {
  Type type = promotedFloat(node, {"self", "other"});
  node.result(
      node.emit.binary<DivOp>(operandAs(node, "self", type), operandAs(node, "other", type)));
}

void weft::frontend::aten::addArithmetic(OpTable &table) {
  table["aten.add.Scalar"] = importAdd;
  table["aten.add.Tensor"] = importAdd;
  table["aten.div.Scalar"] = importDiv;
  table["aten.div.Tensor"] = importDiv;
  table["aten.mul.Scalar"] = importMul;
  table["aten.mul.Tensor"] = importMul;
  table["aten.sub.Scalar"] = importSub;
  table["aten.sub.Tensor"] = importSub;
  table["aten.true_divide.Scalar"] = importDiv;
  table["aten.true_divide.Tensor"] = importDiv;
}

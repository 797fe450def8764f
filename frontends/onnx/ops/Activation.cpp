// Activation functions, by their formulas in the ONNX definition.

#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static Value floatOperand(Node &node) {
  Value x = node.operand(0);
  expectFloat(x);
  return x;
}

template <typename Op> static void unaryFloat(Node &node) {
  node.result(node.emit.unary<Op>(floatOperand(node)));
}

/// x where x > bound (≥ with `orEqual`), else `otherwise`.
static Value above(Emitter &emit, Value x, double bound, Value otherwise, bool orEqual = false) {
  CompareDirection direction = orEqual ? CompareDirection::GE : CompareDirection::GT;
  return emit.select(emit.compare(direction, x, emit.like(x, bound)), x, otherwise);
}

/// exp(x) - 1
static Value expm1(Emitter &emit, Value x) {
  return emit.binary<SubOp>(emit.unary<ExpOp>(x), emit.like(x, 1));
}

static Value scaled(Emitter &emit, Value x, double factor) {
  return emit.binary<MulOp>(x, emit.like(x, factor));
}

static void importCelu(Node &node) { // max(0, x) + min(0, α·(exp(x/α) - 1))
  Emitter &emit = node.emit;
  Value x = floatOperand(node), zero = emit.like(x, 0);
  double alpha = node.getFloat("alpha", 1);
  Value curve = scaled(emit, expm1(emit, emit.binary<DivOp>(x, emit.like(x, alpha))), alpha);
  node.result(emit.binary<AddOp>(emit.binary<MaxOp>(x, zero), emit.binary<MinOp>(curve, zero)));
}

static void importElu(Node &node) {
  Value x = floatOperand(node);
  Value curve = scaled(node.emit, expm1(node.emit, x), node.getFloat("alpha", 1));
  node.result(above(node.emit, x, 0, curve, /*orEqual=*/true));
}

static void importGelu(Node &node) {
  std::string form = node.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    throw ImportError("approximation '" + form + "' is not known");
  Value x = floatOperand(node);
  node.result(
      node.emit.create<GeluOp>(typeOf(x), x, form == "tanh" ? GeluForm::Tanh : GeluForm::Erf));
}

static Value hardSigmoid(Emitter &emit, Value x, double alpha, double beta) {
  Value line = emit.binary<AddOp>(scaled(emit, x, alpha), emit.like(x, beta));
  return emit.binary<MaxOp>(emit.binary<MinOp>(line, emit.like(x, 1)), emit.like(x, 0));
}

static void importHardSigmoid(Node &node) {
  Value x = floatOperand(node);
  node.result(hardSigmoid(node.emit, x, node.getFloat("alpha", 0.2f), node.getFloat("beta", 0.5)));
}

static void importHardSwish(Node &node) {
  Value x = floatOperand(node);
  node.result(node.emit.binary<MulOp>(x, hardSigmoid(node.emit, x, 1.0 / 6, 0.5)));
}

static void importLeakyRelu(Node &node) {
  Value x = floatOperand(node);
  node.result(above(node.emit, x, 0, scaled(node.emit, x, node.getFloat("alpha", 0.01f)),
                    /*orEqual=*/true));
}

static void importMish(Node &node) { // x · tanh(softplus(x))
  Value x = floatOperand(node);
  node.result(node.emit.binary<MulOp>(x, node.emit.unary<TanhOp>(emitSoftplus(node.emit, x))));
}

static void importPRelu(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), slope = node.operand(1);
  if (node.opset < 7 && typeOf(slope).getRank() == 1 && typeOf(x).getRank() > 1) // one a channel
    slope = emit.broadcastDims(slope, shapeOf(x), {shapeOf(slope)[0] == 1 ? 0 : 1});
  slope = emit.broadcast(slope, shapeOf(x));
  node.result(above(emit, x, 0, emit.binary<MulOp>(slope, x), /*orEqual=*/true));
}

static void importRelu(Node &node) {
  Value x = node.operand(0);
  node.result(node.emit.binary<MaxOp>(x, node.emit.like(x, 0)));
}

static void importSelu(Node &node) {
  Emitter &emit = node.emit;
  Value x = floatOperand(node);
  Value curve = scaled(emit, expm1(emit, x), node.getFloat("alpha", 1.67326319217681884765625));
  node.result(
      scaled(emit, above(emit, x, 0, curve), node.getFloat("gamma", 1.05070102214813232421875)));
}

static void importShrink(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  double lambda = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0);
  Value low = emit.compare(CompareDirection::LT, x, emit.like(x, -lambda));
  Value high = emit.compare(CompareDirection::GT, x, emit.like(x, lambda));
  Value upper = emit.select(high, emit.binary<SubOp>(x, emit.like(x, bias)), emit.like(x, 0));
  node.result(emit.select(low, emit.binary<AddOp>(x, emit.like(x, bias)), upper));
}

static void importSoftplus(Node &node) { node.result(emitSoftplus(node.emit, floatOperand(node))); }

static void importSoftsign(Node &node) { // x / (1 + |x|)
  Emitter &emit = node.emit;
  Value x = floatOperand(node);
  node.result(emit.binary<DivOp>(x, emit.binary<AddOp>(emit.unary<AbsOp>(x), emit.like(x, 1))));
}

static void importThresholdedRelu(Node &node) {
  Value x = floatOperand(node);
  node.result(above(node.emit, x, node.getFloat("alpha", 1), node.emit.like(x, 0)));
}

void weft::frontend::addActivation(OpTable &table) {
  table["Celu"] = importCelu;
  table["Elu"] = importElu;
  table["Gelu"] = importGelu;
  table["HardSigmoid"] = importHardSigmoid;
  table["HardSwish"] = importHardSwish;
  table["LeakyRelu"] = importLeakyRelu;
  table["Mish"] = importMish;
  table["PRelu"] = importPRelu;
  table["Relu"] = importRelu;
  table["Selu"] = importSelu;
  table["Shrink"] = importShrink;
  table["Sigmoid"] = unaryFloat<SigmoidOp>;
  table["Softplus"] = importSoftplus;
  table["Softsign"] = importSoftsign;
  table["Tanh"] = unaryFloat<TanhOp>;
  table["ThresholdedRelu"] = importThresholdedRelu;
}

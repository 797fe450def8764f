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

static void importCelu(Node &node) {
  node.result(emitCelu(node.emit, floatOperand(node), node.getFloat("alpha", 1)));
}

static void importElu(Node &node) {
  node.result(emitElu(node.emit, floatOperand(node), node.getFloat("alpha", 1)));
}

static void importGelu(Node &node) {
  std::string form = node.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    throw ImportError("approximation '" + form + "' is not known");
  Value x = floatOperand(node);
  node.result(
      node.emit.create<GeluOp>(typeOf(x), x, form == "tanh" ? GeluForm::Tanh : GeluForm::Erf));
}

static void importHardSigmoid(Node &node) {
  Value x = floatOperand(node);
  double alpha = node.getFloat("alpha", 0.2f), beta = node.getFloat("beta", 0.5);
  node.result(emitHardSigmoid(node.emit, x, alpha, beta));
}

static void importHardSwish(Node &node) {
  node.result(emitHardSwish(node.emit, floatOperand(node)));
}

static void importLeakyRelu(Node &node) {
  node.result(emitLeakyRelu(node.emit, floatOperand(node), node.getFloat("alpha", 0.01f)));
}

static void importMish(Node &node) { node.result(emitMish(node.emit, floatOperand(node))); }

static void importPRelu(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), slope = node.operand(1);
  if (node.opset < 7 && typeOf(slope).getRank() == 1 && typeOf(x).getRank() > 1) // one a channel
    slope = emit.broadcastDims(slope, shapeOf(x), {shapeOf(slope)[0] == 1 ? 0 : 1});
  slope = emit.broadcast(slope, shapeOf(x));
  node.result(emitAbove(emit, x, 0, emit.binary<MulOp>(slope, x), /*orEqual=*/true));
}

static void importRelu(Node &node) { node.result(emitRelu(node.emit, node.operand(0))); }

static void importSelu(Node &node) {
  Value x = floatOperand(node);
  double alpha = node.getFloat("alpha", 1.67326319217681884765625);
  node.result(emitSelu(node.emit, x, alpha, node.getFloat("gamma", 1.05070102214813232421875)));
}

static void importShrink(Node &node) {
  double lambda = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0);
  node.result(emitShrink(node.emit, node.operand(0), lambda, bias));
}

static void importSoftplus(Node &node) { node.result(emitSoftplus(node.emit, floatOperand(node))); }

static void importSoftsign(Node &node) { node.result(emitSoftsign(node.emit, floatOperand(node))); }

static void importThresholdedRelu(Node &node) {
  Value x = floatOperand(node);
  node.result(emitAbove(node.emit, x, node.getFloat("alpha", 1), node.emit.like(x, 0)));
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

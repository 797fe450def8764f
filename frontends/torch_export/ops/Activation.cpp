// Activation functions, by their formulas in ATen.

#include "frontends/common/Composites.h"
#include "frontends/common/Random.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

template <Value (*Function)(Emitter &, Value)> static void composite(Node &node) {
  node.result(
      emitWide(node.emit, node.tensor("self"), [&](Value x) { return Function(node.emit, x); }));
}

static void importCelu(Node &node) {
  double alpha = node.real("alpha", 1);
  node.result(emitWide(node.emit, node.tensor("self"),
                       [&](Value x) { return emitCelu(node.emit, x, alpha); }));
}

/// scale · x where x ≥ 0, else scale · alpha · (exp(input_scale · x) - 1)
static void importElu(Node &node) {
  Emitter &emit = node.emit;
  double alpha = node.real("alpha", 1), scale = node.real("scale", 1),
         inputScale = node.real("input_scale", 1);
  node.result(emitWide(node.emit, node.tensor("self"), [&](Value x) {
    Value curve = emitElu(emit, x, alpha, inputScale);
    return scale == 1 ? curve : emit.binary<MulOp>(curve, emit.like(curve, scale));
  }));
}

/// One half times the sigmoid of the other.
static void importGlu(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(x).getRank()), half = shapeOf(x)[dim] / 2;
  if (shapeOf(x)[dim] % 2 != 0)
    throw ImportError("dimension " + std::to_string(dim) + " of " + describe(x) + " is odd");
  node.result(emitWide(node.emit, x, [&](Value wide) {
    Value gate = emit.unary<SigmoidOp>(emit.sliceDim(wide, dim, half, half));
    return emit.binary<MulOp>(emit.sliceDim(wide, dim, 0, half), gate);
  }));
}

static void importHardshrink(Node &node) { // 0 in [-λ, λ]
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  double lambda = node.real("lambd", 0.5);
  Value inner = emit.binary<AndOp>(emit.compare(CompareDirection::GE, x, emit.like(x, -lambda)),
                                   emit.compare(CompareDirection::LE, x, emit.like(x, lambda)));
  node.result(emit.select(inner, emit.like(x, 0), x));
}

static void importHardsigmoid(Node &node) {
  node.result(emitWide(node.emit, node.tensor("self"),
                       [&](Value x) { return emitHardSigmoid(node.emit, x, 1.0 / 6, 0.5); }));
}

static void importHardtanh(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Value low = emit.like(x, node.real("min_val", -1)), high = emit.like(x, node.real("max_val", 1));
  node.result(emit.binary<MinOp>(emit.binary<MaxOp>(x, low), high));
}

static void importLeakyRelu(Node &node) {
  double slope = node.real("negative_slope", 0.01);
  node.result(emitWide(node.emit, node.tensor("self"),
                       [&](Value x) { return emitLeakyRelu(node.emit, x, slope); }));
}

static Value logSigmoid(Emitter &emit, Value x) { // -log(1 + exp(-x))
  return emit.unary<NegOp>(emitSoftplus(emit, emit.unary<NegOp>(x)));
}

/// The slope is one number, or one a channel.
static void importPRelu(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), slope = node.tensor("weight");
  if (typeOf(slope).getNumElements() == 1)
    slope = emit.broadcast(emit.reshape(slope, {}), shapeOf(x));
  else if (typeOf(slope).getRank() == 1)
    slope = emitPerChannel(emit, slope, x);
  node.result(emitAbove(emit, x, 0, emit.binary<MulOp>(slope, x), /*orEqual=*/true));
}

static Value relu6(Emitter &emit, Value x) {
  return emit.binary<MinOp>(emitRelu(emit, x), emit.like(x, 6));
}

template <Value (*Function)(Emitter &, Value)> static void exact(Node &node) {
  node.result(Function(node.emit, node.tensor("self")));
}

/// In evaluation mode the slope is the mean of its bounds.
static void importRRelu(Node &node) {
  if (node.flag("training", false))
    throw ImportError("training mode is not supported");
  node.ignore({"generator"});
  double slope = (node.real("lower", 1.0 / 8) + node.real("upper", 1.0 / 3)) / 2;
  node.result(emitWide(node.emit, node.tensor("self"),
                       [&](Value x) { return emitLeakyRelu(node.emit, x, slope); }));
}

static Value selu(Emitter &emit, Value x) {
  return emitSelu(emit, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946);
}

/// log(1 + exp(β·x)) / β, and x itself where β·x exceeds the threshold.
static void importSoftplus(Node &node) {
  Emitter &emit = node.emit;
  double beta = node.real("beta", 1), threshold = node.real("threshold", 20);
  node.result(emitWide(node.emit, node.tensor("self"), [&](Value x) {
    Value scaled = beta == 1 ? x : emit.binary<MulOp>(x, emit.like(x, beta));
    Value soft = emitSoftplus(emit, scaled);
    if (beta != 1)
      soft = emit.binary<DivOp>(soft, emit.like(soft, beta));
    Value large = emit.compare(CompareDirection::GT, scaled, emit.like(scaled, threshold));
    return emit.select(large, x, soft);
  }));
}

static void importSoftshrink(Node &node) { // what is no number stays so
  Emitter &emit = node.emit;
  double lambda = node.real("lambd", 0.5);
  node.result(emitWide(emit, node.tensor("self"), [&](Value x) {
    Value isNan = emit.compare(CompareDirection::NE, x, x);
    return emit.select(isNan, x, emitShrink(emit, x, lambda, lambda));
  }));
}

static void importThreshold(Node &node) { // value where x ≤ threshold
  Value x = node.tensor("self"), bound = node.emit.like(x, node.real("threshold"));
  Value isLow = node.emit.compare(CompareDirection::LE, x, bound);
  node.result(node.emit.select(isLow, node.emit.like(x, node.real("value")), x));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static void giveDropped(Node &node, Value result, Value kept) {
  node.result(0, result);
  if (node.wants(1))
    node.result(1, kept);
}

/// `ofFeatures` drops whole channels.
static Dropped drop(Node &node, Value x, double p, bool ofFeatures) {
  auto dims = ofFeatures ? llvm::to_vector(llvm::seq<int64_t>(2, typeOf(x).getRank()))
                         : SmallVector<int64_t>();
  return emitDropout(node.emit, x, p, dims);
}

/// What dropout works on is called `self` in place. Out of training it changes nothing.
static void importDropout(Node &node, bool ofFeatures) {
  Value x = node.tensor(node.has("self") ? "self" : "input");
  double p = node.real("p");
  if (!node.has("train") || node.flag("train", true)) {
    Dropped dropped = drop(node, x, p, ofFeatures);
    return giveDropped(node, dropped.result, dropped.kept);
  }
  giveDropped(node, x, node.emit.splat(typeOf(x).clone(node.emit.builder.getI1Type()), 1));
}

static void importDropout(Node &node) { importDropout(node, false); }
static void importFeatureDropout(Node &node) { importDropout(node, true); }

/// Keeps mean and variance of what selu makes, by numbers of its own.
static void importAlphaDropout(Node &node, bool ofFeatures) {
  Value x = node.tensor(node.has("self") ? "self" : "input");
  double p = node.real("p");
  if (!node.flag("train", true))
    return node.result(x);
  Dropped dropped = drop(node, x, p, ofFeatures);
  if (p == 0 || p == 1)
    return node.result(dropped.result);
  // What selu comes to for the least of numbers takes the place of what is dropped.
  constexpr double least = -1.7580993408473766;
  double scale = 1 / std::sqrt((least * least * p + 1) * (1 - p));
  Emitter &emit = node.emit;
  Value instead = emit.select(dropped.kept, x, emit.like(x, least));
  Value scaled = emit.binary<MulOp>(instead, emit.like(x, scale));
  node.result(emit.binary<SubOp>(scaled, emit.like(x, least * scale * p)));
}

void weft::frontend::aten::addActivation(OpTable &table) {
  table["aten._prelu_kernel.default"] = importPRelu;
  table["aten.alpha_dropout.default"] = [](Node &node) { importAlphaDropout(node, false); };
  table["aten.celu.default"] = importCelu;
  table["aten.elu.default"] = importElu;
  table["aten.dropout.default"] = importDropout;
  table["aten.feature_alpha_dropout.default"] = [](Node &node) { importAlphaDropout(node, true); };
  table["aten.feature_dropout.default"] = importFeatureDropout;
  table["aten.glu.default"] = importGlu;
  table["aten.hardshrink.default"] = importHardshrink;
  table["aten.hardsigmoid.default"] = importHardsigmoid;
  table["aten.hardswish.default"] = composite<emitHardSwish>;
  table["aten.hardtanh.default"] = importHardtanh;
  table["aten.leaky_relu.default"] = importLeakyRelu;
  table["aten.log_sigmoid.default"] = composite<logSigmoid>;
  table["aten.mish.default"] = composite<emitMish>;
  table["aten.native_dropout.default"] = importDropout;
  table["aten.prelu.default"] = importPRelu;
  table["aten.relu.default"] = exact<emitRelu>;
  table["aten.relu6.default"] = exact<relu6>;
  table["aten.rrelu.default"] = importRRelu;
  table["aten.selu.default"] = composite<selu>;
  table["aten.silu.default"] = composite<emitSilu>;
  table["aten.softplus.default"] = importSoftplus;
  table["aten.softshrink.default"] = importSoftshrink;
  table["aten.threshold.default"] = importThreshold;
}

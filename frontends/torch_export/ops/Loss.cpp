// Loss functions.

#include "compiler/Training/Losses.h"
#include "frontends/common/Composites.h"
#include "frontends/common/NodeBuilder.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/Norms.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
/// at::Reduction.
enum class LossReduction { None, Mean, Sum };
} // namespace

static LossReduction readReduction(Node &node) {
  int64_t code = node.integer("reduction", int64_t(LossReduction::Mean));
  if (code < 0 || code > 2)
    throw ImportError("reduction " + std::to_string(code) + " is not known");
  return LossReduction(code);
}

static Value reduceLoss(Emitter &emit, Value loss, LossReduction reduction) {
  if (reduction == LossReduction::None)
    return loss;
  return reduction == LossReduction::Mean
             ? emit.mean(loss, allDims(loss), false)
             : emit.reduce(ReduceKind::Sum, loss, allDims(loss), false);
}

static Value scaled(Emitter &emit, Value x, double factor) {
  return emit.binary<MulOp>(x, emit.like(x, factor));
}

/// Loss functions of the difference of two tensors.
template <typename Function> static void ofDifference(Node &node, Function function) {
  Emitter &emit = node.emit;
  Value difference = emit.binary<SubOp>(node.tensor("self"), node.tensor("target"));
  node.result(reduceLoss(emit, function(difference), readReduction(node)));
}

static void importL1(Node &node) {
  ofDifference(node, [&](Value d) { return node.emit.unary<AbsOp>(d); });
}

static void importMse(Node &node) {
  ofDifference(node, [&](Value d) { return node.emit.binary<MulOp>(d, d); });
}

/// `inner` where |d| < bound (≤, for huber), else `outer`.
static Value bend(Emitter &emit, Value distance, double bound, Value inner, Value outer,
                  CompareDirection direction) {
  return emit.select(emit.compare(direction, distance, emit.like(distance, bound)), inner, outer);
}

static void importSmoothL1(Node &node) { // d²/(2β) near zero, else |d| - β/2
  Emitter &emit = node.emit;
  double beta = node.real("beta", 1);
  ofDifference(node, [&](Value d) {
    Value distance = emit.unary<AbsOp>(d);
    if (beta == 0)
      return distance;
    Value inner = scaled(emit, emit.binary<MulOp>(d, d), 0.5 / beta);
    Value outer = emit.binary<SubOp>(distance, emit.like(d, beta / 2));
    return bend(emit, distance, beta, inner, outer, CompareDirection::LT);
  });
}

static void importHuber(Node &node) { // d²/2 near zero, else δ·(|d| - δ/2)
  Emitter &emit = node.emit;
  double delta = node.real("delta", 1);
  ofDifference(node, [&](Value d) {
    Value distance = emit.unary<AbsOp>(d);
    Value inner = scaled(emit, emit.binary<MulOp>(d, d), 0.5);
    Value outer = scaled(emit, emit.binary<SubOp>(distance, emit.like(d, delta / 2)), delta);
    return bend(emit, distance, delta, inner, outer, CompareDirection::LE);
  });
}

/// t · log(t), 0 where t is 0
static Value entropy(Emitter &emit, Value t) {
  Value zero = emit.like(t, 0), isZero = emit.compare(CompareDirection::EQ, t, zero);
  return emit.select(isZero, zero, emit.binary<MulOp>(t, emit.unary<LogOp>(t)));
}

static void importKlDiv(Node &node) {
  Emitter &emit = node.emit;
  auto [x, t] = emit.together(node.tensor("self"), node.tensor("target"));
  Value loss;
  if (node.flag("log_target", false))
    loss = emit.binary<MulOp>(emit.unary<ExpOp>(t), emit.binary<SubOp>(t, x));
  else
    loss = emit.binary<SubOp>(entropy(emit, t), emit.binary<MulOp>(t, x));
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

/// Logarithms are bounded below by -100, as ATen has it.
static void importBce(Node &node) {
  Emitter &emit = node.emit;
  auto [x, t] = emit.together(node.tensor("self"), node.tensor("target"));
  Value bound = emit.like(x, -100);
  Value hit = emit.binary<MaxOp>(emit.unary<LogOp>(x), bound);
  Value miss = emit.binary<MaxOp>(emit.unary<Log1pOp>(emit.unary<NegOp>(x)), bound);
  Value rest = emit.binary<SubOp>(t, emit.like(t, 1));
  Value loss = emit.binary<SubOp>(emit.binary<MulOp>(rest, miss), emit.binary<MulOp>(t, hit));
  if (Value weight = node.optionalTensor("weight"))
    loss = emit.binary<MulOp>(loss, weight);
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

/// (1 - t)·x + (1 + (pos_weight - 1)·t)·log(1 + exp(-x))
static void importBceWithLogits(Node &node) {
  Emitter &emit = node.emit;
  auto [x, t] = emit.together(node.tensor("self"), node.tensor("target"));
  Value soft = emitSoftplus(emit, emit.unary<NegOp>(x));
  if (Value positive = node.optionalTensor("pos_weight")) {
    Value extra = emit.binary<MulOp>(emit.binary<SubOp>(positive, emit.like(positive, 1)), t);
    soft = emit.binary<MulOp>(soft, emit.binary<AddOp>(extra, emit.like(extra, 1)));
  }
  Value rest = emit.binary<MulOp>(emit.binary<SubOp>(emit.like(t, 1), t), x);
  Value loss = emit.binary<AddOp>(rest, soft);
  if (Value weight = node.optionalTensor("weight"))
    loss = emit.binary<MulOp>(loss, weight);
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

//===----------------------------------------------------------------------===//
// Of classes
//===----------------------------------------------------------------------===//

static int64_t classAxis(Value logits) { return typeOf(logits).getRank() == 1 ? 0 : 1; }

static void checkLabels(Value logits, Value target, int64_t axis) {
  Shape expected(frontend::shapeOf(logits));
  expected.erase(expected.begin() + axis);
  if (frontend::shapeOf(target) != ArrayRef<int64_t>(expected) ||
      !frontend::elementOf(target).isInteger())
    throw ImportError("labels " + describe(target) + " do not fit " + describe(logits));
}

static LabelOptions readLabelOptions(Node &node, int64_t axis) {
  LabelOptions options;
  options.axis = axis;
  options.ignored = node.integer("ignore_index", -100);
  options.classWeights = node.optionalTensor("weight");
  return options;
}

static Value reduceLosses(TensorBuilder &b, const LabelLosses &losses, LossReduction reduction) {
  if (reduction == LossReduction::None)
    return losses.losses;
  return reduction == LossReduction::Mean ? buildMean(b, losses) : buildSum(b, losses.losses);
}

static void importNllLoss(Node &node) {
  Value logProbabilities = node.tensor("self"), target = node.tensor("target");
  int64_t axis = classAxis(logProbabilities);
  checkLabels(logProbabilities, target, axis);
  LossReduction reduction = readReduction(node);
  NodeBuilder builder(node.emit, "labels");
  TensorBuilder &b = builder.b;
  LabelLosses losses =
      buildNegativeLogLikelihood(b, logProbabilities, target, readLabelOptions(node, axis));
  node.result(0, reduceLosses(b, losses, reduction));
  if (!node.wants(1))
    return;
  auto scalar = RankedTensorType::get({}, frontend::elementOf(logProbabilities));
  node.result(1,
              reduction == LossReduction::None ? b.splat(scalar, 0) : buildSum(b, losses.weights));
}

/// Targets that are probabilities of the classes.
static Value ofProbabilities(Node &node, Value logProbabilities, Value target,
                             LossReduction reduction, double smoothing) {
  Emitter &emit = node.emit;
  int64_t axis = classAxis(logProbabilities), classes = frontend::shapeOf(logProbabilities)[axis];
  if (smoothing > 0)
    target = emit.binary<AddOp>(scaled(emit, target, 1 - smoothing),
                                emit.like(target, smoothing / double(classes)));
  Value product = emit.binary<MulOp>(logProbabilities, target);
  if (Value weight = node.optionalTensor("weight"))
    product =
        emit.binary<MulOp>(product, emit.broadcastDims(weight, frontend::shapeOf(product), {axis}));
  Value loss = emit.unary<NegOp>(emit.reduce(ReduceKind::Sum, product, {axis}, false));
  return reduceLoss(emit, loss, reduction);
}

static void importCrossEntropy(Node &node) {
  Value logits = node.tensor("self"), target = node.tensor("target");
  expectRank(logits, 1);
  LossReduction reduction = readReduction(node);
  double smoothing = node.real("label_smoothing", 0);
  int64_t axis = classAxis(logits);
  LabelOptions options = readLabelOptions(node, axis);
  if (isa<FloatType>(frontend::elementOf(target))) {
    Value logProbabilities = emitLogSoftmax(node.emit, logits, axis);
    return node.result(ofProbabilities(node, logProbabilities, target, reduction, smoothing));
  }
  checkLabels(logits, target, axis);
  options.smoothing = smoothing;
  NodeBuilder builder(node.emit, "labels");
  Value loss =
      reduceLosses(builder.b, buildCrossEntropy(builder.b, logits, target, options), reduction);
  node.result(builder.b.castTo(loss, frontend::elementOf(logits)));
}

//===----------------------------------------------------------------------===//
// Of margins
//===----------------------------------------------------------------------===//

static Value atLeastZero(Emitter &emit, Value x) { return emit.binary<MaxOp>(x, emit.like(x, 0)); }

static Value plus(Emitter &emit, Value x, double number) {
  return emit.binary<AddOp>(x, emit.like(x, number));
}

/// x where the target is 1, max(0, margin - x) where it is -1
static void importHingeEmbedding(Node &node) {
  Emitter &emit = node.emit;
  auto [x, t] = emit.together(node.tensor("self"), node.tensor("target"));
  Value margin = plus(emit, emit.unary<NegOp>(x), node.real("margin", 1)), zero = emit.like(x, 0);
  Value far = emit.compare(CompareDirection::NE, t, emit.like(t, 1)),
        near = emit.compare(CompareDirection::NE, t, emit.like(t, -1));
  Value loss = emit.binary<AddOp>(emit.select(far, atLeastZero(emit, margin), zero),
                                  emit.select(near, x, zero));
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

static void importMarginRanking(Node &node) { // max(0, -t·(x1 - x2) + margin)
  Emitter &emit = node.emit;
  Value difference = emit.binary<SubOp>(node.tensor("input1"), node.tensor("input2"));
  Value product = emit.unary<NegOp>(emit.binary<MulOp>(node.tensor("target"), difference));
  Value loss = atLeastZero(emit, plus(emit, product, node.real("margin", 0)));
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

static void importPoissonNll(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input"), t = node.tensor("target");
  if (node.flag("full", false))
    throw ImportError("Stirling's approximation ('full') is not supported");
  double epsilon = node.real("eps", 1e-8);
  Value loss =
      node.flag("log_input", true)
          ? emit.binary<SubOp>(emit.unary<ExpOp>(x), emit.binary<MulOp>(t, x))
          : emit.binary<SubOp>(x, emit.binary<MulOp>(t, emit.unary<LogOp>(plus(emit, x, epsilon))));
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

static void importSoftMargin(Node &node) { // log(1 + exp(-t·x))
  Emitter &emit = node.emit;
  Value product = emit.binary<MulOp>(node.tensor("self"), node.tensor("target"));
  Value loss = emitSoftplus(emit, emit.unary<NegOp>(product));
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

/// max(0, d(anchor, positive) - d(anchor, negative) + margin); with `swap`, the lesser of the
/// negative's distances from both counts.
static void importTripletMargin(Node &node) {
  Emitter &emit = node.emit;
  Value anchor = node.tensor("anchor"), positive = node.tensor("positive"),
        negative = node.tensor("negative");
  double p = node.real("p", 2), epsilon = node.real("eps", 1e-6);
  auto distance = [&](Value x, Value y) {
    return emitPairwiseDistance(emit, x, y, p, epsilon, false);
  };
  Value far = distance(anchor, negative);
  if (node.flag("swap", false))
    far = emit.binary<MinOp>(far, distance(positive, negative));
  Value difference = emit.binary<SubOp>(distance(anchor, positive), far);
  Value loss = atLeastZero(emit, plus(emit, difference, node.real("margin", 1)));
  node.result(reduceLoss(emit, loss, readReduction(node)));
}

void weft::frontend::aten::addLoss(OpTable &table) {
  table["aten.binary_cross_entropy.default"] = importBce;
  table["aten.binary_cross_entropy_with_logits.default"] = importBceWithLogits;
  table["aten.cross_entropy_loss.default"] = importCrossEntropy;
  table["aten.hinge_embedding_loss.default"] = importHingeEmbedding;
  table["aten.huber_loss.default"] = importHuber;
  table["aten.kl_div.default"] = importKlDiv;
  table["aten.l1_loss.default"] = importL1;
  table["aten.margin_ranking_loss.default"] = importMarginRanking;
  table["aten.mse_loss.default"] = importMse;
  table["aten.nll_loss.default"] = importNllLoss;
  table["aten.nll_loss2d.default"] = importNllLoss;
  table["aten.nll_loss2d_forward.default"] = importNllLoss;
  table["aten.nll_loss_forward.default"] = importNllLoss;
  table["aten.nll_loss_nd.default"] = importNllLoss;
  table["aten.poisson_nll_loss.default"] = importPoissonNll;
  table["aten.smooth_l1_loss.default"] = importSmoothL1;
  table["aten.soft_margin_loss.default"] = importSoftMargin;
  table["aten.triplet_margin_loss.default"] = importTripletMargin;
}

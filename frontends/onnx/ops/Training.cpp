// Losses, and the operators of ai.onnx.preview.training: gradients and optimizers. They are built
// as those of `weft compile --train` are.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Training/Differentiate.h"
#include "compiler/Training/Losses.h"
#include "compiler/Training/Moments.h"
#include "dialects/Weft/IR/SourceName.h"
#include "frontends/common/NodeBuilder.h"
#include "frontends/onnx/GraphImporter.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

static void checkLabels(Value scores, Value labels) {
  expectRank(scores, 2);
  Shape expected(frontend::shapeOf(scores));
  expected.erase(expected.begin() + 1);
  if (frontend::shapeOf(labels) != ArrayRef<int64_t>(expected) ||
      !frontend::elementOf(labels).isInteger())
    throw ImportError("labels " + describe(labels) + " do not fit " + describe(scores));
}

static LabelOptions readLabelOptions(Node &node, Value scores) {
  LabelOptions options;
  if (node.attribute("ignore_index"))
    options.ignored = node.getInt("ignore_index", 0);
  options.classWeights = node.optional(2);
  if (options.classWeights &&
      frontend::shapeOf(options.classWeights) != frontend::shapeOf(scores).slice(1, 1))
    throw ImportError("weights " + describe(options.classWeights) + " do not fit " +
                      describe(scores));
  return options;
}

static Value reduceLosses(Node &node, TensorBuilder &b, const LabelLosses &losses) {
  std::string reduction = node.getString("reduction", "mean");
  if (reduction == "none")
    return losses.losses;
  if (reduction == "sum")
    return buildSum(b, losses.losses);
  if (reduction == "mean")
    return buildMean(b, losses);
  throw ImportError("reduction '" + reduction + "' is not known");
}

static void importNegativeLogLikelihoodLoss(Node &node) {
  Value scores = node.operand(0), labels = node.operand(1);
  checkLabels(scores, labels);
  NodeBuilder builder(node.emit, "losses");
  TensorBuilder &b = builder.b;
  LabelLosses losses =
      buildNegativeLogLikelihood(b, scores, labels, readLabelOptions(node, scores));
  node.result(reduceLosses(node, b, losses));
}

static void importSoftmaxCrossEntropyLoss(Node &node) {
  Value scores = node.operand(0), labels = node.operand(1);
  checkLabels(scores, labels);
  NodeBuilder builder(node.emit, "losses");
  TensorBuilder &b = builder.b;
  LabelLosses losses = buildCrossEntropy(b, scores, labels, readLabelOptions(node, scores));
  node.result(0, b.castTo(reduceLosses(node, b, losses), frontend::elementOf(scores)));
  node.beginResult(1);
  if (node.wants(1))
    node.result(1, b.castTo(buildLogSoftmax(b, b.widen(scores), 1), frontend::elementOf(scores)));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// y computed anew from `inputs`, which stand for `variables`; y itself where they are the same.
static Value recompute(Node &node, Value y, ArrayRef<Value> variables, ArrayRef<Value> inputs) {
  if (variables == inputs)
    return y;
  IRMapping mapping;
  for (auto [variable, input] : llvm::zip_equal(variables, inputs))
    mapping.map(variable, input);
  SetVector<Operation *> needed;
  SmallVector<Value> left{y};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || mapping.contains(value) || !needed.insert(op))
      continue;
    llvm::append_range(left, op->getOperands());
  }
  for (Operation *op : topologicalSort(needed))
    node.emit.builder.clone(*op, mapping);
  return mapping.lookupOrDefault(y);
}

static std::vector<std::string> readNames(Node &node, StringRef name) {
  const onnx::AttributeProto *attribute = node.attribute(name);
  if (!attribute)
    return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

/// The derivatives of `y` by `xs`, at the operands: first `xs`, then `zs`, which are held constant.
static void importGradient(Node &node) {
  std::vector<std::string> xs = readNames(node, "xs"), names = xs;
  llvm::append_range(names, readNames(node, "zs"));
  SmallVector<Value> inputs = node.allOperands(), variables;
  if (xs.empty() || names.size() != inputs.size())
    throw ImportError("expected an operand for each of " + std::to_string(names.size()) +
                      " names in xs and zs, got: " + std::to_string(inputs.size()));
  for (const std::string &name : names)
    variables.push_back(node.graph.lookup(node.scope, name));
  Value y = node.graph.lookup(node.scope, node.getString("y", ""));
  if (!isa<FloatType>(frontend::elementOf(y)))
    throw ImportError("expected a y of floats, got: " + describe(y));
  Value result = recompute(node, y, variables, inputs);
  NodeBuilder builder(node.emit, "gradient");
  ArrayRef<Value> by = ArrayRef(inputs).take_front(xs.size());
  std::string why;
  ScopedDiagnosticHandler handler(node.emit.builder.getContext(), [&](Diagnostic &diagnostic) {
    why = "'" + getSourceName(diagnostic.getLocation()).str() + "': " + diagnostic.str();
    return success();
  });
  auto gradients = buildGradients(node.emit.builder, Seed{result, builder.b.splat(result, 1)}, by);
  if (failed(gradients))
    throw ImportError("expected operations with gradients on the way to y, got " + why);
  for (auto [index, gradient] : llvm::enumerate(*gradients)) {
    node.beginResult(index);
    node.result(index, gradient ? gradient : builder.b.splat(by[index], 0));
  }
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

namespace {
/// An optimizer's operands: a learning rate, the number of updates done, and of each kind (weights,
/// gradients, states …) one for each tensor.
class Update {
public:
  Update(Node &node, size_t kinds)
      : builder(node.emit, "update"), b(builder.b), node(node),
        count((node.operands() - 2) / kinds) {
    if (node.operands() < 2 + kinds || (node.operands() - 2) % kinds != 0)
      throw ImportError("expected operands R and T, and " + std::to_string(kinds) +
                        " for each tensor, got: " + std::to_string(node.operands()));
  }

  Value operand(size_t kind, size_t index) const { return node.operand(2 + kind * count + index); }
  void result(size_t kind, size_t index, Value value) {
    node.beginResult(kind * count + index);
    node.result(kind * count + index, value);
  }
  Value rate() const { return node.operand(0); }
  /// T in the type of R.
  Value done() const { return b.castTo(node.operand(1), frontend::elementOf(rate())); }
  Value isFirst() const {
    return b.make<CompareOp>(CompareDirection::LE, done(), b.splat(done(), 0));
  }
  /// The gradient, and `norm_coefficient` times the weight.
  Value gradient(size_t index) const {
    double share = node.getFloat("norm_coefficient", 0);
    Value own = operand(1, index);
    return share == 0 ? own : b.add(own, scaleBy(b, operand(0, index), share));
  }

private:
  NodeBuilder builder;

public:
  TensorBuilder &b;
  Node &node;
  const size_t count;
};
} // namespace

static void importAdagrad(Node &node) { // of each tensor: X, G, H
  Update update(node, 3);
  TensorBuilder &b = update.b;
  double epsilon = node.getFloat("epsilon", 0), decay = node.getFloat("decay_factor", 0);
  Value done = update.done();
  Value rate = b.make<DivOp>(update.rate(), b.add(b.splat(done, 1), scaleBy(b, done, decay)));
  for (size_t index = 0; index < update.count; ++index) {
    Value gradient = update.gradient(index);
    Value sum = b.add(update.operand(2, index), b.mul(gradient, gradient));
    Value root = b.make<SqrtOp>(sum);
    Value direction = b.make<DivOp>(gradient, b.add(root, b.splat(root, epsilon)));
    update.result(0, index, b.sub(update.operand(0, index), scaleBy(b, direction, rate)));
    update.result(1, index, sum);
  }
}

static void importAdam(Node &node) { // of each tensor: X, G, V, H
  Update update(node, 4);
  TensorBuilder &b = update.b;
  double alpha = node.getFloat("alpha", 0.9), beta = node.getFloat("beta", 0.999);
  double epsilon = node.getFloat("epsilon", 0), decay = node.getFloat("norm_coefficient_post", 0);
  Value done = update.done(), one = b.splat(done, 1);
  auto correction = [&](double factor) {
    return b.sub(one, b.make<PowOp>(b.splat(done, factor), done));
  };
  Value corrected =
      b.make<DivOp>(b.mul(update.rate(), b.make<SqrtOp>(correction(beta))), correction(alpha));
  Value rate = b.make<SelectOp>(update.isFirst(), update.rate(), corrected);
  for (size_t index = 0; index < update.count; ++index) {
    Moments moments = updateMoments(b, {update.operand(2, index), update.operand(3, index)},
                                    update.gradient(index), alpha, beta);
    Value direction = normalizeMoments(b, moments, rate, one, epsilon);
    Value next = b.sub(update.operand(0, index), direction);
    update.result(0, index, scaleBy(b, next, 1 - decay));
    update.result(1, index, moments.first);
    update.result(2, index, moments.second);
  }
}

static void importMomentum(Node &node) { // of each tensor: X, G, V
  Update update(node, 3);
  TensorBuilder &b = update.b;
  double alpha = node.getFloat("alpha", 0), beta = node.getFloat("beta", 0);
  std::string mode = node.getString("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    throw ImportError("mode '" + mode + "' is not known");
  Value rate = update.rate();
  Value share = b.make<SelectOp>(update.isFirst(), b.splat(rate, 1), b.splat(rate, beta));
  for (size_t index = 0; index < update.count; ++index) {
    Value gradient = update.gradient(index);
    Value velocity =
        updateVelocity(b, update.operand(2, index), scaleBy(b, gradient, share), alpha);
    Value direction = mode == "nesterov" ? b.add(gradient, scaleBy(b, velocity, alpha)) : velocity;
    update.result(0, index, b.sub(update.operand(0, index), scaleBy(b, direction, rate)));
    update.result(1, index, velocity);
  }
}

void weft::frontend::addTraining(OpTable &table) {
  table["NegativeLogLikelihoodLoss"] = importNegativeLogLikelihoodLoss;
  table["SoftmaxCrossEntropyLoss"] = importSoftmaxCrossEntropyLoss;
  table["ai.onnx.preview.training::Adagrad"] = importAdagrad;
  table["ai.onnx.preview.training::Adam"] = importAdam;
  table["ai.onnx.preview.training::Gradient"] = importGradient;
  table["ai.onnx.preview.training::Momentum"] = importMomentum;
}

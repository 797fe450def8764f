// Operators that make constants and choose what is computed.

#include "frontends/common/Random.h"
#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/onnx/GraphImporter.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static Value floats(Node &node, ArrayRef<float> numbers, Shape shape) {
  auto type = RankedTensorType::get(shape, node.emit.builder.getF32Type());
  return node.emit.constant(tensorOf(type, std::vector<double>(numbers.begin(), numbers.end())));
}

static void importConstant(Node &node) {
  Emitter &emit = node.emit;
  if (const auto *value = node.attribute("value"))
    return node.result(node.graph.addTensor(value->t(),
                                            node.graph.sourceName(node.scope, node.proto.output(0)),
                                            /*isParameter=*/false));
  if (const auto *value = node.attribute("value_float"))
    return node.result(floats(node, {value->f()}, {}));
  if (const auto *value = node.attribute("value_floats"))
    return node.result(floats(node, ArrayRef<float>(value->floats().data(), value->floats_size()),
                              {value->floats_size()}));
  if (node.attribute("value_int"))
    return node.result(emit.reshape(emit.integers({node.getInt("value_int", 0)}), {}));
  if (node.attribute("value_ints"))
    return node.result(emit.integers(node.getInts("value_ints")));
  throw ImportError("it holds no value of a supported kind (tensor, floats, integers)");
}

/// Whether a node drops elements: since opset 12 an operand says so.
static bool isTraining(Node &node) {
  if (node.opset < 12 || !node.has(2))
    return node.getInt("is_test", node.opset >= 7) == 0;
  const Tensor &training = node.constant(2, "training_mode");
  if (training.size() != 1)
    throw ImportError("training_mode must be one bool, got " + std::to_string(training.size()));
  return storedNumbersOf<int64_t>(training).front() != 0;
}

static double readRatio(Node &node) {
  if (node.opset < 12)
    return node.getFloat("ratio", 0.5);
  if (!node.has(1))
    return 0.5;
  const Tensor &ratio = node.constant(1, "the ratio");
  return ratio.size() == 1 ? storedNumbersOf<double>(ratio).front() : -1;
}

/// In inference nothing is dropped, and the mask keeps everything. Random numbers are those of the
/// model (Random.h), whatever a node's seed.
static void importDropout(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  node.ignore({"is_test", "ratio", "seed"});
  Dropped dropped{x, {}};
  if (isTraining(node))
    dropped = emitDropout(emit, x, readRatio(node));
  node.result(0, dropped.result);
  node.beginResult(1);
  if (node.wants(1))
    node.result(1, dropped.kept ? dropped.kept
                                : emit.splat(typeOf(x).clone(emit.builder.getI1Type()), 1));
}

static void importIf(Node &node) {
  const Tensor &condition = node.constant(0, "the condition");
  node.ignore({"then_branch", "else_branch"});
  if (condition.size() != 1)
    throw ImportError("expected a condition of one element, got " + describe(node.operand(0)));
  const char *name = storedNumbersOf<int64_t>(condition).front() ? "then_branch" : "else_branch";
  const auto *branch = node.attribute(name);
  if (!branch || !branch->has_g())
    throw ImportError(std::string("it has no ") + name);
  node.graph.inlineBranch(node, branch->g());
}

void weft::frontend::addControl(OpTable &table) {
  table["Constant"] = importConstant;
  table["Dropout"] = importDropout;
  table["If"] = importIf;
}

// Normalisations with scale and bias one a channel.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// A result that only training needs: no elements.
static Value none(Node &node, Value x) {
  return node.emit.splat(RankedTensorType::get({0}, computeType(node, elementOf(x))), 0);
}

/// old + momentum · (seen - old), in the type of the running statistics.
static Value movedTowards(Node &node, Value old, Value seen) {
  Emitter &emit = node.emit;
  Value momentum = emit.like(old, node.real("momentum"));
  Value step = emit.binary<SubOp>(emit.cast(seen, elementOf(old)), old);
  return emit.binary<AddOp>(old, emit.binary<MulOp>(momentum, step));
}

/// Results 3 and 4, where the operator gives the statistics instead of changing them.
constexpr size_t meanResult = 3, varianceResult = 4;

static void changeStatistic(Node &node, StringRef name, Value value, size_t result) {
  if (node.results() > result)
    return node.wants(result) ? node.result(result, value) : void();
  node.graph.assign(node.scope, node.find(name)->as<TensorName>()->name, value);
}

/// The running statistics of what is normalised over `dims`, averaged over dimension 0 where that
/// is none of them.
static void changeStatistics(Node &node, Value x, ArrayRef<int64_t> dims) {
  Emitter &emit = node.emit;
  Value oldMean = node.optionalTensor("running_mean"),
        oldVariance = node.optionalTensor("running_var");
  if (!oldMean || !oldVariance)
    throw ImportError("expected both 'running_mean' and 'running_var'");
  Value wide = emit.cast(x, computeType(node, elementOf(x)));
  Value mean = emit.mean(wide, dims, false), variance = emitVariance(emit, wide, dims, 1, false);
  if (typeOf(mean).getRank() > 1) {
    mean = emit.mean(mean, {0}, false);
    variance = emit.mean(variance, {0}, false);
  }
  changeStatistic(node, "running_mean", movedTowards(node, oldMean, mean), meanResult);
  changeStatistic(node, "running_var", movedTowards(node, oldVariance, variance), varianceResult);
}

/// Statistics of the batch itself: over everything but the channels.
static void standardizeBatch(Node &node, Value x, double epsilon) {
  Emitter &emit = node.emit;
  Value wide = emit.cast(x, computeType(node, elementOf(x)));
  Shape dims = allDimsBut(x, 1);
  Value normal = emitStandardize(emit, wide, dims, epsilon);
  Value result =
      emitScaleAndShift(emit, normal, node.optionalTensor("weight"), node.optionalTensor("bias"));
  node.result(0, emit.cast(result, elementOf(x)));
  if (node.wants(1))
    node.result(1, emit.mean(wide, dims, false));
  if (node.wants(2))
    node.result(2, emitInverseDeviation(emit, emitVariance(emit, wide, dims, 0, false), epsilon));
}

static void importBatchNorm(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input");
  expectRank(x, 2);
  node.ignore({"momentum", "cudnn_enabled"});
  double epsilon = node.real("eps");
  bool isTraining = node.has("training") && node.flag("training", false);
  Value mean = node.optionalTensor("running_mean"), variance = node.optionalTensor("running_var");
  if (isTraining || !mean || !variance) {
    standardizeBatch(node, x, epsilon);
    return isTraining && (mean || variance) ? changeStatistics(node, x, allDimsBut(x, 1)) : void();
  }
  node.result(0, emitWide(node.emit, x, [&](Value wide) {
                return emitBatchNorm(emit, wide, {mean, variance}, node.optionalTensor("weight"),
                                     node.optionalTensor("bias"), epsilon);
              }));
  for (size_t index : {1, 2})
    if (node.wants(index))
      node.result(index, none(node, x));
}

static void importGroupNorm(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input");
  node.ignore({"cudnn_enabled"});
  int64_t groups = node.integer("num_groups");
  double epsilon = node.real("eps", 1e-5);
  node.result(emitWide(node.emit, x, [&](Value wide) {
    Value normal = emitGroupStandardize(emit, wide, groups, epsilon);
    return emitScaleAndShift(emit, normal, node.optionalTensor("weight"),
                             node.optionalTensor("bias"));
  }));
}

/// With the mean and the inverse deviation of each group.
static void importNativeGroupNorm(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input");
  node.ignore({"N", "C", "HxW"});
  int64_t groups = node.integer("group");
  double epsilon = node.real("eps");
  Value wide = emit.cast(x, computeType(node, elementOf(x)));
  Value normal = emitGroupStandardize(emit, wide, groups, epsilon);
  normal =
      emitScaleAndShift(emit, normal, node.optionalTensor("weight"), node.optionalTensor("bias"));
  node.result(0, emit.cast(normal, elementOf(x)));
  if (!node.wants(1) && !node.wants(2))
    return;
  int64_t outer = shapeOf(x)[0] * groups;
  Shape shape{shapeOf(x)[0], groups, outer == 0 ? 0 : typeOf(x).getNumElements() / outer};
  Value parts = emit.reshape(wide, shape);
  Value variance = emitVariance(emit, parts, {2}, 0, false);
  if (node.wants(1))
    node.result(1, emit.cast(emit.mean(parts, {2}, false), elementOf(x)));
  if (node.wants(2))
    node.result(2, emit.cast(emitInverseDeviation(emit, variance, epsilon), elementOf(x)));
}

static void importInstanceNorm(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input"), weight = node.optionalTensor("weight"),
        bias = node.optionalTensor("bias"), mean = node.optionalTensor("running_mean"),
        variance = node.optionalTensor("running_var");
  node.ignore({"momentum", "cudnn_enabled"});
  double epsilon = node.real("eps");
  bool ofInput = node.flag("use_input_stats", true);
  if (!ofInput && !(mean && variance))
    throw ImportError("expected 'running_mean' and 'running_var'");
  node.result(emitWide(node.emit, x, [&](Value wide) {
    if (!ofInput)
      return emitBatchNorm(emit, wide, {mean, variance}, weight, bias, epsilon);
    return emitScaleAndShift(emit, emitInstanceStandardize(emit, wide, epsilon), weight, bias);
  }));
  if (ofInput && (mean || variance))
    changeStatistics(node, x,
                     llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(2, typeOf(x).getRank())));
}

void weft::frontend::aten::addChannelNorm(OpTable &table) {
  table["aten._native_batch_norm_legit.default"] = importBatchNorm;
  table["aten._native_batch_norm_legit.no_stats"] = importBatchNorm;
  table["aten._native_batch_norm_legit_functional.default"] = importBatchNorm;
  table["aten._native_batch_norm_legit_no_training.default"] = importBatchNorm;
  table["aten.batch_norm.default"] = importBatchNorm;
  table["aten.group_norm.default"] = importGroupNorm;
  table["aten.instance_norm.default"] = importInstanceNorm;
  table["aten.native_batch_norm.default"] = importBatchNorm;
  table["aten.native_group_norm.default"] = importNativeGroupNorm;
}

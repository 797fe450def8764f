// Normalisations.

#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Small floats are normalised in f32, as the stash type says by default.
static Type computeType(Node &node, Value x) {
  bool isF32 = node.getInt("stash_type", 1) == 1;
  return isF32 && elementOf(x).getIntOrFloatBitWidth() < 32 ? node.emit.builder.getF32Type()
                                                            : elementOf(x);
}

/// Normalises by statistics of the batch itself; results 1 and 2 are the running ones, which move
/// towards those.
static void importBatchTraining(Node &node, Value x, Value scale, Value bias) {
  Emitter &emit = node.emit;
  double epsilon = node.getFloat("epsilon", 1e-5f), momentum = node.getFloat("momentum", 0.9f);
  Shape dims{0};
  for (int64_t dim = 2; dim < typeOf(x).getRank(); ++dim)
    dims.push_back(dim);
  Value normal = emitStandardize(emit, x, dims, epsilon);
  node.result(0, emitScaleAndShift(emit, normal, scale, bias));
  auto move = [&](size_t index, Value old, Value seen) {
    node.beginResult(index);
    Value kept = emit.binary<MulOp>(old, emit.like(old, momentum));
    Value moved =
        emit.cast(emit.binary<MulOp>(seen, emit.like(seen, 1 - momentum)), elementOf(old));
    node.result(index, emit.binary<AddOp>(kept, moved));
  };
  move(1, node.operand(3), emit.mean(x, dims, false));
  move(2, node.operand(4), emitVariance(emit, x, dims, 0, false));
}

static void importBatchNormalization(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), scale = node.operand(1), bias = node.operand(2),
        mean = node.operand(3), variance = node.operand(4);
  expectRank(x, 2);
  if (node.getInt("spatial", 1) != 1)
    throw ImportError("statistics of every position are not supported");
  if (node.getInt("training_mode", 0) != 0)
    return importBatchTraining(node, x, scale, bias);
  bool isTest = node.getInt("is_test", node.opset >= 7);
  if (!isTest || node.wants(1))
    throw ImportError("training mode is not supported");
  node.ignore({"momentum"});
  node.result(
      emitBatchNorm(emit, x, {mean, variance}, scale, bias, node.getFloat("epsilon", 1e-5f)));
}

/// Scale and bias are one a channel since opset 21, one a group before.
static void importGroupNormalization(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectRank(x, 2);
  int64_t groups = node.requiredInt("num_groups"), channels = shapeOf(x)[1];
  Value normal = emitGroupStandardize(emit, emit.cast(x, computeType(node, x)), groups,
                                      node.getFloat("epsilon", 1e-5f));
  normal = emit.cast(normal, elementOf(x));
  auto spread = [&](Value vector) {
    if (shapeOf(vector) == ArrayRef<int64_t>{groups} && groups != channels)
      vector =
          emit.reshape(emit.broadcastDims(vector, {groups, channels / groups}, {0}), {channels});
    return vector;
  };
  node.result(emitScaleAndShift(emit, normal, spread(node.operand(1)), spread(node.operand(2))));
}

static void importInstanceNormalization(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  Value normal = emitInstanceStandardize(emit, x, node.getFloat("epsilon", 1e-5f));
  node.result(emitScaleAndShift(emit, normal, node.operand(1), node.operand(2)));
}

namespace {
/// Scale or bias of a normalisation.
struct Affine {
  Value normal; ///< in the shape of the normalised dimensions, or null
  Value outer;  ///< where it varies over the other dimensions, too: in the input's shape, or null
};
} // namespace

/// Unit dimensions in front may have been added.
static Affine readFactor(Emitter &emit, Value value, Value x, int64_t axis) {
  if (!value)
    return {};
  ArrayRef<int64_t> normal = shapeOf(x).drop_front(axis);
  while (shapeOf(value).size() > normal.size() && shapeOf(value).front() == 1)
    value = emit.reshape(value, shapeOf(value).drop_front());
  value = emit.cast(value, elementOf(x));
  if (shapeOf(value).size() > normal.size())
    return {{}, emit.broadcast(value, shapeOf(x))};
  return {emit.broadcast(value, normal), {}};
}

static void importLayerNormalization(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  int64_t rank = typeOf(x).getRank(), axis = node.dim(node.getInt("axis", -1), rank);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  Value wide = emit.cast(x, computeType(node, x));
  Affine scale = readFactor(emit, node.operand(1), wide, axis),
         bias = readFactor(emit, node.optional(2), wide, axis);
  if (scale.outer && bias.normal)
    bias = {{}, emit.broadcast(bias.normal, shapeOf(wide))};
  Value result = emit.create<LayerNormOp>(typeOf(wide), wide, scale.normal, bias.normal,
                                          emit.builder.getI64IntegerAttr(axis),
                                          emit.builder.getF64FloatAttr(epsilon));
  if (scale.outer)
    result = emit.binary<MulOp>(result, scale.outer);
  if (bias.outer)
    result = emit.binary<AddOp>(result, bias.outer);
  node.result(emit.cast(result, elementOf(x)));
  if (!node.wants(1) && !node.wants(2))
    return;
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(axis, rank));
  node.beginResult(1);
  Value mean = emit.mean(wide, dims, true);
  node.result(1, mean);
  node.beginResult(2);
  Value centred = emit.binary<SubOp>(wide, mean);
  Value variance = emit.mean(emit.binary<MulOp>(centred, centred), dims, true);
  node.result(2, emitInverseDeviation(emit, variance, epsilon));
}

static void importLpNormalization(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  int64_t axis = node.dim(node.getInt("axis", -1), typeOf(x).getRank()), p = node.getInt("p", 2);
  if (p != 1 && p != 2)
    throw ImportError("norm " + std::to_string(p) + " is not known");
  Value size = p == 1 ? emit.unary<AbsOp>(x) : emit.binary<MulOp>(x, x);
  Value norm = emit.reduce(ReduceKind::Sum, size, {axis}, true);
  if (p == 2)
    norm = emit.unary<SqrtOp>(norm);
  // A norm of zero is that of zeros, which stay what they are.
  Value zero = emit.like(norm, 0), isZero = emit.compare(CompareDirection::EQ, norm, zero);
  node.result(emit.binary<DivOp>(x, emit.select(isZero, emit.like(norm, 1), norm)));
}

static void importMeanVarianceNormalization(Node &node) { // (x - mean) / (√variance + 1e-9)
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  Shape dims = node.dims(node.getInts("axes", {0, 2, 3}), typeOf(x).getRank());
  Value centred = emit.binary<SubOp>(x, emit.mean(x, dims, true));
  Value variance = emit.mean(emit.binary<MulOp>(centred, centred), dims, true);
  Value deviation = emit.unary<SqrtOp>(variance);
  node.result(
      emit.binary<DivOp>(centred, emit.binary<AddOp>(deviation, emit.like(deviation, 1e-9))));
}

static void importRMSNormalization(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  int64_t axis = node.dim(node.getInt("axis", -1), typeOf(x).getRank());
  Value wide = emit.cast(x, computeType(node, x));
  Affine scale = readFactor(emit, node.optional(1), wide, axis);
  Value result =
      emit.create<RmsNormOp>(typeOf(wide), wide, scale.normal, emit.builder.getI64IntegerAttr(axis),
                             emit.builder.getF64FloatAttr(node.getFloat("epsilon", 1e-5f)));
  if (scale.outer)
    result = emit.binary<MulOp>(result, scale.outer);
  node.result(emit.cast(result, elementOf(x)));
}

/// Pooling over everything.
static Shape spatialDims(Value x) {
  expectRank(x, 3);
  return llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(2, typeOf(x).getRank()));
}

static void importGlobalAveragePool(Node &node) {
  Value x = node.operand(0);
  node.result(node.emit.mean(x, spatialDims(x), true));
}

static void importGlobalMaxPool(Node &node) {
  Value x = node.operand(0);
  node.result(node.emit.reduce(ReduceKind::Max, x, spatialDims(x), true));
}

void weft::frontend::addNormalization(OpTable &table) {
  table["BatchNormalization"] = importBatchNormalization;
  table["GlobalAveragePool"] = importGlobalAveragePool;
  table["GlobalMaxPool"] = importGlobalMaxPool;
  table["GroupNormalization"] = importGroupNormalization;
  table["InstanceNormalization"] = importInstanceNormalization;
  table["LayerNormalization"] = importLayerNormalization;
  table["LpNormalization"] = importLpNormalization;
  table["MeanVarianceNormalization"] = importMeanVarianceNormalization;
  table["RMSNormalization"] = importRMSNormalization;
  table["SimplifiedLayerNormalization"] = importRMSNormalization;
}

// Normalisations over the last dimensions, softmax.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Floats narrower than f32 are normalised in f32.
static Value widen(Emitter &emit, Value x) {
  return elementOf(x).getIntOrFloatBitWidth() < 32 ? emit.cast(x, emit.builder.getF32Type()) : x;
}

/// The first of the dimensions that are normalised: the last ones, of sizes `normalized_shape`.
static int64_t normalizedFrom(Node &node, Value x) {
  Shape normal = node.integers("normalized_shape");
  expectFloat(x);
  int64_t axis = typeOf(x).getRank() - int64_t(normal.size());
  if (normal.empty() || axis < 0 || shapeOf(x).drop_front(axis) != ArrayRef<int64_t>(normal))
    throw ImportError("cannot normalise " + describe(x) + " over dimensions of sizes " +
                      describe(normal));
  return axis;
}

/// Scale or bias in the type that is computed in, or null.
static Value factorOf(Node &node, StringRef name, Value wide) {
  Value factor = node.optionalTensor(name);
  return factor ? node.emit.cast(factor, elementOf(wide)) : Value();
}

/// Added to a variance in the type that is computed in, to which it is rounded.
static FloatAttr epsilonAttr(Node &node, Value wide, double epsilon) {
  if (elementOf(wide).isF32())
    epsilon = float(epsilon);
  return node.emit.builder.getF64FloatAttr(epsilon);
}

static void importLayerNorm(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input"), wide = widen(emit, x);
  int64_t axis = normalizedFrom(node, x);
  node.ignore({"cudnn_enable"});
  Value result = emit.create<LayerNormOp>(
      typeOf(wide), wide, factorOf(node, "weight", wide), factorOf(node, "bias", wide),
      emit.builder.getI64IntegerAttr(axis), epsilonAttr(node, wide, node.real("eps", 1e-5)));
  node.result(emit.cast(result, elementOf(x)));
}

/// Mean and reciprocal deviation are for the backward pass.
static void importNativeLayerNorm(Node &node) {
  Emitter &emit = node.emit;
  importLayerNorm(node);
  Value wide = widen(emit, node.tensor("input"));
  Shape dims = allDims(wide);
  dims.erase(dims.begin(), dims.begin() + normalizedFrom(node, wide));
  Type element = elementOf(node.tensor("input"));
  if (node.wants(1))
    node.result(1, emit.cast(emit.mean(wide, dims, /*keepDims=*/true), element));
  if (!node.wants(2))
    return;
  Value variance = emitVariance(emit, wide, dims, 0, true);
  node.result(2, emit.cast(emitInverseDeviation(emit, variance, node.real("eps", 1e-5)), element));
}

/// The distance from 1 to the next number of a type.
static double machineEpsilon(Type element) {
  const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
  return std::ldexp(1.0, 1 - int(llvm::APFloat::semanticsPrecision(semantics)));
}

static void importRmsNorm(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input"), wide = widen(emit, x);
  int64_t axis = normalizedFrom(node, x);
  double epsilon = node.real("eps", machineEpsilon(elementOf(x)));
  Value result = emit.create<RmsNormOp>(typeOf(wide), wide, factorOf(node, "weight", wide),
                                        emit.builder.getI64IntegerAttr(axis),
                                        epsilonAttr(node, wide, epsilon));
  node.result(emit.cast(result, elementOf(x)));
}

static void importFusedRmsNorm(Node &node) {
  importRmsNorm(node);
  node.omitResult(1);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {
struct Softmax {
  Value input, result; ///< in the type that is computed in
  int64_t axis;
  Type element;
};
} // namespace

/// The operand, in the type that is computed in.
static Softmax readSoftmax(Node &node) {
  Emitter &emit = node.emit;
  Value self = node.tensor("self");
  Type element = node.dtype("dtype", elementOf(self));
  if (node.flag("half_to_float", false))
    element = emit.builder.getF32Type();
  if (!isa<FloatType>(element))
    throw ImportError("expected floats, got " + describe(self));
  int64_t axis = node.dim(node.integer("dim"), typeOf(self).getRank());
  Value wide = widen(emit, emit.cast(self, element));
  if (typeOf(self).getRank() == 0)
    wide = emit.reshape(wide, {1});
  return {wide, {}, axis, element};
}

static Softmax emitSoftmax(Node &node) {
  Softmax softmax = readSoftmax(node);
  Value x = softmax.input;
  softmax.result = node.emit.create<SoftmaxOp>(typeOf(x), x, softmax.axis);
  return softmax;
}

static void finishSoftmax(Node &node, const Softmax &softmax, Value result) {
  result = node.emit.reshape(result, shapeOf(node.tensor("self")));
  node.result(node.emit.cast(result, softmax.element));
}

static void importSoftmax(Node &node) {
  Softmax softmax = emitSoftmax(node);
  finishSoftmax(node, softmax, softmax.result);
}

static void importLogSoftmax(Node &node) {
  Softmax softmax = readSoftmax(node);
  finishSoftmax(node, softmax, emitLogSoftmax(node.emit, softmax.input, softmax.axis));
}

/// Rows of -inf alone give zeros.
static void importSafeSoftmax(Node &node) {
  Emitter &emit = node.emit;
  Softmax softmax = emitSoftmax(node);
  Value hidden = emit.compare(CompareDirection::EQ, softmax.input,
                              emit.like(softmax.input, -std::numeric_limits<double>::infinity()));
  Value empty = emit.reduce(ReduceKind::Min, hidden, {softmax.axis}, /*keepDims=*/true);
  finishSoftmax(node, softmax, emit.select(empty, emit.like(softmax.result, 0), softmax.result));
}

void weft::frontend::aten::addNormalization(OpTable &table) {
  table["aten._fused_rms_norm.default"] = importFusedRmsNorm;
  table["aten._log_softmax.default"] = importLogSoftmax;
  table["aten._safe_softmax.default"] = importSafeSoftmax;
  table["aten._softmax.default"] = importSoftmax;
  table["aten.layer_norm.default"] = importLayerNorm;
  table["aten.log_softmax.int"] = importLogSoftmax;
  table["aten.native_layer_norm.default"] = importNativeLayerNorm;
  table["aten.rms_norm.default"] = importRmsNorm;
  table["aten.softmax.int"] = importSoftmax;
  table["aten.special_log_softmax.default"] = importLogSoftmax;
  table["aten.special_softmax.default"] = importSoftmax;
}

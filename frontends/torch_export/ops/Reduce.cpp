// Reductions, and running sums.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "frontends/torch_export/ops/ReduceDims.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Sums and products: integers and bools are added up as i64, unless a type is asked for.
static Type accumulatedType(Node &node, Value x) {
  Type element = elementOf(x);
  return node.dtype("dtype", isa<FloatType>(element) ? element : node.emit.builder.getI64Type());
}

template <ReduceKind Kind> static void importSum(Node &node) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  x = node.emit.cast(x, accumulatedType(node, x));
  node.result(node.emit.reduce(Kind, x, reduced.dims, reduced.keep));
}

static void importMean(Node &node) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  x = node.emit.cast(x, node.dtype("dtype", elementOf(x)));
  expectFloat(x);
  node.result(emitWide(
      node.emit, x, [&](Value wide) { return node.emit.mean(wide, reduced.dims, reduced.keep); }));
}

template <ReduceKind Kind> static void importExtremes(Node &node) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  node.result(node.emit.reduce(Kind, x, reduced.dims, reduced.keep));
}

static void importAminmax(Node &node) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  node.result(0, node.emit.reduce(ReduceKind::Min, x, reduced.dims, reduced.keep));
  node.result(1, node.emit.reduce(ReduceKind::Max, x, reduced.dims, reduced.keep));
}

/// Whether any, or all, elements are not zero; of uint8 the result is uint8.
template <ReduceKind Kind> static void importTruth(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  Type type = elementOf(x), i1 = emit.builder.getI1Type();
  Value result = emit.reduce(Kind, emit.cast(x, i1), reduced.dims, reduced.keep);
  node.result(emit.cast(result, type.isUnsignedInteger(8) ? type : i1));
}

/// Over what broadcasting to the shape of `self` would add or repeat.
static void importSumToSize(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Shape size = node.integers("size"), dims;
  int64_t added = typeOf(x).getRank() - int64_t(size.size());
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    if (dim < added || (size[dim - added] == 1 && shapeOf(x)[dim] != 1))
      dims.push_back(dim);
  if (added < 0)
    throw ImportError("expected at least " + std::to_string(size.size()) + " dimensions, got " +
                      describe(x));
  node.result(emit.reshape(emit.reduce(ReduceKind::Sum, x, dims, true), size));
}

static void importCountNonzero(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  Value hits = emit.cast(emit.cast(x, emit.builder.getI1Type()), emit.builder.getI64Type());
  node.result(emit.reduce(ReduceKind::Sum, hits, reduced.dims, false));
}

static void importLogSumExp(Node &node) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  if (!isa<FloatType>(elementOf(x)))
    x = node.emit.cast(x, node.emit.builder.getF32Type());
  node.result(emitWide(node.emit, x, [&](Value wide) {
    return emitLogSumExp(node.emit, wide, reduced.dims, reduced.keep);
  }));
}

static Value zeroWhereNan(Emitter &emit, Value x) {
  Value isNan = emit.create<IsNanOp>(typeOf(x).clone(emit.builder.getI1Type()), x);
  return emit.select(isNan, emit.like(x, 0), x);
}

static void importNanSum(Node &node) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  if (isa<FloatType>(elementOf(x)))
    x = zeroWhereNan(node.emit, x);
  x = node.emit.cast(x, accumulatedType(node, x));
  node.result(node.emit.reduce(ReduceKind::Sum, x, reduced.dims, reduced.keep));
}

static void importNanMean(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  x = emit.cast(x, node.dtype("dtype", elementOf(x)));
  node.result(emitWide(node.emit, x, [&](Value wide) {
    Value isNumber = emit.compare(CompareDirection::EQ, wide, wide);
    Value count = emit.reduce(ReduceKind::Sum, emit.cast(isNumber, elementOf(wide)), reduced.dims,
                              reduced.keep);
    Value sum = emit.reduce(ReduceKind::Sum, zeroWhereNan(emit, wide), reduced.dims, reduced.keep);
    return emit.binary<DivOp>(sum, count);
  }));
}

//===----------------------------------------------------------------------===//
// Variance
//===----------------------------------------------------------------------===//

static double correctionOf(Node &node) {
  if (node.has("correction"))
    return node.real("correction");
  return node.flag("unbiased", true) ? 1 : 0;
}

/// With `Root` the standard deviation; with `Mean` the mean is a second result.
template <bool Root, bool Mean> static void importVariance(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectFloat(x);
  ReduceDims reduced = readDims(node, x);
  double correction = correctionOf(node);
  node.result(0, emitWide(node.emit, x, [&](Value wide) {
                Value variance = emitVariance(emit, wide, reduced.dims, correction, reduced.keep);
                return Root ? emit.unary<SqrtOp>(variance) : variance;
              }));
  if (Mean && node.wants(1))
    node.result(1, emitWide(node.emit, x, [&](Value wide) {
                  return emit.mean(wide, reduced.dims, reduced.keep);
                }));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void importCumsum(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  x = emit.cast(x, accumulatedType(node, x));
  int64_t rank = typeOf(x).getRank(), dim = node.dim(node.integer("dim"), rank);
  if (rank == 0)
    return node.result(x);
  node.result(emit.create<CumsumOp>(typeOf(x), x, emit.builder.getI64IntegerAttr(dim), UnitAttr(),
                                    UnitAttr()));
}

void weft::frontend::aten::addReduce(OpTable &table) {
  table["aten._is_all_true.default"] = importTruth<ReduceKind::Min>;
  table["aten._is_any_true.default"] = importTruth<ReduceKind::Max>;
  table["aten.all.default"] = importTruth<ReduceKind::Min>;
  table["aten.all.dim"] = importTruth<ReduceKind::Min>;
  table["aten.all.dims"] = importTruth<ReduceKind::Min>;
  table["aten.amax.default"] = importExtremes<ReduceKind::Max>;
  table["aten.amin.default"] = importExtremes<ReduceKind::Min>;
  table["aten.aminmax.default"] = importAminmax;
  table["aten.any.default"] = importTruth<ReduceKind::Max>;
  table["aten.any.dim"] = importTruth<ReduceKind::Max>;
  table["aten.any.dims"] = importTruth<ReduceKind::Max>;
  table["aten.count_nonzero.default"] = importCountNonzero;
  table["aten.count_nonzero.dim_IntList"] = importCountNonzero;
  table["aten.cumsum.default"] = importCumsum;
  table["aten.logsumexp.default"] = importLogSumExp;
  table["aten.mean.default"] = importMean;
  table["aten.mean.dim"] = importMean;
  table["aten.nanmean.default"] = importNanMean;
  table["aten.nansum.default"] = importNanSum;
  table["aten.prod.default"] = importSum<ReduceKind::Prod>;
  table["aten.prod.dim_int"] = importSum<ReduceKind::Prod>;
  table["aten.std.correction"] = importVariance<true, false>;
  table["aten.std.default"] = importVariance<true, false>;
  table["aten.std.dim"] = importVariance<true, false>;
  table["aten.std_mean.correction"] = importVariance<true, true>;
  table["aten.std_mean.default"] = importVariance<true, true>;
  table["aten.std_mean.dim"] = importVariance<true, true>;
  table["aten.sum.default"] = importSum<ReduceKind::Sum>;
  table["aten.sum.dim_IntList"] = importSum<ReduceKind::Sum>;
  table["aten.sum_to_size.default"] = importSumToSize;
  table["aten.var.correction"] = importVariance<false, false>;
  table["aten.var.default"] = importVariance<false, false>;
  table["aten.var.dim"] = importVariance<false, false>;
  table["aten.var_mean.correction"] = importVariance<false, true>;
  table["aten.var_mean.default"] = importVariance<false, true>;
  table["aten.var_mean.dim"] = importVariance<false, true>;
}

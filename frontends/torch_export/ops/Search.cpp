// Extremes and where they stand, order, and classes.

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Without dimension `dim` of size 1, unless it is kept. A scalar has no dimension to lose.
static Value dropDim(Emitter &emit, Value x, int64_t dim, bool keep) {
  if (keep)
    return x;
  Shape shape(shapeOf(x));
  shape.erase(shape.begin() + dim);
  return emit.reshape(x, shape);
}

/// A scalar as a vector of one, so that it has a dimension.
static Value withDimension(Emitter &emit, Value x) {
  return typeOf(x).getRank() == 0 ? emit.reshape(x, {1}) : x;
}

/// The extreme along a dimension, and its position.
template <ReduceKind Kind> static void importExtremeDim(Node &node) {
  Emitter &emit = node.emit;
  Value given = node.tensor("self"), x = withDimension(emit, given);
  int64_t dim = node.dim(node.integer("dim"), typeOf(x).getRank());
  bool keep = node.flag("keepdim", false) && typeOf(given).getRank() > 0;
  node.result(0, dropDim(emit, emit.reduce(Kind, x, {dim}, true), dim, keep));
  if (!node.wants(1))
    return;
  node.beginResult(1);
  node.result(1, dropDim(emit, emitArg(emit, Kind, x, dim), dim, keep));
}

template <ReduceKind Kind> static void importExtreme(Node &node) {
  Value x = node.tensor("self");
  node.result(node.emit.reduce(Kind, x, allDims(x), false));
}

/// Of all elements in a row, where no dimension is given.
template <ReduceKind Kind> static void importArg(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank();
  bool keep = node.flag("keepdim", false);
  if (node.has("dim")) {
    int64_t dim = node.dim(node.integer("dim"), rank);
    Value position = emitArg(emit, Kind, withDimension(emit, x), dim);
    return node.result(dropDim(emit, position, dim, keep && rank > 0));
  }
  Value flat = emit.reshape(x, {typeOf(x).getNumElements()});
  Shape shape(keep ? rank : 0, 1);
  node.result(emit.reshape(emitArg(emit, Kind, flat, 0), shape));
}

template <typename Op> static void importOther(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  node.result(node.emit.binary<Op>(operandAs(node, "self", type), operandAs(node, "other", type)));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static void sortInto(Node &node, Value x, int64_t dim, int64_t count, bool descending,
                     bool hasValues) {
  Emitter &emit = node.emit;
  Shape shape(shapeOf(x));
  x = withDimension(emit, x);
  if (!shape.empty())
    shape[dim] = count;
  TopK sorted = emitTopK(emit, x, count, dim, descending);
  size_t positions = hasValues ? 1 : 0;
  if (hasValues)
    node.result(0, emit.reshape(sorted.values, shape));
  if (node.wants(positions))
    node.result(positions, emit.reshape(sorted.positions, shape));
}

/// Always stable, which is one of the orders that an unstable sort may give.
template <bool HasValues> static void importSort(Node &node) {
  Value x = node.tensor("self");
  node.ignore({"stable"});
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(x).getRank());
  int64_t size = typeOf(x).getRank() == 0 ? 1 : shapeOf(x)[dim];
  sortInto(node, x, dim, size, node.flag("descending", false), HasValues);
}

static void importTopK(Node &node) {
  Value x = node.tensor("self");
  node.ignore({"sorted"});
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(x).getRank()), k = node.integer("k");
  int64_t size = typeOf(x).getRank() == 0 ? 1 : shapeOf(x)[dim];
  if (k < 0 || k > size)
    throw ImportError("k = " + std::to_string(k) + " is out of range: 0 to " +
                      std::to_string(size));
  sortInto(node, x, dim, k, node.flag("largest", true), true);
}

static void importMsort(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 1);
  sortInto(node, x, 0, shapeOf(x)[0], false, true);
}

/// The element at `place` once sorted ascending, and its position, with that dimension kept.
static TopK takeSorted(Emitter &emit, Value x, int64_t dim, int64_t place) {
  TopK sorted = emitTopK(emit, x, place + 1, dim, /*largest=*/false);
  return {emit.sliceDim(sorted.values, dim, place, 1),
          emit.sliceDim(sorted.positions, dim, place, 1)};
}

static void finishTaken(Node &node, const TopK &taken, int64_t dim) {
  bool keep = node.flag("keepdim", false);
  node.result(0, dropDim(node.emit, taken.values, dim, keep));
  if (node.wants(1))
    node.result(1, dropDim(node.emit, taken.positions, dim, keep));
}

static void importKthvalue(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(x).getRank()), k = node.integer("k");
  if (k < 1 || k > shapeOf(x)[dim])
    throw ImportError("k = " + std::to_string(k) + " is out of range: 1 to " +
                      std::to_string(shapeOf(x)[dim]));
  finishTaken(node, takeSorted(node.emit, x, dim, k - 1), dim);
}

/// The first element that is no number, and its position, instead of what is given where there is
/// one along `dim`.
static TopK preferNan(Emitter &emit, Value x, int64_t dim, TopK otherwise) {
  Value isNan = emit.compare(CompareDirection::NE, x, x);
  Value any = emit.reduce(ReduceKind::Max, isNan, {dim}, true);
  Value none = emit.like(otherwise.values, std::numeric_limits<double>::quiet_NaN());
  return {emit.select(any, none, otherwise.values),
          emit.select(any, emitArg(emit, ReduceKind::Max, isNan, dim), otherwise.positions)};
}

/// The lower of the two in the middle, or what is no number.
static void importMedian(Node &node) {
  Value x = node.tensor("self");
  bool isOfAll = !node.has("dim");
  if (isOfAll)
    x = node.emit.reshape(x, {typeOf(x).getNumElements()});
  expectRank(x, 1);
  int64_t dim = isOfAll ? 0 : node.dim(node.integer("dim"), typeOf(x).getRank());
  if (shapeOf(x)[dim] == 0)
    throw ImportError("nothing has no median");
  TopK taken = takeSorted(node.emit, x, dim, (shapeOf(x)[dim] - 1) / 2);
  if (isa<FloatType>(elementOf(x)))
    taken = preferNan(node.emit, x, dim, taken);
  finishTaken(node, taken, dim);
}

/// The value at `rank` (of floats, in [0, size)) between its neighbours in what is sorted along
/// `dim`; a rank of its own for each element of `ranks`, which becomes that dimension.
static Value interpolate(Emitter &emit, Value sorted, Value ranks, int64_t dim, StringRef rule) {
  auto at = [&](Value places) {
    return emit.gather(sorted, emit.cast(places, emit.builder.getI64Type()), dim);
  };
  Value low = emit.unary<FloorOp>(ranks), high = emit.unary<CeilOp>(ranks);
  if (rule == "lower" || rule == "higher")
    return at(rule == "lower" ? low : high);
  if (rule == "nearest")
    return at(emit.unary<RoundOp>(ranks));
  if (rule != "linear" && rule != "midpoint")
    throw ImportError("interpolation '" + rule.str() + "' is not known");
  Value below = at(low), step = emit.binary<SubOp>(at(high), below);
  Value weight = rule == "linear" ? emit.binary<SubOp>(ranks, low) : emit.like(ranks, 0.5);
  weight = emit.broadcastDims(weight, shapeOf(below), {dim});
  return emit.binary<AddOp>(below, emit.binary<MulOp>(weight, step));
}

/// `q`, in the type of x.
static Value readQuantiles(Node &node, Value x) {
  Emitter &emit = node.emit;
  Value q = node.isTensor("q")
                ? node.tensor("q")
                : emit.splat(RankedTensorType::get({}, elementOf(x)), node.real("q"));
  if (const Tensor *known = emit.valueOf(q))
    for (double number : numbersOf<double>(*known))
      if (!(number >= 0 && number <= 1))
        throw ImportError("quantile " + std::to_string(number) + " is out of range: 0 to 1");
  return q;
}

/// Where a row holds a not-a-number, that is its quantile. Several quantiles stand along a new
/// first dimension.
static void importQuantile(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), q = readQuantiles(node, x);
  expectFloat(x);
  int64_t rank = typeOf(x).getRank();
  bool keep = node.flag("keepdim", false), isOfAll = !node.has("dim");
  if (isOfAll)
    x = emit.reshape(x, {typeOf(x).getNumElements()});
  x = withDimension(emit, x);
  int64_t dim = isOfAll ? 0 : node.dim(node.integer("dim"), rank), size = shapeOf(x)[dim];
  if (size == 0)
    throw ImportError("nothing has no quantiles");
  Value sorted = emitTopK(emit, x, size, dim, /*largest=*/false).values;
  Value ranks = emit.binary<MulOp>(emit.reshape(q, {typeOf(q).getNumElements()}),
                                   emit.splat(RankedTensorType::get({}, elementOf(x)), size - 1));
  Value found = interpolate(emit, sorted, ranks, dim, node.text("interpolation", "linear"));
  Value last = emit.broadcast(emit.sliceDim(sorted, dim, size - 1, 1), shapeOf(found));
  found = emit.select(emit.compare(CompareDirection::NE, last, last), last, found);
  Shape order = allDims(found), shape(shapeOf(x));
  order.erase(order.begin() + dim);
  order.insert(order.begin(), dim);
  shape.erase(shape.begin() + dim);
  if (keep)
    shape.insert(shape.begin() + dim, 1);
  if (keep && isOfAll)
    shape.assign(rank, 1);
  if (typeOf(q).getRank() > 0)
    shape.insert(shape.begin(), shapeOf(q)[0]);
  node.result(emit.reshape(emit.transpose(found, order), shape));
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

static void importOneHot(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  int64_t classes = node.integer("num_classes", -1);
  if (classes < 1)
    throw ImportError("the number of classes depends on values: give num_classes");
  Value hot = emitOneHot(emit, x, classes, typeOf(x).getRank());
  node.result(emit.cast(hot, emit.builder.getI64Type()));
}

/// Whether each element is one of others.
static void importIsIn(Node &node) {
  Emitter &emit = node.emit;
  node.ignore({"assume_unique"});
  StringRef one = node.has("element") ? "element" : "elements",
            others = node.has("test_element") ? "test_element" : "test_elements";
  Type type = promotedType(node, {one, others});
  Value x = operandAs(node, one, type), known = operandAs(node, others, type);
  Shape shape(shapeOf(x));
  shape.push_back(1);
  Value equal = emit.compare(CompareDirection::EQ, emit.reshape(x, shape),
                             emit.reshape(known, {typeOf(known).getNumElements()}));
  Value found = emit.reduce(ReduceKind::Max, equal, {int64_t(shape.size()) - 1}, false);
  node.result(node.flag("invert", false) ? emit.unary<NotOp>(found) : found);
}

void weft::frontend::aten::addSearch(OpTable &table) {
  table["aten.argmax.default"] = importArg<ReduceKind::Max>;
  table["aten.argmin.default"] = importArg<ReduceKind::Min>;
  table["aten.argsort.default"] = importSort<false>;
  table["aten.argsort.stable"] = importSort<false>;
  table["aten.isin.Scalar_Tensor"] = importIsIn;
  table["aten.isin.Tensor_Scalar"] = importIsIn;
  table["aten.isin.Tensor_Tensor"] = importIsIn;
  table["aten.kthvalue.default"] = importKthvalue;
  table["aten.max.default"] = importExtreme<ReduceKind::Max>;
  table["aten.max.dim"] = importExtremeDim<ReduceKind::Max>;
  table["aten.max.other"] = importOther<MaxOp>;
  table["aten.maximum.default"] = importOther<MaxOp>;
  table["aten.median.default"] = importMedian;
  table["aten.median.dim"] = importMedian;
  table["aten.min.default"] = importExtreme<ReduceKind::Min>;
  table["aten.min.dim"] = importExtremeDim<ReduceKind::Min>;
  table["aten.min.other"] = importOther<MinOp>;
  table["aten.minimum.default"] = importOther<MinOp>;
  table["aten.msort.default"] = importMsort;
  table["aten.one_hot.default"] = importOneHot;
  table["aten.quantile.default"] = importQuantile;
  table["aten.quantile.scalar"] = importQuantile;
  table["aten.sort.default"] = importSort<true>;
  table["aten.sort.stable"] = importSort<true>;
  table["aten.topk.default"] = importTopK;
}

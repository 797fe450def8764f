// Extremes and where they stand, order, and classes.

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

/// The position of the first extreme, as which what is no number counts.
static Value positionOf(Emitter &emit, ReduceKind kind, Value x, int64_t dim) {
  if (isa<FloatType>(elementOf(x))) {
    double infinity = std::numeric_limits<double>::infinity();
    Value isNan = emit.create<IsNanOp>(typeOf(x).clone(emit.builder.getI1Type()), x);
    x = emit.select(isNan, emit.like(x, kind == ReduceKind::Max ? infinity : -infinity), x);
  }
  return emitArg(emit, kind, x, dim);
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
  node.result(1, dropDim(emit, positionOf(emit, Kind, x, dim), dim, keep));
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
    Value position = positionOf(emit, Kind, withDimension(emit, x), dim);
    return node.result(dropDim(emit, position, dim, keep && rank > 0));
  }
  Value flat = emit.reshape(x, {typeOf(x).getNumElements()});
  Shape shape(keep ? rank : 0, 1);
  node.result(emit.reshape(positionOf(emit, Kind, flat, 0), shape));
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

/// The element at `place` once sorted ascending, and its position.
static void takeSorted(Node &node, Value x, int64_t dim, int64_t place, bool keep) {
  Emitter &emit = node.emit;
  TopK sorted = emitTopK(emit, x, place + 1, dim, /*largest=*/false);
  node.result(0, dropDim(emit, emit.sliceDim(sorted.values, dim, place, 1), dim, keep));
  if (node.wants(1))
    node.result(1, dropDim(emit, emit.sliceDim(sorted.positions, dim, place, 1), dim, keep));
}

static void importKthvalue(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(x).getRank()), k = node.integer("k");
  if (k < 1 || k > shapeOf(x)[dim])
    throw ImportError("k = " + std::to_string(k) + " is out of range: 1 to " +
                      std::to_string(shapeOf(x)[dim]));
  takeSorted(node, x, dim, k - 1, node.flag("keepdim", false));
}

/// The lower of the two in the middle.
static void importMedian(Node &node) {
  Value x = node.tensor("self");
  bool isOfAll = !node.has("dim");
  if (isOfAll)
    x = node.emit.reshape(x, {typeOf(x).getNumElements()});
  expectRank(x, 1);
  int64_t dim = isOfAll ? 0 : node.dim(node.integer("dim"), typeOf(x).getRank());
  if (shapeOf(x)[dim] == 0)
    throw ImportError("nothing has no median");
  takeSorted(node, x, dim, (shapeOf(x)[dim] - 1) / 2, node.flag("keepdim", false));
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

void weft::frontend::aten::addSearch(OpTable &table) {
  table["aten.argmax.default"] = importArg<ReduceKind::Max>;
  table["aten.argmin.default"] = importArg<ReduceKind::Min>;
  table["aten.argsort.default"] = importSort<false>;
  table["aten.argsort.stable"] = importSort<false>;
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
  table["aten.sort.default"] = importSort<true>;
  table["aten.sort.stable"] = importSort<true>;
  table["aten.topk.default"] = importTopK;
}

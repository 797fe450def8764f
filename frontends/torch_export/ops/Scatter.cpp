// Operators that put elements at indices.

#include "frontends/common/Composites.h"
#include "frontends/common/Division.h"
#include "frontends/common/Identity.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {
/// What scatter operators have in common; a scalar counts as a vector of one.
struct Scatter {
  Value self, index;
  Shape result; ///< the shape of `self` as given
  int64_t dim;
};
} // namespace

static Value atLeastVector(Emitter &emit, Value x) {
  return typeOf(x).getRank() == 0 ? emit.reshape(x, {1}) : x;
}

static Scatter readScatter(Node &node) {
  Value self = node.tensor("self"), index = countedFromStart(node.emit, node.tensor("index"));
  Shape result(shapeOf(self));
  self = atLeastVector(node.emit, self);
  index = atLeastVector(node.emit, index);
  int64_t rank = typeOf(self).getRank();
  expectExactRank(index, rank);
  return {self, index, result, node.dim(node.integer("dim"), rank)};
}

/// The part of the source that has indices.
static Value readSource(Node &node, const Scatter &scatter) {
  Emitter &emit = node.emit;
  Value source = atLeastVector(emit, node.tensor("src"));
  expectExactRank(source, typeOf(scatter.self).getRank());
  for (auto [have, need] : llvm::zip(shapeOf(source), shapeOf(scatter.index)))
    if (have < need)
      throw ImportError("source " + describe(source) + " is smaller than index " +
                        describe(scatter.index));
  Shape starts(shapeOf(source).size(), 0), strides(starts.size(), 1);
  return emit.slice(source, starts, shapeOf(scatter.index), strides);
}

static Value scattered(Emitter &emit, ScatterKind kind, const Scatter &scatter, Value updates) {
  if (typeOf(scatter.index).getNumElements() == 0)
    return scatter.self;
  updates = emit.cast(updates, elementOf(scatter.self));
  return emit.create<ScatterElementsOp>(typeOf(scatter.self), kind, scatter.self, scatter.index,
                                        updates, scatter.dim);
}

static void finish(Node &node, const Scatter &scatter, Value value) {
  node.result(node.emit.reshape(value, scatter.result));
}

static Value readValue(Node &node, const Scatter &scatter) {
  Value value = constantOf(node.emit, node.number("value"), elementOf(scatter.self));
  return node.emit.broadcast(value, shapeOf(scatter.index));
}

static ScatterKind readKind(Node &node) {
  std::string name = node.text("reduce", "");
  if (name == "add" || name == "sum" || name == "mean")
    return ScatterKind::Add;
  if (name == "multiply" || name == "prod")
    return ScatterKind::Mul;
  if (name == "amax")
    return ScatterKind::Max;
  if (name == "amin")
    return ScatterKind::Min;
  throw ImportError("reduction '" + name + "' is not known");
}

/// By which updates are joined with each other.
static ReduceKind reduceKindOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Mul:
    return ReduceKind::Prod;
  case ScatterKind::Max:
    return ReduceKind::Max;
  case ScatterKind::Min:
    return ReduceKind::Min;
  default:
    return ReduceKind::Sum;
  }
}

static void importScatter(Node &node) {
  Scatter scatter = readScatter(node);
  ScatterKind kind = node.has("reduce") ? readKind(node) : ScatterKind::Set;
  Value updates = node.has("src") ? readSource(node, scatter) : readValue(node, scatter);
  finish(node, scatter, scattered(node.emit, kind, scatter, updates));
}

static void importScatterAdd(Node &node) {
  Scatter scatter = readScatter(node);
  finish(node, scatter, scattered(node.emit, ScatterKind::Add, scatter, readSource(node, scatter)));
}

/// Without `include_self`, elements that receive something start from the reduction's identity; the
/// mean divides by how many were joined.
static Value reduced(Node &node, Scatter scatter, Value updates) {
  Emitter &emit = node.emit;
  Value self = scatter.self;
  ScatterKind kind = readKind(node);
  bool isMean = node.text("reduce", "") == "mean", includesSelf = node.flag("include_self", true);
  Scatter count = scatter; // in a type that counts any number of updates
  Type wide = isa<FloatType>(elementOf(self)) ? computeType(node, elementOf(self))
                                              : Type(emit.builder.getI64Type());
  count.self = emit.splat(typeOf(self).clone(wide), 0);
  Value ones = emit.splat(typeOf(updates).clone(wide), 1);
  Value received = scattered(emit, ScatterKind::Add, count, ones);
  Value touched = emit.compare(CompareDirection::GT, received, emit.like(received, 0));
  if (!includesSelf)
    scatter.self = emit.select(
        touched, emit.like(self, identityOf(reduceKindOf(kind), elementOf(self))), self);
  Value result = scattered(emit, kind, scatter, updates);
  if (!isMean)
    return result;
  Value one = emit.like(received, 1);
  Value joined =
      includesSelf ? emit.binary<AddOp>(received, one) : emit.binary<MaxOp>(received, one);
  result = emit.cast(result, wide);
  result = isa<FloatType>(wide) ? emit.binary<DivOp>(result, joined)
                                : emitFloorQuotient(emit, result, joined);
  return emit.cast(result, elementOf(self));
}

static void importScatterReduce(Node &node) {
  Scatter scatter = readScatter(node);
  finish(node, scatter, reduced(node, scatter, readSource(node, scatter)));
}

//===----------------------------------------------------------------------===//
// Along one dimension, at the entries of a vector
//===----------------------------------------------------------------------===//

namespace {
struct Rows {
  Value self, index, source;
  int64_t dim;
};
} // namespace

static Rows readRows(Node &node, StringRef source) {
  Value self = node.tensor("self"), index = node.tensor("index");
  expectRank(self, 1);
  if (source != "value") // index_fill alone counts from the end
    index = countedFromStart(node.emit, index);
  index = node.emit.reshape(index, {typeOf(index).getNumElements()});
  Rows rows{self, index, {}, node.dim(node.integer("dim"), typeOf(self).getRank())};
  Shape shape(shapeOf(self));
  shape[rows.dim] = shapeOf(index)[0];
  if (node.isTensor(source))
    rows.source = node.emit.cast(node.tensor(source), elementOf(self));
  else
    rows.source = constantOf(node.emit, node.number(source), elementOf(self));
  rows.source = node.emit.broadcast(rows.source, shape);
  return rows;
}

static Scatter scatterOf(Emitter &emit, const Rows &rows) {
  Value index = emit.broadcastDims(rows.index, shapeOf(rows.source), {rows.dim});
  return {rows.self, index, Shape(shapeOf(rows.self)), rows.dim};
}

static Value putRows(Emitter &emit, ScatterKind kind, const Rows &rows) {
  return scattered(emit, kind, scatterOf(emit, rows), rows.source);
}

static void importIndexAdd(Node &node) {
  Rows rows = readRows(node, "source");
  if (node.has("alpha") && asDouble(node.number("alpha")) != 1) {
    Value alpha = constantOf(node.emit, node.number("alpha"), elementOf(rows.self));
    rows.source = node.emit.binary<MulOp>(rows.source, alpha);
  }
  node.result(putRows(node.emit, ScatterKind::Add, rows));
}

static void importIndexCopy(Node &node) {
  node.result(putRows(node.emit, ScatterKind::Set, readRows(node, "source")));
}

static void importIndexFill(Node &node) {
  node.result(putRows(node.emit, ScatterKind::Set, readRows(node, "value")));
}

static void importIndexReduce(Node &node) {
  Rows rows = readRows(node, "source");
  node.result(reduced(node, scatterOf(node.emit, rows), rows.source));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value weft::frontend::aten::replaceSlice(Emitter &emit, Value x, Value part,
                                         const SliceRange &range) {
  part = emit.cast(part, elementOf(x));
  if (range.count == 0)
    return x;
  if (range.computedStart)
    return putRows(emit, ScatterKind::Set, {x, positionsIn(emit, range), part, range.dim});
  if (range.count == shapeOf(x)[range.dim])
    return part;
  if (range.stride == 1) {
    int64_t end = range.start + range.count, rest = shapeOf(x)[range.dim] - end;
    SmallVector<Value> parts{part};
    if (range.start > 0)
      parts.insert(parts.begin(), emit.sliceDim(x, range.dim, 0, range.start));
    if (rest > 0)
      parts.push_back(emit.sliceDim(x, range.dim, end, rest));
    return emit.concat(parts, range.dim);
  }
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < range.count; ++i)
    positions.push_back(range.start + i * range.stride);
  return putRows(emit, ScatterKind::Set, {x, emit.integers(positions), part, range.dim});
}

static void importSliceScatter(Node &node) {
  Value x = node.tensor("self");
  SliceRange range = readSlice(node, x);
  Shape shape(shapeOf(x));
  shape[range.dim] = range.count;
  node.result(replaceSlice(node.emit, x, node.emit.broadcast(node.tensor("src"), shape), range));
}

static void importSelectScatter(Node &node) {
  Value x = node.tensor("self");
  SliceRange range = readSelect(node, x);
  Shape shape(shapeOf(x));
  shape[range.dim] = 1;
  Value part = node.emit.reshape(node.tensor("src"), shape);
  node.result(replaceSlice(node.emit, x, part, range));
}

void weft::frontend::aten::addScatter(OpTable &table) {
  table["aten.index_add.default"] = importIndexAdd;
  table["aten.index_copy.default"] = importIndexCopy;
  table["aten.index_fill.int_Scalar"] = importIndexFill;
  table["aten.index_fill.int_Tensor"] = importIndexFill;
  table["aten.index_reduce.default"] = importIndexReduce;
  table["aten.scatter.reduce"] = importScatter;
  table["aten.scatter.src"] = importScatter;
  table["aten.scatter.value"] = importScatter;
  table["aten.scatter.value_reduce"] = importScatter;
  table["aten.scatter_add.default"] = importScatterAdd;
  table["aten.scatter_reduce.two"] = importScatterReduce;
  table["aten.select_scatter.default"] = importSelectScatter;
  table["aten.slice_scatter.default"] = importSliceScatter;
}

// Operators that take elements at indices of every element, or of those that a mask names.

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Composites.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static Value atLeastVector(Emitter &emit, Value x) {
  return typeOf(x).getRank() == 0 ? emit.reshape(x, {1}) : x;
}

static Value flattened(Emitter &emit, Value x) {
  return emit.reshape(x, {typeOf(x).getNumElements()});
}

static Value gatherElements(Emitter &emit, Value x, Value index, int64_t dim) {
  for (auto [at, size] : llvm::enumerate(shapeOf(index)))
    if (int64_t(at) != dim && size > shapeOf(x)[at])
      throw ImportError("indices " + describe(index) + " exceed " + describe(x));
  return emit.create<GatherElementsOp>(typeOf(x).clone(shapeOf(index)), x, index, dim);
}

static void importGather(Node &node) {
  Value given = countedFromStart(node.emit, node.tensor("index"));
  Value x = atLeastVector(node.emit, node.tensor("self")), index = atLeastVector(node.emit, given);
  node.ignore({"sparse_grad"});
  expectExactRank(index, typeOf(x).getRank());
  int64_t dim = node.dim(node.integer("dim"), typeOf(x).getRank());
  node.result(node.emit.reshape(gatherElements(node.emit, x, index, dim), shapeOf(given)));
}

/// Without a dimension, of all elements in a row.
static void importTakeAlongDim(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), index = node.tensor("indices");
  if (!node.has("dim"))
    return node.result(gatherElements(emit, flattened(emit, x), flattened(emit, index), 0));
  int64_t rank = typeOf(x).getRank(), dim = node.dim(node.integer("dim"), rank);
  expectExactRank(index, rank);
  Shape shape(shapeOf(x)), wanted(shapeOf(index));
  for (int64_t at = 0; at < rank; ++at)
    if (at != dim)
      shape[at] = wanted[at] = std::max(shape[at], wanted[at]);
  node.result(gatherElements(emit, emit.broadcast(x, shape), emit.broadcast(index, wanted), dim));
}

/// Of all elements in a row.
static void importTake(Node &node) {
  node.result(node.emit.gather(flattened(node.emit, node.tensor("self")), node.tensor("index"), 0));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// One row of indices for each element that is not 0, which must be known.
static void importNonzero(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  if (!emit.valueOf(x))
    throw ImportError("the number of results depends on values, which is not supported");
  SmallVector<Value> columns = positionsOf(node, emit.cast(x, emit.builder.getI1Type()));
  if (columns.empty())
    throw ImportError("expected rank 1 or more, got " + describe(x));
  for (Value &column : columns)
    column = emit.reshape(column, {shapeOf(column)[0], 1});
  node.result(emit.concat(columns, 1));
}

static void importMaskedSelect(Node &node) {
  Emitter &emit = node.emit;
  auto [x, mask] = std::pair(node.tensor("self"), node.tensor("mask"));
  Shape shape = broadcastShape({x, mask});
  Value flat = flattened(emit, emit.broadcast(mask, shape));
  Value position = positionsOf(node, flat).front();
  node.result(emit.gather(flattened(emit, emit.broadcast(x, shape)), position, 0));
}

/// The element under the i-th true of the mask becomes the i-th of the source: running sums count.
static void importMaskedScatter(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), source = flattened(emit, node.tensor("source"));
  Value mask = emit.broadcast(node.tensor("mask"), shapeOf(x));
  if (typeOf(x).getNumElements() == 0 || typeOf(source).getNumElements() == 0)
    return node.result(x);
  Value flat = emit.cast(flattened(emit, mask), emit.builder.getI64Type());
  Value count = emit.create<CumsumOp>(typeOf(flat), flat, emit.builder.getI64IntegerAttr(0),
                                      UnitAttr(), UnitAttr());
  Value position = emit.binary<SubOp>(count, emit.like(count, 1));
  position = emit.binary<MaxOp>(position, emit.like(position, 0));
  // Beyond the mask's last true, positions may lie behind the source; nothing is taken there.
  double last = double(typeOf(source).getNumElements() - 1);
  position = emit.binary<MinOp>(position, emit.like(position, last));
  Value taken = emit.reshape(emit.gather(source, position, 0), shapeOf(x));
  node.result(emit.select(mask, taken, x));
}

//===----------------------------------------------------------------------===//
// Bags
//===----------------------------------------------------------------------===//

/// Sums or means of rows of a table: with bags that are known, a product with a constant matrix.
static void importEmbeddingBag(Node &node) {
  Emitter &emit = node.emit;
  Value table = node.tensor("weight"), indices = countedFromStart(emit, node.tensor("indices")),
        offsets = node.tensor("offsets");
  node.ignore({"scale_grad_by_freq", "sparse"});
  int64_t mode = node.integer("mode", 0);
  bool hasEnd = node.flag("include_last_offset", false);
  const Tensor *known = emit.valueOf(offsets);
  if (!known || mode > 1 || node.integer("padding_idx", -1) >= 0)
    throw ImportError("only sums and means of bags that begin at constant places, without "
                      "padding, are supported");
  expectExactRank(indices, 1);
  int64_t count = shapeOf(indices)[0], bags = known->size() - hasEnd;
  if (bags < 0)
    throw ImportError("the bags have no end");
  if (double(known->size()) * double(std::max<int64_t>(count, 1)) > 1 << 24)
    throw ImportError("the table of " + std::to_string(bags) + " bags of " + std::to_string(count) +
                      " indices is too large");
  std::vector<int64_t> starts = numbersOf<int64_t>(*known);
  if (!hasEnd)
    starts.push_back(count);
  std::vector<double> weights(std::max<int64_t>(bags, 0) * count, 0);
  for (int64_t bag = 0; bag < bags; ++bag) {
    int64_t first = starts[bag], last = starts[bag + 1];
    if (first < 0 || last < first || last > count)
      throw ImportError("the bags' places are out of order");
    for (int64_t at = first; at < last; ++at)
      weights[bag * count + at] = mode == 1 ? 1 / double(last - first) : 1;
  }
  Value rows = emit.gather(table, indices, 0);
  if (Value perSample = node.optionalTensor("per_sample_weights"))
    rows = emit.binary<MulOp>(rows, emit.reshape(perSample, {count, 1}));
  Value matrix = emit.constant(tensorOf(typeOf(rows).clone({bags, count}), weights));
  node.result(0, emit.dot(matrix, rows, {{}, {}, {1}, {0}}));
  for (size_t index = 1; index < node.results(); ++index)
    node.omitResult(index);
}

void weft::frontend::aten::addGather(OpTable &table) {
  table["aten._embedding_bag.default"] = importEmbeddingBag;
  table["aten._embedding_bag_forward_only.default"] = importEmbeddingBag;
  table["aten.embedding_bag.default"] = importEmbeddingBag;
  table["aten.embedding_bag.padding_idx"] = importEmbeddingBag;
  table["aten.gather.default"] = importGather;
  table["aten.masked_scatter.default"] = importMaskedScatter;
  table["aten.masked_select.default"] = importMaskedSelect;
  table["aten.nonzero.default"] = importNonzero;
  table["aten.take.default"] = importTake;
  table["aten.take_along_dim.default"] = importTakeAlongDim;
}

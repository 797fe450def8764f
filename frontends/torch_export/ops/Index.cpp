// Operators that take elements at indices.

#include "frontends/torch_export/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static void importCumsum(Node &node) {
  Emitter &emit = node.emit;
  Value self = node.tensor("self");
  Type element = elementOf(self);
  Value x = emit.cast(
      self, node.dtype("dtype", element.isInteger() ? emit.builder.getI64Type() : element));
  int64_t axis = node.dim(node.integer("dim"), typeOf(x).getRank());
  if (typeOf(x).getRank() == 0)
    return node.result(x);
  node.result(emit.create<CumsumOp>(typeOf(x), x, emit.builder.getI64IntegerAttr(axis), UnitAttr(),
                                    UnitAttr()));
}

static void importEmbedding(Node &node) {
  Value table = node.tensor("weight");
  expectExactRank(table, 2);
  node.ignore({"padding_idx", "scale_grad_by_freq", "sparse"}); // of the backward pass
  node.result(node.emit.gather(table, node.tensor("indices"), 0));
}

//===----------------------------------------------------------------------===//
// Advanced indexing
//===----------------------------------------------------------------------===//

namespace {
/// x[:, i, :, j]: dimensions with an index tensor, and these tensors.
struct Indices {
  Shape dims;
  SmallVector<Value> tensors;
  bool adjacent() const { return dims.back() - dims.front() + 1 == int64_t(dims.size()); }
};
} // namespace

/// Bools are indices of the elements that are true, one tensor for each dimension: a shape that
/// depends on values, unless they are known.
static SmallVector<Value> positionsOf(Node &node, Value mask) {
  const Tensor *known = node.emit.valueOf(mask);
  if (!known)
    throw ImportError("an index of bools that are not constants gives a shape that depends on "
                      "values, which is not supported");
  std::vector<int64_t> truths = numbersOf<int64_t>(*known);
  ArrayRef<int64_t> shape = shapeOf(mask);
  SmallVector<Shape> positions(shape.size());
  for (auto [flat, truth] : llvm::enumerate(truths)) {
    int64_t rest = flat;
    for (int64_t dim = shape.size() - 1; truth != 0 && dim >= 0; rest /= shape[dim--])
      positions[dim].push_back(rest % shape[dim]);
  }
  SmallVector<Value> tensors;
  for (const Shape &at : positions)
    tensors.push_back(node.emit.integers(at));
  return tensors;
}

static Indices readIndices(Node &node, Value x) {
  Indices indices;
  int64_t dim = 0;
  for (Value index : node.optionalTensors("indices")) {
    if (!index) {
      ++dim;
      continue;
    }
    SmallVector<Value> tensors{index};
    if (elementOf(index).isInteger(1))
      tensors = positionsOf(node, index);
    else if (!elementOf(index).isInteger())
      throw ImportError("expected integer indices, got " + describe(index));
    for (Value tensor : tensors) {
      indices.dims.push_back(dim++);
      indices.tensors.push_back(tensor);
    }
  }
  if (indices.dims.empty() || dim > typeOf(x).getRank())
    throw ImportError("the indices do not fit " + describe(x));
  return indices;
}

/// One index takes slices along its dimension. Several are broadcast together and select by tuples:
/// their dimensions move to the front for it, and the result's stay there unless they are adjacent.
static void importIndex(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Indices indices = readIndices(node, x);
  if (indices.dims.size() == 1)
    return node.result(emit.gather(x, indices.tensors.front(), indices.dims.front()));
  Shape shape = broadcastShape(indices.tensors), front(indices.dims), tuple(shape);
  tuple.push_back(1);
  SmallVector<Value> columns;
  for (Value index : indices.tensors) {
    Value wide = emit.cast(emit.broadcast(index, shape), emit.builder.getI64Type());
    columns.push_back(emit.reshape(wide, tuple));
  }
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    if (!llvm::is_contained(indices.dims, dim))
      front.push_back(dim);
  Value moved = emit.transpose(x, front);
  Shape result(shape);
  llvm::append_range(result, shapeOf(moved).drop_front(indices.dims.size()));
  Value taken = emit.create<GatherNdOp>(typeOf(x).clone(result), moved,
                                        emit.concat(columns, shape.size()), /*batch_dims=*/0);
  if (!indices.adjacent())
    return node.result(taken);
  // The dimensions before the first index come first again.
  int64_t before = indices.dims.front(), joined = shape.size();
  Shape permutation;
  for (int64_t dim = 0; dim < before; ++dim)
    permutation.push_back(joined + dim);
  for (int64_t dim = 0; dim < joined; ++dim)
    permutation.push_back(dim);
  for (int64_t dim = joined + before; dim < int64_t(result.size()); ++dim)
    permutation.push_back(dim);
  node.result(emit.transpose(taken, permutation));
}

static void importIndexSelect(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim"), typeOf(x).getRank());
  Value index = node.tensor("index");
  if (typeOf(index).getRank() == 0)
    index = node.emit.reshape(index, {1});
  node.result(node.emit.gather(x, index, dim));
}

void weft::frontend::aten::addIndex(OpTable &table) {
  table["aten.cumsum.default"] = importCumsum;
  table["aten.embedding.default"] = importEmbedding;
  table["aten.index.Tensor"] = importIndex;
  table["aten.index_select.default"] = importIndexSelect;
}

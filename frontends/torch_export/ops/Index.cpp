// Operators that take elements at indices.

#include "frontends/common/StopGradient.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static void importEmbedding(Node &node) {
  Value table = node.tensor("weight");
  expectExactRank(table, 2);
  node.ignore({"scale_grad_by_freq", "sparse"}); // of the backward pass
  Value indices = countedFromStart(node.emit, node.tensor("indices"));
  node.result(emitEmbedding(node.emit, table, indices, node.integer("padding_idx", -1)));
}

//===----------------------------------------------------------------------===//
// Advanced indexing
//===----------------------------------------------------------------------===//

/// One index takes slices along its dimension. Several are broadcast together and select by tuples:
/// their dimensions move to the front for it, and the result's stay there unless they are adjacent.
static void importIndex(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Indices indices = readIndices(node, x);
  if (indices.dims.size() == 1)
    return node.result(emit.gather(x, indices.tensors.front(), indices.dims.front()));
  Shape shape = broadcastShape(indices.tensors), front(indices.dims);
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    if (!llvm::is_contained(indices.dims, dim))
      front.push_back(dim);
  Value moved = emit.transpose(x, front);
  Shape result(shape);
  llvm::append_range(result, shapeOf(moved).drop_front(indices.dims.size()));
  Value taken = emit.create<GatherNdOp>(typeOf(x).clone(result), moved,
                                        tuplesOf(emit, indices, shape), /*batch_dims=*/0);
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
  Value index = countedFromStart(node.emit, node.tensor("index"));
  if (typeOf(index).getRank() == 0)
    index = node.emit.reshape(index, {1});
  node.result(node.emit.gather(x, index, dim));
}

void weft::frontend::aten::addIndex(OpTable &table) {
  table["aten.embedding.default"] = importEmbedding;
  table["aten.index.Tensor"] = importIndex;
  table["aten.index_select.default"] = importIndexSelect;
}

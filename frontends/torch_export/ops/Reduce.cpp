// Reductions.

#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
struct Dims {
  Shape dims;
  bool keep;
};
} // namespace

/// The dimensions that are reduced: all where `dim` is absent, None or empty.
static Dims readDims(Node &node, Value x) {
  int64_t rank = typeOf(x).getRank();
  Shape given = node.integers("dim", {});
  bool keep = node.flag("keepdim", false);
  if (given.empty() || rank == 0)
    return {llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank)), keep};
  return {node.dims(given, rank), keep};
}

static void importMean(Node &node) {
  Value self = node.tensor("self");
  Value x = node.emit.cast(self, node.dtype("dtype", elementOf(self)));
  expectFloat(x);
  Dims dims = readDims(node, x);
  node.result(node.emit.mean(x, dims.dims, dims.keep));
}

/// Integers and bools are summed as int64.
static void importSum(Node &node) {
  Value self = node.tensor("self");
  Type element = elementOf(self);
  Type type = node.dtype("dtype", element.isInteger() ? node.emit.builder.getI64Type() : element);
  Dims dims = readDims(node, self);
  node.result(node.emit.reduce(ReduceKind::Sum, node.emit.cast(self, type), dims.dims, dims.keep));
}

/// Whether any (all) of the elements are not 0.
template <ReduceKind kind> static void importAnyOrAll(Node &node) {
  Value x = node.emit.cast(node.tensor("self"), node.emit.builder.getI1Type());
  Dims dims = readDims(node, x);
  node.result(node.emit.reduce(kind, x, dims.dims, dims.keep));
}

void weft::frontend::aten::addReduce(OpTable &table) {
  table["aten.all.default"] = importAnyOrAll<ReduceKind::Min>;
  table["aten.all.dim"] = importAnyOrAll<ReduceKind::Min>;
  table["aten.all.dims"] = importAnyOrAll<ReduceKind::Min>;
  table["aten.any.default"] = importAnyOrAll<ReduceKind::Max>;
  table["aten.any.dim"] = importAnyOrAll<ReduceKind::Max>;
  table["aten.any.dims"] = importAnyOrAll<ReduceKind::Max>;
  table["aten.mean.default"] = importMean;
  table["aten.mean.dim"] = importMean;
  table["aten.sum.default"] = importSum;
  table["aten.sum.dim_IntList"] = importSum;
}

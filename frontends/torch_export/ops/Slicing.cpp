// Operators that take tensors apart and join them.

#include "frontends/common/Parts.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Operands of one type: that to which they all promote.
static SmallVector<Value> promotedTensors(Node &node) {
  SmallVector<Value> tensors = node.tensors("tensors");
  Promotion promotion(node.emit.builder.getContext());
  for (Value tensor : tensors)
    promotion.add(tensor);
  for (Value &tensor : tensors)
    tensor = node.emit.cast(tensor, promotion.result());
  return tensors;
}

static void importCat(Node &node) {
  SmallVector<Value> tensors = promotedTensors(node);
  // Tensors of shape [0] are left out, whatever the others' shape: a rule of old.
  SmallVector<Value> parts = llvm::filter_to_vector(
      tensors, [](Value tensor) { return shapeOf(tensor) != ArrayRef<int64_t>{0}; });
  if (parts.empty())
    return node.result(tensors.front());
  int64_t dim = node.dim(node.integer("dim", 0), typeOf(parts.front()).getRank());
  expectRank(parts.front(), 1);
  node.result(node.emit.concat(parts, dim));
}

static void importStack(Node &node) {
  SmallVector<Value> tensors = promotedTensors(node);
  int64_t dim = node.dim(node.integer("dim", 0), typeOf(tensors.front()).getRank() + 1);
  for (Value &tensor : tensors) {
    Shape shape(shapeOf(tensor));
    if (dim > int64_t(shape.size()))
      throw ImportError("cannot join " + describe(tensors.front()) + " and " + describe(tensor));
    shape.insert(shape.begin() + dim, 1);
    tensor = node.emit.reshape(tensor, shape);
  }
  node.result(node.emit.concat(tensors, dim));
}

/// Dimension `dim` of a tensor that has dimensions.
static int64_t readDim(Node &node, Value x, int64_t otherwise) {
  expectRank(x, 1);
  return node.dim(node.integer("dim", otherwise), typeOf(x).getRank());
}

static void importSelect(Node &node) {
  Value x = node.tensor("self");
  SliceRange range = readSelect(node, x);
  Shape shape(shapeOf(x));
  shape.erase(shape.begin() + range.dim);
  node.result(node.emit.reshape(takeSlice(node.emit, x, range), shape));
}

static void importSlice(Node &node) {
  Value x = node.tensor("self");
  node.result(takeSlice(node.emit, x, readSlice(node, x)));
}

/// Parts of `size`, the last one what is left.
static void splitEvery(Node &node, Value x, int64_t dim, int64_t size) {
  int64_t extent = shapeOf(x)[dim];
  if (size < 0 || (size == 0 && extent > 0))
    throw ImportError("cannot split into parts of " + std::to_string(size));
  int64_t parts = size == 0 ? 1 : extent / size + (extent % size != 0);
  if (parts > std::max<int64_t>(node.results(), 1))
    throw ImportError("it has " + std::to_string(node.results()) + " results for " +
                      std::to_string(parts) + " parts");
  Shape sizes;
  for (int64_t left = extent; left > 0; left -= sizes.back())
    sizes.push_back(std::min(size, left));
  if (sizes.empty())
    sizes.push_back(0);
  emitParts(node, x, dim, sizes);
}

static void importChunk(Node &node) {
  Value x = node.tensor("self");
  int64_t dim = readDim(node, x, 0), chunks = node.integer("chunks");
  if (chunks < 1)
    throw ImportError("cannot split into " + std::to_string(chunks) + " parts");
  splitEvery(node, x, dim, llvm::divideCeil(shapeOf(x)[dim], chunks));
}

static void importSplit(Node &node) {
  Value x = node.tensor("self");
  splitEvery(node, x, readDim(node, x, 0), node.integer("split_size"));
}

static void importSplitWithSizes(Node &node) {
  Value x = node.tensor("self");
  Shape sizes = node.integers(node.has("split_sizes") ? "split_sizes" : "split_size");
  emitParts(node, x, readDim(node, x, 0), sizes);
}

static void importUnbind(Node &node) {
  Value x = node.tensor("self");
  int64_t dim = readDim(node, x, 0);
  Shape shape(shapeOf(x));
  shape.erase(shape.begin() + dim);
  int64_t parts = std::min<int64_t>(shapeOf(x)[dim], node.results());
  for (int64_t index = 0; index < parts; ++index) {
    if (!node.wants(index))
      continue;
    node.beginResult(index);
    node.result(index, node.emit.reshape(node.emit.sliceDim(x, dim, index, 1), shape));
  }
}

void weft::frontend::aten::addSlicing(OpTable &table) {
  table["aten.cat.default"] = importCat;
  table["aten.chunk.default"] = importChunk;
  table["aten.concat.default"] = importCat;
  table["aten.concatenate.default"] = importCat;
  table["aten.select.int"] = importSelect;
  table["aten.select_copy.int"] = importSelect;
  table["aten.slice.Tensor"] = importSlice;
  table["aten.slice_copy.Tensor"] = importSlice;
  table["aten.split.Tensor"] = importSplit;
  table["aten.split.sizes"] = importSplitWithSizes;
  table["aten.split_copy.Tensor"] = importSplit;
  table["aten.split_with_sizes.default"] = importSplitWithSizes;
  table["aten.split_with_sizes_copy.default"] = importSplitWithSizes;
  table["aten.stack.default"] = importStack;
  table["aten.unbind.int"] = importUnbind;
  table["aten.unbind_copy.int"] = importUnbind;
  table["aten.unsafe_chunk.default"] = importChunk;
  table["aten.unsafe_split.Tensor"] = importSplit;
  table["aten.unsafe_split_with_sizes.default"] = importSplitWithSizes;
}

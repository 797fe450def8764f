// Pooling.

#include "frontends/common/Composites.h"
#include "frontends/common/Limits.h"
#include "frontends/common/Matrix.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "frontends/torch_export/ops/Spatial.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// An operand with a batch dimension, which is added where it has none.
namespace {
struct Batched {
  Value value;
  bool added;
};
} // namespace

static Batched withBatch(Node &node, Value x, size_t rank) {
  if (typeOf(x).getRank() != int64_t(rank) + 1) {
    expectExactRank(x, int64_t(rank) + 2);
    return {x, false};
  }
  Shape shape(shapeOf(x));
  shape.insert(shape.begin(), 1);
  return {node.emit.reshape(x, shape), true};
}

static Value withoutBatch(Node &node, const Batched &batched, Value result) {
  return batched.added ? node.emit.reshape(result, shapeOf(result).drop_front()) : result;
}

/// Steps are as large as the window where none are given.
static Pooling readPooling(Node &node, Value x, size_t rank) {
  Pooling pooling;
  pooling.window = perSpatial(node, "kernel_size", rank, 1, 1);
  pooling.strides =
      node.integers("stride", {}).empty() ? pooling.window : perSpatial(node, "stride", rank, 1, 1);
  pooling.low = pooling.high = perSpatial(node, "padding", rank, 0, 0);
  pooling.dilations = perSpatial(node, "dilation", rank, 1, 1);
  if (node.flag("ceil_mode", false))
    pooling.coverAll(shapeOf(x).drop_front(2));
  return pooling;
}

/// Positions count through the spatial dimensions.
static void finishMax(Node &node, const Batched &batched, const Pooling &pooling) {
  Value pooled = emitPool(node.emit, ReduceKind::Max, batched.value, pooling);
  node.result(0, withoutBatch(node, batched, pooled));
  if (!node.wants(1))
    return;
  int64_t elements = 1; // not too many: they may be unused
  for (int64_t size : pooling.window)
    elements = llvm::SaturatingMultiply<uint64_t>(elements, size);
  if (elements < 0 || elements > maxSearchedWindow)
    return node.omitResult(1);
  node.beginResult(1);
  ArrayRef<int64_t> extents = shapeOf(batched.value).drop_front(2);
  Shape strides(extents.size(), 1);
  for (size_t dim = extents.size() - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * extents[dim + 1];
  Value positions = emitPoolPositions(node.emit, batched.value, pooled, pooling, strides);
  node.result(1, withoutBatch(node, batched, positions));
}

template <size_t Rank> static void importMaxPool(Node &node) {
  Batched x = withBatch(node, node.tensor("self"), Rank);
  finishMax(node, x, readPooling(node, x.value, Rank));
}

template <size_t Rank> static void importAveragePool(Node &node) {
  Batched x = withBatch(node, node.tensor("self"), Rank);
  Pooling pooling = readPooling(node, x.value, Rank);
  Shape none(Rank, 0), padding = perSpatial(node, "padding", Rank, 0, 0);
  bool counts = node.flag("count_include_pad", true);
  int64_t divisor = node.integer("divisor_override", 0);
  Value result = emitWide(node.emit, x.value, [&](Value wide) {
    return emitAveragePool(node.emit, wide, pooling, counts ? padding : none,
                           counts ? padding : none, divisor);
  });
  node.result(withoutBatch(node, x, result));
}

//===----------------------------------------------------------------------===//
// Adaptive
//===----------------------------------------------------------------------===//

/// The sizes of the result; where -1 is given, the operand's.
static Shape adaptiveSizes(Node &node, Value x, size_t rank) {
  Shape sizes = perSpatial(node, "output_size", rank, -1, -1);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0)
      size = shapeOf(x)[dim + 2];
  return sizes;
}

/// Windows of one size, where the sizes divide.
static std::optional<Pooling> evenWindows(Value x, ArrayRef<int64_t> sizes) {
  Pooling pooling;
  for (auto [extent, size] : llvm::zip(shapeOf(x).drop_front(2), sizes)) {
    if (size < 1 || extent % size != 0)
      return std::nullopt;
    pooling.window.push_back(extent / size);
  }
  pooling.strides = pooling.window;
  pooling.low = pooling.high = Shape(sizes.size(), 0);
  pooling.dilations = Shape(sizes.size(), 1);
  return pooling;
}

/// Everything in one window: a reduction.
static bool isGlobal(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

/// The window of element `index` of `size` along a dimension: [first, last).
static std::pair<int64_t, int64_t> adaptiveWindow(int64_t index, int64_t size, int64_t extent) {
  return {index * extent / size, ((index + 1) * extent + size - 1) / size};
}

/// Windows of several sizes: along each dimension, the product with the windows' weights.
static Value averageUneven(Emitter &emit, Value x, ArrayRef<int64_t> sizes) {
  for (auto [at, size] : llvm::enumerate(sizes)) {
    int64_t dim = int64_t(at) + 2, extent = shapeOf(x)[dim];
    if (size == extent)
      continue;
    Matrix weights(size, extent);
    for (int64_t i = 0; i < size; ++i) {
      auto [first, last] = adaptiveWindow(i, size, extent);
      for (int64_t j = first; j < last; ++j)
        weights.at(i, j) = 1 / double(last - first);
    }
    x = emitAlong(emit, x, weights.build(emit, x), dim);
  }
  return x;
}

template <size_t Rank> static void importAdaptiveAverage(Node &node) {
  Emitter &emit = node.emit;
  Batched x = withBatch(node, node.tensor("self"), Rank);
  Shape sizes = adaptiveSizes(node, x.value, Rank);
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(2, Rank + 2)), none(Rank, 0);
  Value result = emitWide(node.emit, x.value, [&](Value wide) {
    if (isGlobal(sizes))
      return emit.mean(wide, dims, /*keepDims=*/true);
    if (auto pooling = evenWindows(wide, sizes))
      return emitAveragePool(emit, wide, *pooling, none, none);
    return averageUneven(emit, wide, sizes);
  });
  node.result(withoutBatch(node, x, result));
}

/// Windows of several sizes are filled up by repeating their last element, which changes no
/// maximum; each dimension is gathered into windows and reduced.
static Value maximumUneven(Emitter &emit, Value x, ArrayRef<int64_t> sizes) {
  for (auto [at, size] : llvm::enumerate(sizes)) {
    int64_t dim = int64_t(at) + 2, extent = shapeOf(x)[dim], most = 0;
    checkPositions(size, std::max<int64_t>(extent / std::max<int64_t>(size, 1), 1));
    for (int64_t i = 0; i < size; ++i) {
      auto [first, last] = adaptiveWindow(i, size, extent);
      most = std::max(most, last - first);
    }
    SmallVector<int64_t> taken;
    for (int64_t i = 0; i < size; ++i) {
      auto [first, last] = adaptiveWindow(i, size, extent);
      for (int64_t j = 0; j < most; ++j)
        taken.push_back(std::min(first + j, last - 1));
    }
    Value windows = emit.gather(x, emit.reshape(emit.integers(taken), {size, most}), dim);
    x = emit.reduce(ReduceKind::Max, windows, {dim + 1}, false);
  }
  return x;
}

template <size_t Rank> static void importAdaptiveMaximum(Node &node) {
  Batched x = withBatch(node, node.tensor("self"), Rank);
  Shape sizes = adaptiveSizes(node, x.value, Rank);
  if (auto pooling = evenWindows(x.value, sizes))
    return finishMax(node, x, *pooling);
  node.result(0, withoutBatch(node, x, maximumUneven(node.emit, x.value, sizes)));
  node.omitResult(1);
}

void weft::frontend::aten::addPooling(OpTable &table) {
  table["aten._adaptive_avg_pool2d.default"] = importAdaptiveAverage<2>;
  table["aten._adaptive_avg_pool3d.default"] = importAdaptiveAverage<3>;
  table["aten.adaptive_avg_pool1d.default"] = importAdaptiveAverage<1>;
  table["aten.adaptive_avg_pool2d.default"] = importAdaptiveAverage<2>;
  table["aten.adaptive_avg_pool3d.default"] = importAdaptiveAverage<3>;
  table["aten.adaptive_max_pool1d.default"] = importAdaptiveMaximum<1>;
  table["aten.adaptive_max_pool2d.default"] = importAdaptiveMaximum<2>;
  table["aten.adaptive_max_pool3d.default"] = importAdaptiveMaximum<3>;
  table["aten.avg_pool1d.default"] = importAveragePool<1>;
  table["aten.avg_pool2d.default"] = importAveragePool<2>;
  table["aten.avg_pool3d.default"] = importAveragePool<3>;
  table["aten.max_pool1d.default"] = importMaxPool<1>;
  table["aten.max_pool1d_with_indices.default"] = importMaxPool<1>;
  table["aten.max_pool2d.default"] = importMaxPool<2>;
  table["aten.max_pool2d_with_indices.default"] = importMaxPool<2>;
  table["aten.max_pool3d.default"] = importMaxPool<3>;
  table["aten.max_pool3d_with_indices.default"] = importMaxPool<3>;
}

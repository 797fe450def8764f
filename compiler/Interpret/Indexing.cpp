// Gathers and scatters (WeftStructural.td), alphabetical.
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Interpret/Strided.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;
using namespace weft;

/// Makes negative indices count from the end; fails on one outside [-extent, extent), or outside
/// [0, extent) where indices are unsigned.
static llvm::Error normaliseIndex(int64_t &index, DType kind, int64_t extent) {
  int64_t low = isUnsigned(kind) ? 0 : -extent;
  if (index < low || index >= extent)
    return interpretError("index " + llvm::Twine(index) + " is out of range [" + llvm::Twine(low) +
                          ", " + llvm::Twine(extent) + ")");
  if (index < 0)
    index += extent;
  return llvm::Error::success();
}

static llvm::Expected<std::vector<int64_t>> normalIndicesOf(const Tensor &tensor, int64_t extent) {
  std::vector<int64_t> indices = numbersOf<int64_t>(tensor);
  for (int64_t &index : indices)
    if (llvm::Error error = normaliseIndex(index, tensor.kind(), extent))
      return error;
  return indices;
}

static llvm::Expected<Tensor> gather(GatherOp op, ArrayRef<Tensor> in) {
  Tensor table = in[0].dense();
  int64_t axis = op.getAxis(), rows = table.shape()[axis];
  auto indices = normalIndicesOf(in[1], op.getExtent().value_or(rows));
  if (!indices)
    return indices.takeError();
  int64_t first = in.size() > 2 ? numbersOf<int64_t>(in[2])[0] : 0;
  int64_t width = elementCount(table.shape().drop_front(axis + 1)) * table.elementBytes();
  int64_t outer = elementCount(table.shape().take_front(axis));
  Tensor result = Tensor::allocate(resultType(op));
  char *out = result.mutableData();
  for (int64_t block = 0; block < outer; ++block)
    for (int64_t index : *indices) {
      int64_t row = index - first;
      if (row < 0 || row >= rows)
        std::memset(out, 0, width);
      else
        std::memcpy(out, table.data() + (block * rows + row) * width, width);
      out += width;
    }
  return result;
}

/// The number of the element of a tensor of these strides that an element operation addresses from
/// `position`.
static int64_t elementAt(ArrayRef<int64_t> position, ArrayRef<int64_t> strides, int64_t axis,
                         int64_t index) {
  int64_t number = index * strides[axis];
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (int64_t(dim) != axis)
      number += position[dim] * stride;
  return number;
}

static llvm::Expected<Tensor> gatherElements(GatherElementsOp op, ArrayRef<Tensor> in) {
  Tensor input = in[0].dense();
  auto indices = normalIndicesOf(in[1], input.shape()[op.getAxis()]);
  if (!indices)
    return indices.takeError();
  Tensor result = Tensor::allocate(resultType(op));
  SmallVector<int64_t> strides = rowMajorStrides(input.shape());
  int64_t width = input.elementBytes();
  forEachPosition(in[1].shape(), [&](ArrayRef<int64_t> position, int64_t number) {
    int64_t from = elementAt(position, strides, op.getAxis(), (*indices)[number]);
    std::memcpy(result.mutableData() + number * width, input.data() + from * width, width);
  });
  return result;
}

/// Where the slices start that a tensor of index tuples addresses: one number an index tuple, in
/// elements of `shape`, whose first `batch` dimensions are those of the indices.
static llvm::Expected<std::vector<int64_t>> sliceStarts(const Tensor &indices,
                                                        ArrayRef<int64_t> shape, int64_t batch) {
  std::vector<int64_t> numbers = numbersOf<int64_t>(indices);
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  int64_t length = indices.shape().back();
  int64_t tuples = elementCount(indices.shape().drop_back());
  int64_t batches = elementCount(shape.take_front(batch));
  int64_t batchStride = elementCount(shape.drop_front(batch));
  std::vector<int64_t> starts(tuples);
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    starts[tuple] = tuple / std::max<int64_t>(tuples / batches, 1) * batchStride;
    for (int64_t i = 0; i < length; ++i) {
      int64_t index = numbers[tuple * length + i];
      if (llvm::Error error = normaliseIndex(index, indices.kind(), shape[batch + i]))
        return error;
      starts[tuple] += index * strides[batch + i];
    }
  }
  return starts;
}

static llvm::Expected<Tensor> gatherNd(GatherNdOp op, ArrayRef<Tensor> in) {
  Tensor input = in[0].dense(), result = Tensor::allocate(resultType(op));
  auto starts = sliceStarts(in[1], input.shape(), op.getBatchDims());
  if (!starts)
    return starts.takeError();
  int64_t covered = op.getBatchDims() + in[1].shape().back(), width = input.elementBytes();
  int64_t bytes = elementCount(input.shape().drop_front(covered)) * width;
  for (auto [number, start] : llvm::enumerate(*starts))
    std::memcpy(result.mutableData() + number * bytes, input.data() + start * width, bytes);
  return result;
}

template <typename Number> static Number joined(ScatterKind kind, Number old, Number update) {
  switch (kind) {
  case ScatterKind::Set:
    return update;
  case ScatterKind::Add:
    return addNumbers(old, update);
  case ScatterKind::Mul:
    return multiplyNumbers(old, update);
  case ScatterKind::Max:
    return maxNumbers(old, update);
  case ScatterKind::Min:
    return minNumbers(old, update);
  }
  return update;
}

/// Joins runs of `length` updates into the input at `starts`, in order; negative starts are left
/// out.
static Tensor scatterRuns(RankedTensorType type, ScatterKind kind, ArrayRef<Tensor> in,
                          ArrayRef<int64_t> starts, int64_t length) {
  return withNumber(in[0].kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> values = numbersOf<Number>(in[0]), updates = numbersOf<Number>(in[2]);
    for (auto [run, start] : llvm::enumerate(starts))
      for (int64_t i = 0; start >= 0 && i < length; ++i)
        values[start + i] = joined(kind, values[start + i], updates[run * length + i]);
    return tensorOf(type, values);
  });
}

namespace {
/// How a scatter's indices of one dimension are read.
struct ScatterDim {
  int64_t extent;    ///< of the whole tensor
  int64_t first = 0; ///< where the shard starts
  int64_t rows;      ///< of the shard
  DType kind;
  bool drops;

  template <typename Scatter>
  ScatterDim(Scatter op, ArrayRef<Tensor> in, int64_t dim, bool isFirst)
      : extent(in[0].shape()[dim]), rows(extent), kind(in[1].kind()), drops(op.getDrop()) {
    if (!isFirst || !op.getOffset())
      return;
    extent = *op.getExtent();
    first = numbersOf<int64_t>(in[3])[0];
  }

  /// The row in this shard; -1 for one that is left out.
  llvm::Expected<int64_t> rowOf(int64_t index) const {
    if (drops && (index < 0 || index >= extent))
      return -1;
    if (llvm::Error error = normaliseIndex(index, kind, extent))
      return error;
    int64_t row = index - first;
    return row >= 0 && row < rows ? row : -1;
  }
};
} // namespace

static llvm::Expected<Tensor> scatterElements(ScatterElementsOp op, ArrayRef<Tensor> in) {
  for (auto [dim, size] : llvm::enumerate(in[1].shape()))
    if (int64_t(dim) != int64_t(op.getAxis()) && size > in[0].shape()[dim])
      return interpretError("updates reach beyond dimension " + llvm::Twine(dim));
  ScatterDim along(op, in, op.getAxis(), /*isFirst=*/true);
  std::vector<int64_t> indices = numbersOf<int64_t>(in[1]);
  for (int64_t &index : indices) {
    llvm::Expected<int64_t> row = along.rowOf(index);
    if (!row)
      return row.takeError();
    index = *row;
  }
  SmallVector<int64_t> strides = rowMajorStrides(in[0].shape());
  forEachPosition(in[1].shape(), [&](ArrayRef<int64_t> position, int64_t number) {
    if (indices[number] >= 0)
      indices[number] = elementAt(position, strides, op.getAxis(), indices[number]);
  });
  return scatterRuns(resultType(op), op.getKind(), in, indices, 1);
}

static llvm::Expected<Tensor> scatterNd(ScatterNdOp op, ArrayRef<Tensor> in) {
  std::vector<int64_t> numbers = numbersOf<int64_t>(in[1]);
  SmallVector<int64_t> strides = rowMajorStrides(in[0].shape());
  int64_t depth = in[1].shape().back();
  std::vector<int64_t> starts(elementCount(in[1].shape().drop_back()), 0);
  for (int64_t dim = 0; dim < depth; ++dim) {
    ScatterDim along(op, in, dim, /*isFirst=*/dim == 0);
    for (auto [tuple, start] : llvm::enumerate(starts)) {
      llvm::Expected<int64_t> row = along.rowOf(numbers[tuple * depth + dim]);
      if (!row)
        return row.takeError();
      start = start < 0 || *row < 0 ? -1 : start + *row * strides[dim];
    }
  }
  int64_t length = elementCount(in[0].shape().drop_front(depth));
  return scatterRuns(resultType(op), op.getKind(), in, starts, length);
}

Evaluated weft::evaluateIndexing(Operation *op, ArrayRef<Tensor> in) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<GatherElementsOp>([&](auto o) { return single(gatherElements(o, in)); })
      .Case<GatherNdOp>([&](auto o) { return single(gatherNd(o, in)); })
      .Case<GatherOp>([&](auto o) { return single(gather(o, in)); })
      .Case<ScatterElementsOp>([&](auto o) { return single(scatterElements(o, in)); })
      .Case<ScatterNdOp>([&](auto o) { return single(scatterNd(o, in)); })
      .Default([](Operation *) { return otherFamily(); });
}

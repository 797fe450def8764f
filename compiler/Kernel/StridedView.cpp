#include "compiler/Kernel/StridedView.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

Strides weft::getRowMajorStrides(ArrayRef<int64_t> shape) {
  Strides strides(shape.size(), 1);
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

bool weft::isRowMajor(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t expected = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1 && strides[dim] != expected)
      return false;
    expected *= shape[dim];
  }
  return true;
}

namespace {
struct Run {
  int64_t size, stride;
};
} // namespace

/// The dimensions without unit ones, neighbours joined where one steps through the other's whole
/// extent.
static SmallVector<Run, 6> joinDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<Run, 6> runs;
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    if (size == 1)
      continue;
    if (!runs.empty() && runs.back().stride == stride * size)
      runs.back() = {runs.back().size * size, stride};
    else
      runs.push_back({size, stride});
  }
  return runs;
}

std::optional<Strides> weft::reshapeStrides(ArrayRef<int64_t> from, ArrayRef<int64_t> strides,
                                            ArrayRef<int64_t> to) {
  if (llvm::is_contained(from, 0))
    return getRowMajorStrides(to);
  SmallVector<Run, 6> runs = joinDims(from, strides);
  Strides result(to.size(), 1);
  for (size_t dim = to.size(); dim-- > 0;) {
    if (to[dim] == 1)
      continue;
    if (runs.empty() || runs.back().size % to[dim] != 0)
      return std::nullopt;
    result[dim] = runs.back().stride;
    runs.back() = {runs.back().size / to[dim], runs.back().stride * to[dim]};
    if (runs.back().size == 1)
      runs.pop_back();
  }
  return result;
}

/// Of results behind the first, the number is part of the name.
static std::string getStridesName(OpResult result) {
  std::string name(stridesAttrName);
  return result.getResultNumber() == 0 ? name
                                       : name + "." + std::to_string(result.getResultNumber());
}

DenseI64ArrayAttr weft::getResultStrides(OpResult result) {
  return result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(getStridesName(result));
}

void weft::setResultStrides(OpResult result, ArrayRef<int64_t> strides) {
  result.getOwner()->setAttr(getStridesName(result),
                             DenseI64ArrayAttr::get(result.getContext(), strides));
}

std::optional<Strides> weft::getViewStrides(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op)
    return getRowMajorStrides(type.getShape());
  if (DenseI64ArrayAttr strides = getResultStrides(cast<OpResult>(value)))
    return Strides(strides.asArrayRef());
  if (!isa<TransposeOp, ReshapeOp, SliceOp, dist::SliceOp>(op))
    return getRowMajorStrides(type.getShape());
  std::optional<Strides> source = getViewStrides(op->getOperand(0));
  if (!source)
    return std::nullopt;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return Strides(
        llvm::map_range(transpose.getPermutation(), [&](int64_t dim) { return (*source)[dim]; }));
  if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [stride, step] : llvm::zip_equal(*source, slice.getStrides()))
      stride *= step;
    return source;
  }
  if (isa<ReshapeOp>(op))
    return reshapeStrides(cast<RankedTensorType>(op->getOperand(0).getType()).getShape(), *source,
                          type.getShape());
  return source;
}

#include "compiler/Lowering/Strides.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace weft;

bool weft::sameStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && a[i] != b[i])
      return false;
  return true;
}

/// Indices of the dimensions of extent > 1, by descending stride, stable.
static SmallVector<size_t> byStride(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) {
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  return order;
}

bool weft::isDense(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t expected = 1;
  for (size_t i : llvm::reverse(byStride(shape, strides))) {
    if (strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

int64_t weft::footprint(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    if (extent == 0)
      return 0;
    last += (extent - 1) * stride;
  }
  return last + 1;
}

int64_t weft::storedElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t elements = 1;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides))
    if (stride != 0 || extent == 0)
      elements *= extent;
  return elements;
}

SmallVector<LoopDim> weft::mergeLoops(ArrayRef<LoopDim> dims, unsigned key) {
  SmallVector<LoopDim> sorted;
  for (const LoopDim &dim : dims)
    if (dim.extent != 1)
      sorted.push_back(dim);
  llvm::sort(sorted, [&](const LoopDim &a, const LoopDim &b) {
    return std::tuple(-a.strides[key], b.strides, a.extent) <
           std::tuple(-b.strides[key], a.strides, b.extent);
  });
  SmallVector<LoopDim> merged;
  for (const LoopDim &dim : sorted) {
    bool joins = !merged.empty();
    for (size_t i = 0; joins && i < dim.strides.size(); ++i)
      joins = merged.back().strides[i] == dim.strides[i] * dim.extent;
    if (joins) {
      merged.back().extent *= dim.extent;
      merged.back().strides = dim.strides;
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

//===- GemmPlan.cpp - matrix products as libraries take them --------------===//

#include "runtime/Cuda/GemmPlan.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr int64_t mostOfBatch = INT32_MAX; // the library counts in 32 bits

struct BatchDim {
  int64_t extent;
  OfOperands strides;

  /// Whether the dimension goes on where `inner` ends, in all operands.
  bool continues(const BatchDim &inner) const {
    for (size_t i = 0; i < strides.size(); ++i)
      if (strides[i] != inner.strides[i] * inner.extent)
        return false;
    return true;
  }
  /// Whether a library takes it as a batch.
  bool isStep() const {
    return extent <= mostOfBatch && strides[0] >= 0 && strides[1] >= 0 && strides[2] > 0;
  }
};

/// Those of more than one element, neighbours merged.
std::vector<BatchDim> listDims(const GemmCall &call) {
  std::vector<BatchDim> dims;
  for (size_t i = 0; i + 2 < call.c.shape.size(); ++i) {
    BatchDim dim{call.c.shape[i], {call.a.strides[i], call.b.strides[i], call.c.strides[i]}};
    if (dim.extent == 1)
      continue;
    if (!dims.empty() && dims.back().continues(dim)) {
      dim.extent *= dims.back().extent;
      dims.pop_back();
    }
    dims.push_back(dim);
  }
  return dims;
}

} // namespace

GemmBatches::GemmBatches(const GemmCall &call) {
  std::vector<BatchDim> dims = listDims(call);
  auto best = dims.end();
  for (auto it = dims.begin(); it != dims.end(); ++it)
    if (it->isStep() && (best == dims.end() || it->extent > best->extent))
      best = it;
  if (best != dims.end()) {
    count = best->extent;
    strides = best->strides;
    dims.erase(best);
  }
  starts = {OfOperands{}};
  for (const BatchDim &dim : dims) {
    std::vector<OfOperands> next;
    for (const OfOperands &start : starts)
      for (int64_t index = 0; index < dim.extent; ++index) {
        next.push_back(start);
        for (size_t i = 0; i < start.size(); ++i)
          next.back()[i] += index * dim.strides[i];
      }
    starts = std::move(next);
  }
}

/// The elements that a view has in memory, with batch dimensions that repeat as ones of extent 1.
static View listStored(const View &view) {
  View stored = view;
  for (size_t dim = 0; dim + 2 < view.shape.size(); ++dim)
    if (view.strides[dim] == 0)
      stored.shape[dim] = std::min<int64_t>(1, view.shape[dim]);
  return stored;
}

int64_t getStoredBytes(const View &view) { return listStored(view).getNumBytes(); }

PackedOperand packOperand(const View &view, int64_t offset) {
  View stored = listStored(view), copy = stored;
  copy.strides = getRowMajorStrides(copy.shape);
  PackedOperand packed{view, StridedCopy(stored, copy), StridedCopy(copy, stored)};
  packed.view.offset = offset;
  for (size_t dim = 0; dim < view.shape.size(); ++dim)
    if (dim + 2 >= view.shape.size() || view.strides[dim] != 0)
      packed.view.strides[dim] = copy.strides[dim];
  return packed;
}

Layout getMatrixLayout(const View &view) {
  size_t rank = view.shape.size();
  return getLayout(view.shape[rank - 2], view.shape[rank - 1], view.strides[rank - 2],
                   view.strides[rank - 1]);
}

void transposeProduct(GemmCall &call) {
  std::swap(call.a, call.b);
  size_t rank = call.c.shape.size();
  for (View *view : {&call.a, &call.b, &call.c}) {
    std::swap(view->shape[rank - 2], view->shape[rank - 1]);
    std::swap(view->strides[rank - 2], view->strides[rank - 1]);
  }
}

} // namespace weft::runtime

//===- CopyLoops.cpp - strided copies as loops ----------------------------===//

#include "runtime/Device/CopyLoops.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace weft::runtime {

CopyLoops::CopyLoops(const View &input, const View &output) : size(getElementSize(output.dtype)) {
  std::vector<size_t> order(output.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](size_t dim) { return output.shape[dim] == 1; });
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    int64_t x = std::abs(output.strides[a]), y = std::abs(output.strides[b]);
    return x != y ? x > y : a < b;
  });
  for (size_t dim : order)
    append(output.shape[dim], input.strides[dim] * size, output.strides[dim] * size);
  if (shape.empty())
    append(1, size, size);
}

static View repeatFirst(const View &output) {
  View source = output;
  std::fill(source.strides.begin(), source.strides.end(), 0);
  return source;
}

CopyLoops::CopyLoops(const View &output) : CopyLoops(repeatFirst(output), output) {}

void CopyLoops::append(int64_t extent, int64_t fromStride, int64_t toStride) {
  if (!shape.empty() && from.back() == fromStride * extent && to.back() == toStride * extent) {
    shape.back() *= extent;
    from.back() = fromStride;
    to.back() = toStride;
    return;
  }
  shape.push_back(extent);
  from.push_back(fromStride);
  to.push_back(toStride);
}

int64_t CopyLoops::getNumRows() const {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    rows *= shape[i];
  return rows;
}

bool CopyLoops::overlaps(int64_t distance) const {
  int64_t fromReach = size, toReach = size;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    fromReach += (shape[dim] - 1) * from[dim];
    toReach += (shape[dim] - 1) * to[dim];
  }
  return distance > -toReach && distance < fromReach;
}

void checkCopy(const CopyCall &call) {
  if (call.input.shape != call.output.shape || call.input.dtype != call.output.dtype)
    throwBadInput("a copy between operands of unlike shape or element type");
}

void checkFill(const FillCall &call) {
  int64_t size = getElementSize(call.output.dtype);
  if (call.value.size() != static_cast<size_t>(size))
    throwBadInput("a fill with {} bytes of elements of {}", call.value.size(), size);
}

} // namespace weft::runtime

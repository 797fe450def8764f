//===- View.cpp - operands as one rank sees them --------------------------===//

#include "runtime/Device/View.h"

namespace weft::runtime {

int64_t View::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

bool View::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0)
      return true;
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i])
    strides[i] = step;
  return strides;
}

} // namespace weft::runtime

//===- ForEachOffset.h - a walk through a strided block ---------*- C++ -*-===//

#ifndef WEFT_RUNTIME_SUPPORT_FOREACHOFFSET_H
#define WEFT_RUNTIME_SUPPORT_FOREACHOFFSET_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::runtime {

/// Calls `body(offset)` for every index of `shape` in row-major order; offset = Σ index·stride.
template <typename Body>
void forEachOffset(std::span<const int64_t> shape, std::span<const int64_t> strides, Body body) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return;
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (size_t dim = 0; dim != static_cast<size_t>(-1);) {
    body(offset);
    for (dim = shape.size(); dim-- > 0;) {
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_FOREACHOFFSET_H

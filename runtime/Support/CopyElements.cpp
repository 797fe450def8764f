//===- CopyElements.cpp - one strided row of elements ---------------------===//

#include "runtime/Support/CopyElements.h"

#include <cstring>

namespace weft::runtime {

template <typename T>
static void copyElements(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
                         int64_t count) {
  if (fromStride == 0 && toStride == sizeof(T)) { // vectorised as a fill
    T value;
    std::memcpy(&value, from, sizeof(T));
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStride, from + i * fromStride, sizeof(T));
}

void copyElements(int64_t size, const std::byte *from, int64_t fromStride, std::byte *to,
                  int64_t toStride, int64_t count) {
  if (fromStride == size && toStride == size) {
    std::memcpy(to, from, count * size);
    return;
  }
  switch (size) {
  case 1:
    return copyElements<uint8_t>(from, fromStride, to, toStride, count);
  case 2:
    return copyElements<uint16_t>(from, fromStride, to, toStride, count);
  case 4:
    return copyElements<uint32_t>(from, fromStride, to, toStride, count);
  default:
    return copyElements<uint64_t>(from, fromStride, to, toStride, count);
  }
}

} // namespace weft::runtime

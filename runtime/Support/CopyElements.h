//===- CopyElements.h - one strided row of elements -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_SUPPORT_COPYELEMENTS_H
#define WEFT_RUNTIME_SUPPORT_COPYELEMENTS_H

#include <cstddef>
#include <cstdint>

namespace weft::runtime {

/// Copies `count` elements of `size` bytes (1, 2, 4 or 8). Strides are in bytes and may be
/// negative; a source stride of 0 repeats one element. The rows must not overlap.
void copyElements(int64_t size, const std::byte *from, int64_t fromStride, std::byte *to,
                  int64_t toStride, int64_t count);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_COPYELEMENTS_H

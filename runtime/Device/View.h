//===- View.h - operands as one rank sees them ------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICE_VIEW_H
#define WEFT_RUNTIME_DEVICE_VIEW_H

#include "runtime/Support/DType.h"

#include <cstdint>
#include <vector>

namespace weft::runtime {

/// An operand with its offset evaluated and checked to lie in its arena. Shape and strides count
/// elements.
struct View {
  uint32_t arena = 0;
  int64_t offset = 0; ///< bytes within the frame
  DType dtype = program::DTYPE_UNKNOWN;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  int64_t getNumElements() const;
  int64_t getNumBytes() const { return getNumElements() * getElementSize(dtype); }
  /// Whether elements lie one after the other, row-major.
  bool isContiguous() const;
  /// Address of the element of index 0, given where each arena's frame begins: on the device
  /// (DeviceAddress) or, for who may touch it, in host memory (std::byte *).
  template <typename Address> Address getAddress(const std::vector<Address> &bases) const {
    return bases[arena] + offset;
  }
};

/// Row-major strides of a shape.
std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_VIEW_H

//===- CopyLoops.h - strided copies as loops --------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICE_COPYLOOPS_H
#define WEFT_RUNTIME_DEVICE_COPYLOOPS_H

#include "runtime/Device/Calls.h"

namespace weft::runtime {

/// A copy with neighbouring dimensions merged, the output's smallest stride last; dimensions of one
/// element are dropped, and at least one is left. Strides in bytes.
struct CopyLoops {
  int64_t size = 0; ///< bytes of an element
  std::vector<int64_t> shape, from, to;

  CopyLoops(const View &input, const View &output);
  /// A fill: a copy from one element, whose strides are all 0.
  explicit CopyLoops(const View &output);

  /// Runs along the innermost dimension.
  int64_t getNumRows() const;
  int64_t getNumElements() const { return getNumRows() * shape.back(); }
  /// Whether both sides are one run of bytes.
  bool isContiguous() const {
    return shape.size() == 1 && from.back() == size && to.back() == size;
  }
  /// Whether the operands share bytes, as far as the first and last of each tell, where the output
  /// lies `distance` bytes behind the input.
  bool overlaps(int64_t distance) const;

private:
  void append(int64_t extent, int64_t fromStride, int64_t toStride);
};

/// An Error of kind BadInput where operands do not fit.
void checkCopy(const CopyCall &call);
void checkFill(const FillCall &call);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_COPYLOOPS_H

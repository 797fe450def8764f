//===- View.h - operands as one rank sees them ------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_VIEW_H
#define WEFT_RUNTIME_PROGRAM_VIEW_H

#include "runtime/Program/Position.h"
#include "runtime/Support/DType.h"

#include <cstddef>
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
  /// Address of the first element, given where each arena's frame begins.
  std::byte *getAddress(const std::vector<std::byte *> &bases) const {
    return bases[arena] + offset;
  }
};

/// Evaluates an operand for a rank; an Error of kind BadInput where any of its elements would lie
/// outside its arena.
View resolveView(const program::Program &program, const program::Operand &operand,
                 const Position &position);

/// Row-major strides of a shape.
std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_VIEW_H

//===- Numbers.h - elements of any type as wide numbers ---------*- C++ -*-===//
//
// Kernels compute in three types: double for every float, int64_t for signed integers and i1,
// uint64_t for unsigned ones. Sums, products and quotients of f32 done in double and rounded once
// equal f32 arithmetic; reductions gain accuracy. Elements are converted run by run, so that the
// loops over them are plain loops over arrays.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_NUMBERS_H
#define WEFT_COMPILER_INTERPRET_NUMBERS_H

#include "compiler/Interpret/Tensor.h"
#include <vector>

namespace weft {

/// Reads `count` elements at `from`. Number is double, int64_t or uint64_t; out-of-range floats
/// saturate and NaN becomes 0 in integers, integers wrap around.
template <typename Number>
void readNumbers(DType kind, const char *from, Number *to, int64_t count);

/// Writes `count` numbers as elements at `to`: floats are rounded to nearest even, integers keep
/// their low bits, floats stored as integers are truncated and saturate (NaN: 0). Stored as i1, a
/// number gives its lowest bit.
template <typename Number>
void writeNumbers(DType kind, const Number *from, char *to, int64_t count);

/// The elements that a tensor holds: all, or the one of a splat, whose size may be beyond memory.
template <typename Number> std::vector<Number> storedNumbersOf(const Tensor &tensor);
/// All elements of a tensor, splats spread.
template <typename Number> std::vector<Number> numbersOf(const Tensor &tensor);

/// A tensor of these elements, all or a splat's one.
template <typename Number>
Tensor tensorOf(mlir::RankedTensorType type, const std::vector<Number> &numbers,
                bool splat = false) {
  Tensor tensor = Tensor::allocate(type, splat);
  writeNumbers(tensor.kind(), numbers.data(), tensor.mutableData(), tensor.storedElements());
  return tensor;
}

/// Calls `function` with a value of the type that elements of `kind` are computed in.
template <typename Function> auto withNumber(DType kind, Function function) {
  if (isFloat(kind))
    return function(double());
  if (isUnsigned(kind))
    return function(uint64_t());
  return function(int64_t());
}

/// Integer arithmetic that wraps around, and double arithmetic.
template <typename Number> Number addNumbers(Number a, Number b) {
  if constexpr (std::is_same_v<Number, double>)
    return a + b;
  else
    return Number(uint64_t(a) + uint64_t(b));
}
template <typename Number> Number subtractNumbers(Number a, Number b) {
  if constexpr (std::is_same_v<Number, double>)
    return a - b;
  else
    return Number(uint64_t(a) - uint64_t(b));
}
template <typename Number> Number multiplyNumbers(Number a, Number b) {
  if constexpr (std::is_same_v<Number, double>)
    return a * b;
  else
    return Number(uint64_t(a) * uint64_t(b));
}
/// The larger (smaller) of two; NaN if either is.
template <typename Number> Number maxNumbers(Number a, Number b) { return a != a || a > b ? a : b; }
template <typename Number> Number minNumbers(Number a, Number b) { return a != a || a < b ? a : b; }

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_NUMBERS_H

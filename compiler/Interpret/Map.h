//===- Map.h - loops over elements ------------------------------*- C++ -*-===//
//
// Elementwise loops over tensors of one shape. They run over blocks of numbers that fit in the
// first cache; splat operands are read once, and if all are splats, so is the result.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_MAP_H
#define WEFT_COMPILER_INTERPRET_MAP_H

#include "compiler/Interpret/Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

namespace weft {

/// A window over a tensor's elements as numbers; a splat's window never moves.
template <typename Number> class Window {
public:
  static constexpr int64_t length = 512;

  explicit Window(const Tensor &tensor) : tensor(tensor) {
    if (tensor.isSplat()) {
      Number value;
      readNumbers(tensor.kind(), tensor.data(), &value, 1);
      numbers.fill(value);
    }
  }
  /// The numbers from element `start` on, `count` ≤ length of them.
  const Number *at(int64_t start, int64_t count) {
    if (!tensor.isSplat())
      readNumbers(tensor.kind(), tensor.data() + start * tensor.elementBytes(), numbers.data(),
                  count);
    return numbers.data();
  }

private:
  const Tensor &tensor;
  std::array<Number, length> numbers;
};

/// A tensor of `type` whose elements are `function` of the operands' elements, computed as Number
/// and stored as Result.
template <typename Number, typename Result = Number, typename Function, typename... Operands>
Tensor mapNumbers(mlir::RankedTensorType type, Function function, const Operands &...operands) {
  Tensor result = Tensor::allocate(type, (operands.isSplat() && ...));
  std::array<Result, Window<Number>::length> out;
  auto run = [&](auto &...windows) {
    for (int64_t start = 0, end = result.storedElements(); start < end; start += out.size()) {
      int64_t count = std::min<int64_t>(out.size(), end - start);
      auto block = [&](const auto *...numbers) {
        for (int64_t i = 0; i < count; ++i)
          out[i] = function(numbers[i]...);
      };
      block(windows.at(start, count)...);
      writeNumbers(result.kind(), out.data(), result.mutableData() + start * result.elementBytes(),
                   count);
    }
  };
  [&](Window<std::conditional_t<true, Number, Operands>>... windows) {
    run(windows...);
  }(Window<std::conditional_t<true, Number, Operands>>(operands)...);
  return result;
}

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_MAP_H

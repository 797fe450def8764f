//===- Shapes.h - what operands' shapes and types have in common *- C++ -*-===//

#ifndef WEFT_RUNTIME_VERIFY_SHAPES_H
#define WEFT_RUNTIME_VERIFY_SHAPES_H

#include "runtime/Support/DType.h"
#include "runtime/Verify/Checks.h"

#include <vector>

namespace weft::runtime {

using Shape = std::vector<int64_t>;

template <typename Repeated> Shape toShape(const Repeated &list) {
  return {list.begin(), list.end()};
}

inline std::string str(const Shape &shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

inline void checkSameDType(ProgramContext &context,
                           const std::vector<const program::Operand *> &all) {
  for (const program::Operand *operand : all)
    if (operand->dtype() != (*all.begin())->dtype())
      context.reasons.add("element types differ: {} and {}", getName((*all.begin())->dtype()),
                          getName(operand->dtype()));
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_SHAPES_H

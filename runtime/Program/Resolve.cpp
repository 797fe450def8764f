//===- Resolve.cpp - operands evaluated for one rank ----------------------===//

#include "runtime/Program/Resolve.h"

#include "runtime/Support/Error.h"

namespace weft::runtime {

View resolveView(const program::Program &program, const program::Operand &operand,
                 const Position &position) {
  if (operand.arena() >= static_cast<uint32_t>(program.arenas_size()))
    throwBadInput("an operand lies in arena {}, the program has {}", operand.arena(),
                  program.arenas_size());
  View view{operand.arena(),
            position.evaluate(operand.offset()),
            operand.dtype(),
            {operand.shape().begin(), operand.shape().end()},
            {operand.strides().begin(), operand.strides().end()}};
  int64_t size = getElementSize(view.dtype);
  if (size == 0)
    throwBadInput("an operand has an unknown element type ({})", int(operand.dtype()));
  if (view.shape.size() != view.strides.size())
    throwBadInput("an operand has {} dimensions and {} strides", view.shape.size(),
                  view.strides.size());
  int64_t low = 0, high = 0; // elements before and after the first
  bool empty = false, overflow = false;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    int64_t reach = 0;
    if (view.shape[i] < 0)
      throwBadInput("an operand has the extent {}", view.shape[i]);
    empty |= view.shape[i] == 0;
    overflow |= __builtin_mul_overflow(view.shape[i] - 1, view.strides[i], &reach);
    int64_t &end = reach < 0 ? low : high;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  if (empty)
    return view;
  overflow |= __builtin_mul_overflow(low, size, &low) || __builtin_mul_overflow(high, size, &high);
  int64_t bytes = program.arenas(static_cast<int>(view.arena)).bytes();
  if (overflow || view.offset + low < 0 || view.offset > bytes - size ||
      high > bytes - size - view.offset)
    throwBadInput("an operand at byte {} reaches beyond its arena of {} bytes", view.offset, bytes);
  return view;
}

} // namespace weft::runtime

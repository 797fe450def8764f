//===- Pattern.h - zero-bubble patterns over a V ----------------*- C++ -*-===//
//
// A pattern in cells of unit time that every microbatch repeats `period` cells later (Qi et al.
// 2024, section 3): in each period a rank has one cell for F, I and W of each of its two chunks. A
// forward goes down the V by one rank in `down` cells and up in `up`; gradients come back down in
// `back` and up in `out`. A microbatch lives on a rank, summed over both chunks, for about
// (down + up + back + out) · ranks cells, the same on every rank; of `period` cells and half of a
// rank's memory each, a sum of 4 holds a third of what 1F1B holds, 6 a half, 12 all of it.
//
// Worked example: with steps of 1 and turns of 1 cell on four ranks the first microbatch runs F of
// stages 0 to 3 in cells 0 to 3, of 4 to 7 in 4 to 7, then I of stages 7 to 0 in 8 to 15.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_PATTERN_H
#define WEFT_COMPILER_SCHEDULE_PATTERN_H

#include "compiler/Schedule/Named.h"
#include "compiler/Schedule/Order.h"

namespace weft::schedule {

struct Pattern {
  static constexpr int32_t period = 6;
  int32_t down = 1, up = 1, back = 1, out = 1;     ///< cells from rank to rank
  int32_t lowTurn = 1, highTurn = 1, loopTurn = 1; ///< from F to F, F to I, I to I of one rank

  /// First cells of a rank's operations.
  struct Cells {
    int32_t forwardDown, forwardUp, inputUp, inputDown;
  };
  Cells getCells(int32_t ranks, int32_t rank) const;
  /// Whether no rank has two operations in one cell.
  bool fits(int32_t ranks) const;
};

/// All that fit, with steps that sum up to `sum`, from the shortest turns to the longest.
std::vector<Pattern> listPatterns(int32_t ranks, int32_t sum);

/// What the ranks do, cell by cell; weight gradients take the cells that are left.
Schedule makePattern(const Spec &spec, const char *name, const Pattern &pattern);

/// Of those whose steps sum up to `sum` the best by `spec`'s costs of the ones with the least
/// memory, squeezed inside that memory: where the pattern stops at both ends there is room
/// (improveOrder).
Schedule makeBestPattern(const Spec &spec, const char *name, int32_t sum);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_PATTERN_H

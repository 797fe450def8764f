//===- Dependences.h - which instructions must stay in order ----*- C++ -*-===//
//
// The one place that tells what a scheduler of instructions over buffers may not change. Two
// instructions of a segment keep their order where one writes a buffer that the other names; what
// the operands address within the buffer plays no part. Time O(n + operands).
//
//   0: gemm x, w → a
//   1: copy x → b           (may change places with 0)
//   2: collective a → c     after 0
//   3: fill → a             after 0, which writes a, and 2, which reads it
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_DEPENDENCES_H
#define WEFT_COMPILER_LOWERING_DEPENDENCES_H

#include "dialects/Exec/IR/ExecDialect.h"
#include <vector>

namespace weft {

class Dependences {
public:
  /// Of instructions in an order that is right.
  explicit Dependences(llvm::ArrayRef<exec::InstructionOpInterface> instructions);

  /// Numbers of the instructions that must come before one, ascending, each once. Not those that
  /// must come before them.
  llvm::ArrayRef<unsigned> getBefore(unsigned instruction) const { return before[instruction]; }
  /// Those that must come after it.
  llvm::ArrayRef<unsigned> getAfter(unsigned instruction) const { return after[instruction]; }

private:
  std::vector<llvm::SmallVector<unsigned, 4>> before, after;
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_DEPENDENCES_H

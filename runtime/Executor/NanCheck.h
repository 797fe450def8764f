//===- NanCheck.h - which instruction made the first NaN --------*- C++ -*-===//
//
// Looks at what each instruction has written. The padding of blocks may hold anything, NaN too, so
// that an instruction is only remembered: whether something is wrong is what the loss and the
// states tell when the step is over.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_NANCHECK_H
#define WEFT_RUNTIME_EXECUTOR_NANCHECK_H

#include "runtime/Executor/Ports.h"

namespace weft::runtime {

class NanCheck {
public:
  NanCheck(const program::Program &program, const Position &position);

  /// Forgets what was found.
  void begin() {
    found.clear();
    looks = 0;
  }
  /// Looks at what instruction `number` of a segment has written; at nothing where it is under way,
  /// and at that once it was waited for.
  void look(uint32_t segment, size_t number, const char *label, const PortAccess &access);
  /// "instruction 17, GEMM of 'h0.up'", the first that left a NaN in this step; empty: none.
  const std::string &getFound() const { return found; }
  /// How many instructions were executed in this step until then.
  int64_t getPosition() const { return looks; }

private:
  std::vector<std::vector<std::vector<View>>> writes; ///< floats, by segment and instruction
  std::string found;
  int64_t looks = 0;
};

/// Whether any element is NaN.
bool holdsNan(const View &view, const PortAccess &access);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_NANCHECK_H

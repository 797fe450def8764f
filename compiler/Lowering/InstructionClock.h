//===- InstructionClock.h - seconds by which one schedules ------*- C++ -*-===//

#ifndef WEFT_COMPILER_LOWERING_INSTRUCTIONCLOCK_H
#define WEFT_COMPILER_LOWERING_INSTRUCTIONCLOCK_H

#include "compiler/Kernel/Target.h"
#include "dialects/Exec/IR/ExecDialect.h"

#include <algorithm>

namespace weft {

/// Seconds of instructions, near enough to weigh one against another.
class InstructionClock {
public:
  virtual ~InstructionClock() = default;
  virtual double getSeconds(exec::InstructionOpInterface op) = 0;
  /// Communication of the same lane (from 0) is done one after the other.
  virtual unsigned getLane(exec::InstructionOpInterface op) { return 0; }
  /// Seconds that it costs to have an instruction run beside others and to wait for it.
  virtual double getHandoffSeconds() const = 0;
};

/// By a target's estimates.
class TargetClock : public InstructionClock {
public:
  explicit TargetClock(const Target &target) : target(target) {}

  double getSeconds(exec::InstructionOpInterface op) override {
    exec::PriceAttr price = op.getPrice();
    int64_t read = price.getBytesRead(), written = price.getBytesWritten();
    return op.isCommunication() ? target.getCommunicationSeconds(std::max(read, written))
                                : target.getComputeSeconds(price.getFlops(), read + written);
  }
  double getHandoffSeconds() const override { return target.getHandoffSeconds(); }

private:
  const Target &target;
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_INSTRUCTIONCLOCK_H

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
  /// Whether it may run beside what computes: communication, and, where something but the cores
  /// does them, copies from and to the host.
  virtual bool mayRunBeside(exec::InstructionOpInterface op) { return op.isCommunication(); }
  /// Of what runs beside computation, instructions of the same lane (from 0) are done one after the
  /// other.
  virtual unsigned getLane(exec::InstructionOpInterface op) { return getCopyLane(op, 0); }
  /// Seconds that it costs to have an instruction run beside others and to wait for it.
  virtual double getHandoffSeconds() const = 0;

protected:
  /// The lane of a copy from or to the host, one behind `first` for each way; `first` of others.
  static unsigned getCopyLane(exec::InstructionOpInterface op, unsigned first) {
    if (!op.isHostCopy())
      return first;
    return first + (op.getReads().front().getArena() == exec::ArenaKind::Host ? 1 : 2);
  }
};

/// By a target's estimates.
class TargetClock : public InstructionClock {
public:
  explicit TargetClock(const Target &target) : target(target) {}

  double getSeconds(exec::InstructionOpInterface op) override {
    exec::PriceAttr price = op.getPrice();
    int64_t read = price.getBytesRead(), written = price.getBytesWritten();
    return mayRunBeside(op) ? target.getCommunicationSeconds(std::max(read, written))
                            : target.getComputeSeconds(price.getFlops(), read + written);
  }
  bool mayRunBeside(exec::InstructionOpInterface op) override {
    return op.isCommunication() || (op.isHostCopy() && target.hasOwnMemory());
  }
  double getHandoffSeconds() const override { return target.getHandoffSeconds(); }

private:
  const Target &target;
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_INSTRUCTIONCLOCK_H

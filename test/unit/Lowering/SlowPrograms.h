//===- SlowPrograms.h - segments that are scheduled -------------*- C++ -*-===//
//
// Programs of one segment on a device whose instructions take as many seconds as is said, and what
// holds of their schedules.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_LOWERING_SLOWPROGRAMS_H
#define WEFT_TEST_UNIT_LOWERING_SLOWPROGRAMS_H

#include "compiler/Lowering/Dependences.h"
#include "compiler/Lowering/Schedule.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <random>

namespace weft {

using namespace mlir;

/// A second for each FLOP, a second for each byte that is communicated.
class SlowTarget : public Target {
public:
  StringRef getName() const override { return "slow"; }
  bool callsLibrary(Operation *op) const override { return false; }
  bool wantsChannelsLast(Operation *op) const override { return false; }
  bool runsEpilogues(Operation *op) const override { return false; }
  MatrixStorage chooseStorage(RankedTensorType matrix, int64_t rows,
                              bool isColumnMajor) const override {
    return {};
  }
  int64_t getScoreBytes() const override { return 0; }
  double getComputeSeconds(double flops, double bytes) const override { return flops; }
  double getCommunicationSeconds(double bytes) const override { return bytes; }
  double getHandoffSeconds() const override { return 1; }
  bool hasOwnMemory() const override { return ownsMemory; }

  bool ownsMemory = true;
};

/// Gathers have a lane of their own.
class ClockOfTwoLanes : public TargetClock {
public:
  using TargetClock::TargetClock;
  unsigned getLane(exec::InstructionOpInterface op) override {
    auto collective = dyn_cast<exec::CollectiveOp>(*op);
    return collective && collective.getKind() == exec::CollectiveKind::AllGather ? 1 : 0;
  }
};

/// Numbers of buffers in the host's memory, which every program has.
constexpr int64_t states[] = {1000001, 1000002, 1000003};

/// A program of one segment, written by its lines (see compute() and reduce() below).
class Program {
public:
  explicit Program(ArrayRef<std::string> lines, ArrayRef<int64_t> bufferBytes) {
    context.loadDialect<exec::ExecDialect>();
    std::string text =
        "exec.mesh @mesh [\"x\"=2]\n"
        "exec.mesh @there [\"x\"=2] from 2\nexec.program @p ranks 0 to 2 schedule [] {\n";
    for (auto [number, bytes] : llvm::enumerate(bufferBytes))
      text +=
          llvm::formatv("buffer {0} activations {1} align 64 live uses\n", number + 1, bytes).str();
    for (int64_t state : states)
      text += llvm::formatv("buffer {0} host 64 align 64 live step\n", state).str();
    text += "segment @s {\n";
    for (const std::string &line : lines)
      text += line + "\n";
    module = parseSourceString<ModuleOp>(text + "}\n}\n", &context);
    module->walk([&](exec::InstructionOpInterface op) { instructions.push_back(op); });
    module->walk([&](exec::BufferOp op) {
      if (op.getKind() != exec::ArenaKind::Host)
        buffers.push_back(op);
    });
  }

  SegmentSchedule schedule() {
    TargetClock clock(target);
    return schedule(clock);
  }

  SegmentSchedule schedule(InstructionClock &clock) {
    return scheduleSegment(instructions, buffers, clock);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<exec::InstructionOpInterface> instructions;
  std::vector<exec::BufferOp> buffers;
  SlowTarget target;
};

inline std::string operand(int64_t buffer) {
  return llvm::formatv("<activations, 0, f32 [1] value {0}>", buffer).str();
}

/// Computation of so many seconds.
inline std::string compute(ArrayRef<int64_t> reads, int64_t write, int64_t seconds) {
  auto list = [](ArrayRef<int64_t> buffers) {
    return llvm::join(
        llvm::map_range(buffers, [](int64_t b) { return "#exec.operand" + operand(b); }), ", ");
  };
  return llvm::formatv("launch \"k\" [{0}] to [{1}] params [] tiles 1 grain 1 checks [] "
                       "priced <\"\", {2} flops, 0 read, 0 written, \"\">",
                       list(reads), list({write}), seconds)
      .str();
}

/// An all-reduce of so many seconds.
inline std::string reduce(int64_t read, int64_t write, int64_t seconds) {
  return llvm::formatv("collective all_reduce sum axes [\"x\"] on @mesh {0} to {1} "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       operand(read), operand(write), seconds)
      .str();
}

/// A gather of so many seconds.
inline std::string gather(int64_t read, int64_t write, int64_t seconds) {
  return llvm::formatv("collective all_gather sum axes [\"x\"] on @mesh {0} to "
                       "<activations, 0, f32 [2] value {1}> "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       operand(read), write, seconds)
      .str();
}

/// A copy of so many seconds from what lies at a number in the host's memory, and back.
inline std::string fetch(int64_t state, int64_t write, int64_t seconds) {
  return llvm::formatv("copy <host, 0, f32 [1] value {0}> to {1} "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       state, operand(write), seconds)
      .str();
}
inline std::string giveBack(int64_t read, int64_t state, int64_t seconds) {
  return llvm::formatv("copy {1} to <host, 0, f32 [1] value {0}> "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       state, operand(read), seconds)
      .str();
}

inline std::string send(int64_t read) {
  return llvm::formatv("send tag 1 {0} to @there peer <0 + 1 * [\"x\"]> steps [] leaders [] "
                       "priced <\"\", 0 flops, 1 read, 0 written, \"\">",
                       operand(read))
      .str();
}
inline std::string receive(int64_t write) {
  return llvm::formatv("receive tag 2 from @there peer <0 + 1 * [\"x\"]> steps [] into {0} "
                       "priced <\"\", 0 flops, 0 read, 1 written, \"\">",
                       operand(write))
      .str();
}

inline std::vector<unsigned> getOrder(const SegmentSchedule &schedule) {
  std::vector<unsigned> order;
  for (const ScheduledInstruction &scheduled : schedule.order)
    order.push_back(scheduled.number);
  return order;
}

/// Every instruction once, behind what it depends on, and nothing that communication touches is
/// touched before it is waited for.
inline void checkValid(Program &program, const SegmentSchedule &schedule) {
  Dependences dependences(program.instructions);
  std::vector<int> state(program.instructions.size()); // 1: begun, 2: over
  for (const ScheduledInstruction &scheduled : schedule.order) {
    for (unsigned waited : scheduled.waits) {
      CHECK(state[waited] == 1);
      state[waited] = 2;
    }
    REQUIRE(state[scheduled.number] == 0);
    for (unsigned other : dependences.getBefore(scheduled.number))
      CHECK(state[other] == 2);
    state[scheduled.number] = scheduled.async ? 1 : 2;
  }
  for (unsigned waited : schedule.waitsAtEnd) {
    CHECK(state[waited] == 1);
    state[waited] = 2;
  }
  CHECK(llvm::all_of(state, [](int over) { return over == 2; }));
}

/// One instruction after the other.
inline SegmentSchedule keepOrder(unsigned count) {
  SegmentSchedule schedule;
  for (unsigned number = 0; number < count; ++number)
    schedule.order.emplace_back().number = number;
  return schedule;
}

/// The most bytes between the first and the last use of buffers, where nothing is in place.
inline int64_t getPeak(Program &program, const SegmentSchedule &schedule) {
  std::vector<std::pair<int64_t, int64_t>> uses(program.buffers.size(), {-1, -1});
  auto use = [&](unsigned number, int64_t time) {
    exec::InstructionOpInterface op = program.instructions[number];
    for (const SmallVector<exec::OperandAttr> &operands : {op.getReads(), op.getWrites()})
      for (exec::OperandAttr operand : operands) {
        if (operand.getArena() == exec::ArenaKind::Host)
          continue;
        auto &[first, last] = uses[operand.getValue() - 1];
        first = first < 0 ? time : first;
        last = std::max(last, time);
      }
  };
  int64_t time = 0;
  for (const ScheduledInstruction &scheduled : schedule.order) {
    for (unsigned waited : scheduled.waits)
      use(waited, time - 1); // the wait stands before the instruction
    use(scheduled.number, time++);
  }
  for (unsigned waited : schedule.waitsAtEnd)
    use(waited, time);
  int64_t peak = 0;
  for (int64_t now = 0; now <= time; ++now) {
    int64_t live = 0;
    for (auto [buffer, used] : llvm::zip_equal(program.buffers, uses))
      live += used.first >= 0 && used.first <= now && now <= used.second
                  ? static_cast<int64_t>(buffer.getBytes())
                  : 0;
    peak = std::max(peak, live);
  }
  return peak;
}

} // namespace weft

#endif // WEFT_TEST_UNIT_LOWERING_SLOWPROGRAMS_H

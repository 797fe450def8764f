//===- ScheduleInstructions.cpp - order, streams and waits ----------------===//

#include "compiler/Lowering/Schedule.h"
#include "passes/Lowering/ClusterClock.h"
#include "passes/Lowering/Passes.h"

namespace weft {
#define GEN_PASS_DEF_SCHEDULEINSTRUCTIONS
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// A segment's instructions, in the order in which they stood. Observations are none of them: they
/// take no part in the order, and each follows what makes the value that it reads.
class Segment {
public:
  explicit Segment(exec::SegmentOp op) : op(op) {
    llvm::DenseMap<int64_t, SmallVector<Operation *, 1>> writers; // so far, by buffer
    for (auto instruction : op.getBody().getOps<exec::InstructionOpInterface>()) {
      all.push_back(instruction);
      if (auto observe = dyn_cast<exec::ObserveOp>(*instruction)) {
        observations.push_back({observe, writers.lookup(observe.getInput().getValue())});
        continue;
      }
      instructions.push_back(instruction);
      for (exec::OperandAttr write : instruction.getWrites())
        writers[write.getValue()].push_back(instruction);
    }
  }

  ArrayRef<exec::InstructionOpInterface> getInstructions() const { return instructions; }

  bool isAsynchronous() const {
    return llvm::any_of(instructions, [](exec::InstructionOpInterface instruction) {
      return instruction.getAsyncAttr() || isa<exec::WaitOp>(*instruction);
    });
  }

  void apply(const SegmentSchedule &schedule, int64_t &nextToken) {
    for (const ScheduledInstruction &scheduled : schedule.order) {
      addWaits(scheduled.waits);
      exec::InstructionOpInterface instruction = instructions[scheduled.number];
      instruction->moveBefore(&op.getBody().front(), op.getBody().front().end());
      auto stream = instruction.isHostCopy() ? exec::Stream::Copy : exec::Stream::Communication;
      if (scheduled.async)
        instruction->setAttr("async", exec::AsyncAttr::get(op.getContext(), stream, nextToken++));
    }
    for (unsigned number : schedule.waitsAtEnd)
      if (!getUntil(number))
        addWait(instructions[number]);
    placeObservations();
  }

  /// The segment at whose end an instruction is waited for; null: where this one's schedule has it.
  FlatSymbolRefAttr getUntil(unsigned number) const {
    auto send = dyn_cast<exec::SendOp>(*instructions[number]);
    return send ? send.getUntilAttr() : FlatSymbolRefAttr();
  }

  /// Waits at the end of `other` for what is put off so far.
  void addWaitsIn(Segment &other, const SegmentSchedule &schedule) {
    for (unsigned number : schedule.waitsAtEnd)
      if (FlatSymbolRefAttr until = getUntil(number);
          until && until.getAttr() == other.op.getSymNameAttr())
        other.addWait(instructions[number]);
  }

private:
  /// Puts each observation behind the last of what makes its value, and behind the waits for it.
  void placeObservations() {
    if (observations.empty())
      return;
    llvm::DenseMap<Operation *, size_t> places;
    llvm::DenseMap<int64_t, Operation *> waitsFor; // by token
    for (auto [place, other] : llvm::enumerate(op.getBody().front())) {
      places[&other] = place;
      if (auto wait = dyn_cast<exec::WaitOp>(other))
        waitsFor[wait.getToken()] = wait;
    }
    for (auto &[observe, writers] : observations) {
      Operation *last = nullptr;
      auto follow = [&](Operation *other) {
        if (other && (!last || places.lookup(other) > places.lookup(last)))
          last = other;
      };
      for (Operation *writer : writers) {
        follow(writer);
        if (exec::AsyncAttr async = cast<exec::InstructionOpInterface>(writer).getAsyncAttr())
          follow(waitsFor.lookup(async.getToken()));
      }
      if (last)
        observe->moveAfter(last);
      else
        observe->moveBefore(&op.getBody().front(), op.getBody().front().begin());
    }
  }

  void addWaits(ArrayRef<unsigned> numbers) {
    for (unsigned number : numbers)
      addWait(instructions[number]);
  }

  void addWait(exec::InstructionOpInterface begun) {
    OpBuilder builder = OpBuilder::atBlockEnd(&op.getBody().front());
    auto price =
        exec::PriceAttr::get(op.getContext(), begun.getPrice().getSource(), 0, 0, 0, "wait");
    exec::WaitOp::create(builder, begun.getLoc(), begun.getAsyncAttr().getToken(), price);
  }

  exec::SegmentOp op;
  std::vector<exec::InstructionOpInterface> all;
  std::vector<exec::InstructionOpInterface> instructions; ///< without observations
  std::vector<std::pair<exec::ObserveOp, SmallVector<Operation *, 1>>> observations;
};

/// The segments of a program, and the buffers that one of them alone names.
class ProgramScheduler {
public:
  ProgramScheduler(exec::ProgramOp program, InstructionClock &clock)
      : program(program), clock(clock) {
    for (auto segment : program.getBody().getOps<exec::SegmentOp>())
      segments.emplace_back(segment);
    findOwnBuffers();
  }

  bool isScheduled() const {
    return llvm::any_of(segments, [](const Segment &segment) { return segment.isAsynchronous(); });
  }

  /// Schedules the segments that gain by it. Where there are messages all are, so that no order of
  /// theirs is left to chance.
  void run() {
    bool mustRun = hasMessages();
    std::vector<SegmentSchedule> schedules;
    bool helps = false;
    for (auto [segment, own] : llvm::zip_equal(segments, ownBuffers)) {
      schedules.push_back(scheduleSegment(segment.getInstructions(), own, clock));
      helps |= isWorthwhile(schedules.back());
    }
    if (!helps && !mustRun)
      return;
    int64_t nextToken = 1;
    for (auto [segment, schedule] : llvm::zip_equal(segments, schedules))
      if (mustRun || isWorthwhile(schedule))
        segment.apply(schedule, nextToken);
    addLateWaits(schedules);
  }

private:
  /// Whether anything runs beside anything, and time is won by it.
  static bool isWorthwhile(const SegmentSchedule &schedule) {
    return schedule.seconds < schedule.secondsOneByOne &&
           llvm::any_of(
               schedule.order,
               [](const ScheduledInstruction &scheduled) { return scheduled.async; });
  }

  /// Waits in later segments, once all instructions stand in their order.
  void addLateWaits(ArrayRef<SegmentSchedule> schedules) {
    for (auto [segment, schedule] : llvm::zip_equal(segments, schedules))
      for (Segment &other : segments)
        segment.addWaitsIn(other, schedule);
  }

  bool hasMessages() const {
    return llvm::any_of(segments, [](const Segment &segment) {
      return llvm::any_of(segment.getInstructions(), [](exec::InstructionOpInterface instruction) {
        return instruction.isMessage();
      });
    });
  }

  void findOwnBuffers() {
    constexpr int64_t several = -1;
    llvm::DenseMap<int64_t, int64_t> segmentOf; // of a buffer's number
    for (auto [number, segment] : llvm::enumerate(segments))
      for (exec::InstructionOpInterface instruction : segment.getInstructions())
        for (const auto &operands : {instruction.getReads(), instruction.getWrites()})
          for (exec::OperandAttr operand : operands) {
            auto [it, isNew] = segmentOf.try_emplace(operand.getValue(), number);
            if (!isNew && it->second != static_cast<int64_t>(number))
              it->second = several;
          }
    ownBuffers.resize(segments.size());
    for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
      auto it = segmentOf.find(buffer.getNumber());
      if (it != segmentOf.end() && it->second != several &&
          buffer.getLive() != exec::Lifetime::Step)
        ownBuffers[it->second].push_back(buffer);
    }
  }

  exec::ProgramOp program;
  InstructionClock &clock;
  std::vector<Segment> segments;
  std::vector<std::vector<exec::BufferOp>> ownBuffers; ///< by segment
};

struct ScheduleInstructions : weft::impl::ScheduleInstructionsBase<ScheduleInstructions> {
  using ScheduleInstructionsBase::ScheduleInstructionsBase;

  void runOnOperation() override {
    const Target *chosen = findTarget(target, getOperation());
    if (!chosen)
      return signalPassFailure();
    std::unique_ptr<InstructionClock> clock = makeClock(getOperation(), *chosen);
    for (auto program : getOperation().getOps<exec::ProgramOp>()) {
      if (program.getBody().getOps<exec::BufferOp>().empty())
        continue;
      ProgramScheduler scheduler(program, *clock);
      if (scheduler.isScheduled()) {
        program.emitOpError("expected a program whose instructions wait for one another, got one "
                            "with asynchronous ones");
        return signalPassFailure();
      }
      scheduler.run();
    }
  }
};

} // namespace

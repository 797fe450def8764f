#include "compiler/Lowering/Schedule.h"

#include "compiler/Lowering/Dependences.h"

#include <array>
#include <set>

using namespace mlir;
using namespace weft;

namespace {

using Instructions = ArrayRef<exec::InstructionOpInterface>;
using KindBytes = std::array<int64_t, exec::getMaxEnumValForArenaKind() + 1>;

/// So many instructions that could be begun are looked at before an older one is waited for.
constexpr int lookAhead = 64;

/// The bytes of buffers that are live while instructions are begun and ended.
class LiveBytes {
public:
  LiveBytes(Instructions instructions, ArrayRef<exec::BufferOp> ownBuffers)
      : instructions(instructions) {
    for (exec::BufferOp op : ownBuffers)
      buffers[op.getNumber()] = {.bytes = static_cast<int64_t>(op.getBytes()),
                                 .kind = static_cast<unsigned>(op.getKind()),
                                 .kept = op.getLive() != exec::Lifetime::Uses,
                                 .uses = 0,
                                 .begun = false};
    for (exec::InstructionOpInterface op : instructions)
      forEach(op, [](Buffer &buffer) { ++buffer.uses; });
  }

  /// Bytes that the instruction adds where it begins now.
  KindBytes getNeed(unsigned number) {
    KindBytes need{};
    forEach(instructions[number], [&](Buffer &buffer) {
      if (!buffer.begun)
        need[buffer.kind] += buffer.bytes;
    });
    if (Buffer *buffer = findTakenOver(number))
      need[buffer->kind] -= buffer->bytes;
    return need;
  }

  void begin(unsigned number) {
    if (Buffer *buffer = findTakenOver(number)) {
      live[buffer->kind] -= buffer->bytes;
      buffer->bytes = 0; // its place is the result's from here on
    }
    forEach(instructions[number], [&](Buffer &buffer) {
      if (!buffer.begun)
        live[buffer.kind] += buffer.bytes;
      buffer.begun = true;
    });
    for (auto [most, now] : llvm::zip_equal(peak, live))
      most = std::max(most, now);
  }

  void end(unsigned number) {
    forEach(instructions[number], [&](Buffer &buffer) {
      if (--buffer.uses == 0 && !buffer.kept)
        live[buffer.kind] -= buffer.bytes;
    });
  }

  KindBytes live{}, peak{};

private:
  struct Buffer {
    int64_t bytes = 0;
    unsigned kind = 0;
    bool kept = false; ///< after its last use
    int64_t uses = 0;  ///< by instructions that have not ended
    bool begun = false;
  };

  template <typename Visit> void forEach(exec::InstructionOpInterface op, Visit visit) {
    for (const SmallVector<exec::OperandAttr> &operands : {op.getReads(), op.getWrites()})
      for (exec::OperandAttr operand : operands)
        if (auto it = buffers.find(operand.getValue()); it != buffers.end())
          visit(it->second);
  }

  /// The operand whose place the result takes; null where there is none.
  Buffer *findTakenOver(unsigned number) {
    exec::InstructionOpInterface op = instructions[number];
    if (!op.mayWriteInPlace())
      return nullptr;
    auto from = buffers.find(op.getReads().front().getValue());
    auto to = buffers.find(op.getWrites().front().getValue());
    if (from == buffers.end() || to == buffers.end() || from == to)
      return nullptr;
    bool ends = from->second.uses == 1 && !from->second.kept && !to->second.begun;
    bool fits = from->second.kind == to->second.kind && from->second.bytes == to->second.bytes;
    return ends && fits ? &from->second : nullptr;
  }

  Instructions instructions;
  llvm::DenseMap<int64_t, Buffer> buffers;
};

class ListScheduler {
public:
  ListScheduler(Instructions instructions, ArrayRef<exec::BufferOp> ownBuffers,
                const Target &target, const ScheduleOptions &options)
      : instructions(instructions), target(target), options(options), dependences(instructions),
        meter(instructions, ownBuffers), missing(instructions.size()), states(instructions.size()) {
    LiveBytes before(instructions, ownBuffers);
    for (unsigned number = 0; number < instructions.size(); ++number) {
      before.begin(number);
      before.end(number);
      schedule.secondsOneByOne += getSeconds(number);
      missing[number] = dependences.getBefore(number).size();
      if (isCommunication(number))
        communication.push_back(number);
      else if (missing[number] == 0)
        ready.insert(number);
    }
    limit = before.peak;
  }

  SegmentSchedule run() {
    while (schedule.order.size() < instructions.size())
      begin(choose());
    for (unsigned number : communication)
      if (states[number].open)
        schedule.waitsAtEnd.push_back(number);
    schedule.seconds = std::max(now, communicationEnd);
    for (unsigned number : schedule.waitsAtEnd)
      states[number].waitedAt = computed;
    makeShortOnesSynchronous();
    return std::move(schedule);
  }

private:
  struct State {
    bool begun = false;
    bool open = false;                ///< communication that is not waited for
    double end = 0;                   ///< of communication, on the clock
    double begunAt = 0, waitedAt = 0; ///< seconds of computation before
  };

  bool isCommunication(unsigned number) const {
    exec::InstructionOpInterface op = instructions[number];
    return op.isCommunication();
  }

  double getSeconds(unsigned number) const {
    exec::InstructionOpInterface op = instructions[number];
    exec::PriceAttr price = op.getPrice();
    int64_t read = price.getBytesRead(), written = price.getBytesWritten();
    return isCommunication(number) ? target.getCommunicationSeconds(std::max(read, written))
                                   : target.getComputeSeconds(price.getFlops(), read + written);
  }

  /// Whether it would have to wait for communication.
  bool wouldWait(unsigned number) const {
    return llvm::any_of(dependences.getBefore(number), [&](unsigned other) {
      return states[other].open && states[other].end > now;
    });
  }

  bool fits(unsigned number) {
    KindBytes need = meter.getNeed(number);
    for (size_t kind = 0; kind < need.size(); ++kind)
      if (need[kind] > 0 && meter.live[kind] + need[kind] > limit[kind])
        return false;
    return true;
  }

  unsigned choose() {
    while (states[oldest].begun)
      ++oldest;
    auto mayBegin = [&](unsigned number) {
      return !wouldWait(number) && (number == oldest || fits(number));
    };
    if (nextCommunication < communication.size()) {
      unsigned number = communication[nextCommunication];
      if (missing[number] == 0 && mayBegin(number))
        return number;
    }
    int looked = 0;
    for (unsigned number : ready) {
      if (++looked > lookAhead || (!options.reorder && number != oldest))
        break;
      if (mayBegin(number))
        return number;
    }
    return oldest;
  }

  void waitFor(unsigned number, ScheduledInstruction &by) {
    State &state = states[number];
    by.waits.push_back(number);
    now = std::max(now, state.end);
    state.open = false;
    state.waitedAt = computed;
    meter.end(number);
  }

  void begin(unsigned number) {
    ScheduledInstruction &scheduled = schedule.order.emplace_back();
    scheduled.number = number;
    for (unsigned other : dependences.getBefore(number))
      if (states[other].open)
        waitFor(other, scheduled);
    State &state = states[number];
    state.begun = true;
    meter.begin(number);
    if (isCommunication(number)) {
      scheduled.async = state.open = true;
      state.begunAt = computed;
      communicationEnd = state.end = std::max(now, communicationEnd) + getSeconds(number);
      ++nextCommunication;
    } else {
      ready.erase(number);
      meter.end(number);
      now += getSeconds(number);
      computed += getSeconds(number);
    }
    for (unsigned other : dependences.getAfter(number))
      if (--missing[other] == 0 && !isCommunication(other))
        ready.insert(other);
  }

  /// Collectives beside which there is too little to do are waited for where they begin.
  void makeShortOnesSynchronous() {
    auto isShort = [&](unsigned number) {
      const State &state = states[number];
      return !exec::InstructionOpInterface(instructions[number]).isMessage() &&
             state.waitedAt - state.begunAt < target.getHandoffSeconds();
    };
    for (ScheduledInstruction &scheduled : schedule.order) {
      scheduled.async &= !isShort(scheduled.number);
      llvm::erase_if(scheduled.waits, isShort);
    }
    llvm::erase_if(schedule.waitsAtEnd, isShort);
  }

  Instructions instructions;
  const Target &target;
  const ScheduleOptions &options;
  Dependences dependences;
  LiveBytes meter;
  KindBytes limit;
  std::vector<unsigned> missing; ///< instructions before each that are not begun
  std::vector<State> states;
  std::vector<unsigned> communication; ///< in its order
  size_t nextCommunication = 0;
  std::set<unsigned> ready;                           ///< computation whose operands are begun
  unsigned oldest = 0;                                ///< the first that is not begun
  double now = 0, communicationEnd = 0, computed = 0; ///< s
  SegmentSchedule schedule;
};

} // namespace

SegmentSchedule weft::scheduleSegment(Instructions instructions,
                                      ArrayRef<exec::BufferOp> ownBuffers, const Target &target,
                                      const ScheduleOptions &options) {
  return ListScheduler(instructions, ownBuffers, target, options).run();
}

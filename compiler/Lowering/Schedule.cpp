#include "compiler/Lowering/Schedule.h"

#include "compiler/Lowering/Dependences.h"
#include "compiler/Support/SlackTree.h"

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

  /// Those of them that are there until something else ends.
  KindBytes getLasting(unsigned number) {
    KindBytes lasting = getNeed(number);
    forEach(instructions[number], [&](Buffer &buffer) {
      if (!buffer.begun && buffer.uses == 1 && !buffer.kept)
        lasting[buffer.kind] -= buffer.bytes;
    });
    return lasting;
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
  }

  void end(unsigned number) {
    forEach(instructions[number], [&](Buffer &buffer) {
      if (--buffer.uses == 0 && !buffer.kept)
        live[buffer.kind] -= buffer.bytes;
    });
  }

  KindBytes live{};

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

/// What is left, at each place of the old order, of the most bytes that are live in it, while
/// instructions that stand behind that place are begun before.
class Room {
public:
  /// By place, the bytes that are live in the old order.
  explicit Room(ArrayRef<KindBytes> live) {
    std::vector<int64_t> left(live.size());
    for (unsigned kind = 0; kind < most.size(); ++kind) {
      for (const KindBytes &bytes : live)
        most[kind] = std::max(most[kind], bytes[kind]);
      for (size_t place = 0; place < live.size(); ++place)
        left[place] = most[kind] - live[place][kind];
      slack.emplace_back(left);
    }
  }

  /// Whether so many bytes more have room from one place up to another.
  bool has(const KindBytes &bytes, unsigned begin, unsigned end) const {
    for (unsigned kind = 0; kind < slack.size(); ++kind)
      if (bytes[kind] > 0 && slack[kind].leastOver(begin, end) < bytes[kind])
        return false;
    return true;
  }
  void take(const KindBytes &bytes, unsigned begin, unsigned end) {
    for (unsigned kind = 0; kind < slack.size(); ++kind)
      if (bytes[kind] > 0)
        slack[kind].take(begin, end, bytes[kind]);
  }

  KindBytes most{};

private:
  std::vector<SlackTree> slack; ///< by kind
};

class ListScheduler {
public:
  ListScheduler(Instructions instructions, ArrayRef<exec::BufferOp> ownBuffers,
                const Target &target)
      : instructions(instructions), target(target), dependences(instructions),
        meter(instructions, ownBuffers), room(findLive(instructions, ownBuffers)),
        missing(instructions.size()), states(instructions.size()) {
    for (unsigned number = 0; number < instructions.size(); ++number) {
      schedule.secondsOneByOne += getSeconds(number);
      missing[number] = dependences.getBefore(number).size();
      hasMessages |= isMessage(number);
      if (isCommunication(number))
        communication.push_back(number);
      else if (missing[number] == 0)
        ready.insert(number);
    }
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

  /// By instruction, the bytes that are live while it runs in the old order.
  static std::vector<KindBytes> findLive(Instructions instructions,
                                         ArrayRef<exec::BufferOp> ownBuffers) {
    LiveBytes before(instructions, ownBuffers);
    std::vector<KindBytes> live;
    for (unsigned number = 0; number < instructions.size(); ++number) {
      before.begin(number);
      live.push_back(before.live);
      before.end(number);
    }
    return live;
  }

  bool isCommunication(unsigned number) const {
    exec::InstructionOpInterface op = instructions[number];
    return op.isCommunication();
  }

  /// Another program may wait for it, and have this one wait for what stands behind it here: it is
  /// begun as soon as it can be, and waited for nowhere but where it must.
  bool isMessage(unsigned number) const {
    exec::InstructionOpInterface op = instructions[number];
    return op.isMessage();
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
      if (need[kind] > 0 && meter.live[kind] + need[kind] > room.most[kind])
        return false;
    return true;
  }

  unsigned choose() {
    while (states[oldest].begun)
      ++oldest;
    auto mayBegin = [&](unsigned number) {
      return !wouldWait(number) &&
             (number == oldest || isMessage(number) ||
              (fits(number) && room.has(meter.getLasting(number), oldest, number)));
    };
    if (nextCommunication < communication.size()) {
      unsigned number = communication[nextCommunication];
      if (missing[number] == 0 && mayBegin(number))
        return number;
    }
    int looked = 0;
    for (unsigned number : ready) {
      if (++looked > lookAhead || (hasMessages && number != oldest))
        break;
      if (mayBegin(number))
        return number;
    }
    return oldest;
  }

  /// What is begun in any case waits for collectives, the first first, until there is room for it.
  void makeRoom(unsigned number, ScheduledInstruction &by) {
    for (; !fits(number) && firstOpen < nextCommunication; ++firstOpen)
      if (unsigned other = communication[firstOpen]; states[other].open && !isMessage(other))
        waitFor(other, by);
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
    makeRoom(number, scheduled);
    State &state = states[number];
    state.begun = true;
    if (number != oldest)
      room.take(meter.getLasting(number), oldest, number);
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
      return !isMessage(number) && state.waitedAt - state.begunAt < target.getHandoffSeconds();
    };
    for (ScheduledInstruction &scheduled : schedule.order) {
      scheduled.async &= !isShort(scheduled.number);
      llvm::erase_if(scheduled.waits, isShort);
    }
    llvm::erase_if(schedule.waitsAtEnd, isShort);
  }

  Instructions instructions;
  const Target &target;
  Dependences dependences;
  LiveBytes meter;
  Room room;
  std::vector<unsigned> missing; ///< instructions before each that are not begun
  std::vector<State> states;
  std::vector<unsigned> communication; ///< in its order
  size_t nextCommunication = 0, firstOpen = 0;
  bool hasMessages = false;
  std::set<unsigned> ready;                           ///< computation whose operands are begun
  unsigned oldest = 0;                                ///< the first that is not begun
  double now = 0, communicationEnd = 0, computed = 0; ///< s
  SegmentSchedule schedule;
};

} // namespace

SegmentSchedule weft::scheduleSegment(Instructions instructions,
                                      ArrayRef<exec::BufferOp> ownBuffers, const Target &target) {
  return ListScheduler(instructions, ownBuffers, target).run();
}

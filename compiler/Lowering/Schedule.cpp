#include "compiler/Lowering/Schedule.h"

#include "compiler/Lowering/Dependences.h"
#include "compiler/Lowering/ScheduleMemory.h"

#include <set>

using namespace mlir;
using namespace weft;

namespace {

using Instructions = ArrayRef<exec::InstructionOpInterface>;

/// So many instructions that could be begun are looked at before an older one is waited for.
constexpr int lookAhead = 64;

class ListScheduler {
public:
  ListScheduler(Instructions instructions, ArrayRef<exec::BufferOp> ownBuffers,
                const Target &target)
      : instructions(instructions), target(target), dependences(instructions),
        live(instructions, ownBuffers), room(instructions, ownBuffers),
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
    ArenaBytes need = live.getNeed(number);
    for (size_t kind = 0; kind < need.size(); ++kind)
      if (need[kind] > 0 && live.get()[kind] + need[kind] > room.getMost()[kind])
        return false;
    return true;
  }

  unsigned choose() {
    while (states[oldest].begun)
      ++oldest;
    auto mayBegin = [&](unsigned number) {
      return !wouldWait(number) &&
             (number == oldest || isMessage(number) ||
              (fits(number) && room.has(live.getLasting(number), oldest, number)));
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
    live.end(number);
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
      room.take(live.getLasting(number), oldest, number);
    live.begin(number);
    if (isCommunication(number)) {
      scheduled.async = state.open = true;
      state.begunAt = computed;
      communicationEnd = state.end = std::max(now, communicationEnd) + getSeconds(number);
      ++nextCommunication;
    } else {
      ready.erase(number);
      live.end(number);
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
  LiveBytes live;
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

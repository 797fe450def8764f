#include "compiler/Lowering/Schedule.h"

#include "compiler/Lowering/Dependences.h"
#include "compiler/Lowering/ScheduleMemory.h"

#include <iterator>
#include <optional>
#include <set>
#include <utility>

using namespace mlir;
using namespace weft;

namespace {

using Instructions = ArrayRef<exec::InstructionOpInterface>;

/// So many instructions that could be begun are looked at before an older one is waited for.
constexpr int lookAhead = 64;

/// How communication is chosen.
struct Policy {
  /// So many collectives that have not begun are looked at: the first may wait for what is computed
  /// while one behind it, the gather of the weight that comes next, need not.
  int collectivesAhead;
  /// What collectives have given, and nothing uses yet, is no more than so many times what the
  /// largest of them gives: what comes earlier mostly hides no more, and leaves gaps where it lies.
  double mostUnused;
};

/// What begins at the first opportunity may keep the links from what turns out to be urgent: none
/// of these is the best of all segments. The first keeps the order.
constexpr Policy policies[] = {{1, 2}, {16, 2}, {64, 4}};

class ListScheduler {
public:
  ListScheduler(Instructions instructions, ArrayRef<exec::BufferOp> ownBuffers,
                InstructionClock &clock)
      : instructions(instructions), handoff(clock.getHandoffSeconds()), dependences(instructions),
        live(instructions, ownBuffers), room(instructions, ownBuffers),
        missing(instructions.size()), states(instructions.size()) {
    for (unsigned number = 0; number < instructions.size(); ++number) {
      seconds.push_back(clock.getSeconds(instructions[number]));
      lanes.push_back(clock.getLane(instructions[number]));
      laneEnds.resize(std::max<size_t>(laneEnds.size(), lanes.back() + 1));
      schedule.secondsOneByOne += seconds.back();
      missing[number] = dependences.getBefore(number).size();
      hasMessages |= isMessage(number);
      if (isCommunication(number)) {
        communication.push_back(number);
        largest = std::max(largest, getGiven(number));
      } else if (missing[number] == 0) {
        ready.insert(number);
      }
    }
  }

  /// Those that may tell apart what is to be scheduled.
  ArrayRef<Policy> listPolicies() const {
    bool mayReorder = !hasMessages && communication.size() > 1;
    return ArrayRef(policies).take_front(mayReorder ? std::size(policies) : 1);
  }

  SegmentSchedule run(const Policy &by) {
    policy = by;
    while (schedule.order.size() < instructions.size())
      begin(choose());
    for (unsigned number : begun)
      if (states[number].open)
        schedule.waitsAtEnd.push_back(number);
    schedule.seconds = now;
    for (double end : laneEnds)
      schedule.seconds = std::max(schedule.seconds, end);
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
    double unused = 0;                ///< B that it gave, until something uses them
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

  /// Until when it would have to wait for communication.
  double getEarliest(unsigned number) const {
    double earliest = now;
    for (unsigned other : dependences.getBefore(number))
      if (states[other].open)
        earliest = std::max(earliest, states[other].end);
    return earliest;
  }

  bool fits(unsigned number) {
    ArenaBytes need = live.getNeed(number);
    for (size_t kind = 0; kind < need.size(); ++kind)
      if (need[kind] > 0 && live.get()[kind] + need[kind] > room.getMost()[kind])
        return false;
    return true;
  }

  /// Whether it may begin before its turn, as far as memory goes.
  bool hasRoom(unsigned number) {
    return number == oldest || isMessage(number) ||
           (fits(number) && room.has(live.getLasting(number), oldest, number));
  }

  bool mayBegin(unsigned number) { return getEarliest(number) <= now && hasRoom(number); }

  /// B that what communication gives takes until something uses it.
  double getGiven(unsigned number) {
    double bytes = 0;
    for (int64_t lasting : live.getLasting(number))
      bytes += static_cast<double>(std::max<int64_t>(lasting, 0));
    return bytes;
  }

  bool isTooEarly(unsigned number) {
    return number != oldest && !isMessage(number) &&
           unused + getGiven(number) > policy.mostUnused * largest;
  }

  /// Visits what may begin next as far as its operands go, communication first, until one is taken.
  /// Beside messages all keeps its order.
  std::optional<unsigned> findNext(llvm::function_ref<bool(unsigned)> takes) {
    int looked = 0;
    for (unsigned number : ArrayRef(communication).drop_front(firstLeft)) {
      if (states[number].begun)
        continue;
      if (++looked > (hasMessages ? 1 : policy.collectivesAhead))
        break;
      if (missing[number] == 0 && !isTooEarly(number) && takes(number))
        return number;
    }
    looked = 0;
    for (unsigned number : ready) {
      if (++looked > lookAhead || (hasMessages && number != oldest))
        break;
      if (takes(number))
        return number;
    }
    return std::nullopt;
  }

  /// What has to wait the least: where all has to, something young may be there before the oldest.
  unsigned chooseSoonest() {
    unsigned soonest = oldest;
    double earliest = getEarliest(oldest);
    findNext([&](unsigned number) {
      if (double own = getEarliest(number); own < earliest && hasRoom(number)) {
        soonest = number;
        earliest = own;
      }
      return false;
    });
    return soonest;
  }

  unsigned choose() {
    while (states[oldest].begun)
      ++oldest;
    while (firstLeft < communication.size() && states[communication[firstLeft]].begun)
      ++firstLeft;
    std::optional<unsigned> next = findNext([&](unsigned number) { return mayBegin(number); });
    return next ? *next : chooseSoonest();
  }

  /// What is begun in any case waits for collectives, the first first, until there is room for it.
  void makeRoom(unsigned number, ScheduledInstruction &by) {
    for (; !fits(number) && firstOpen < begun.size(); ++firstOpen)
      if (unsigned other = begun[firstOpen]; states[other].open && !isMessage(other))
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

  void beginBeside(unsigned number, ScheduledInstruction &scheduled) {
    State &state = states[number];
    unused += state.unused = getGiven(number);
    live.begin(number);
    scheduled.async = state.open = true;
    state.begunAt = computed;
    double &laneEnd = laneEnds[lanes[number]];
    laneEnd = state.end = std::max(now, laneEnd) + seconds[number];
    begun.push_back(number);
  }

  void compute(unsigned number) {
    live.begin(number);
    ready.erase(number);
    live.end(number);
    now += seconds[number];
    computed += seconds[number];
  }

  void begin(unsigned number) {
    ScheduledInstruction &scheduled = schedule.order.emplace_back();
    scheduled.number = number;
    for (unsigned other : dependences.getBefore(number)) {
      if (states[other].open)
        waitFor(other, scheduled);
      unused -= std::exchange(states[other].unused, 0);
    }
    makeRoom(number, scheduled);
    states[number].begun = true;
    if (number != oldest)
      room.take(live.getLasting(number), oldest, number);
    if (isCommunication(number))
      beginBeside(number, scheduled);
    else
      compute(number);
    for (unsigned other : dependences.getAfter(number))
      if (--missing[other] == 0 && !isCommunication(other))
        ready.insert(other);
  }

  /// Collectives beside which there is too little to do are waited for where they begin.
  void makeShortOnesSynchronous() {
    auto isShort = [&](unsigned number) {
      const State &state = states[number];
      return !isMessage(number) && state.waitedAt - state.begunAt < handoff;
    };
    for (ScheduledInstruction &scheduled : schedule.order) {
      scheduled.async &= !isShort(scheduled.number);
      llvm::erase_if(scheduled.waits, isShort);
    }
    llvm::erase_if(schedule.waitsAtEnd, isShort);
  }

  Instructions instructions;
  double handoff; ///< s
  Policy policy = policies[0];
  Dependences dependences;
  LiveBytes live;
  Room room;
  std::vector<unsigned> missing; ///< instructions before each that are not begun
  std::vector<State> states;
  std::vector<double> seconds;         ///< of each
  std::vector<unsigned> lanes;         ///< of each
  std::vector<double> laneEnds;        ///< s on the clock, by lane, of what was begun
  std::vector<unsigned> communication; ///< in the old order
  std::vector<unsigned> begun;         ///< communication, in the new one
  size_t firstLeft = 0; ///< the first of `communication` that is not begun, or before
  size_t firstOpen = 0; ///< the same of `begun`, of what is not waited for
  bool hasMessages = false;
  std::set<unsigned> ready;     ///< computation whose operands are begun
  unsigned oldest = 0;          ///< the first that is not begun
  double now = 0, computed = 0; ///< s
  double unused = 0;            ///< B that communication gave and nothing uses yet
  double largest = 0;           ///< B that one collective gives
  SegmentSchedule schedule;
};

} // namespace

SegmentSchedule weft::scheduleSegment(Instructions instructions,
                                      ArrayRef<exec::BufferOp> ownBuffers,
                                      InstructionClock &clock) {
  const ListScheduler scheduler(instructions, ownBuffers, clock);
  SegmentSchedule best = ListScheduler(scheduler).run(scheduler.listPolicies().front());
  for (const Policy &policy : scheduler.listPolicies().drop_front()) {
    SegmentSchedule other = ListScheduler(scheduler).run(policy);
    if (other.seconds < best.seconds)
      best = std::move(other);
  }
  return best;
}

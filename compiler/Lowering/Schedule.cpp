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

/// How what runs beside computation is chosen.
struct Policy {
  /// So many that have not begun are looked at: the first may wait for what is computed while one
  /// behind it, the gather of the weight that comes next, need not.
  int ahead;
  /// What they have given, and nothing uses yet, is no more than so many times what the largest of
  /// them gives: what comes earlier mostly hides no more, and leaves gaps where it lies.
  double mostUnused;
};

/// The same of copies from the host, which wait for nothing: they are begun no earlier than where
/// this many instructions are left in the old order before what they are fetched for.
constexpr unsigned fetchedAhead = 64;
constexpr Policy copyPolicy = {16, 3};

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
      exec::InstructionOpInterface op = instructions[number];
      if (clock.mayRunBeside(op)) {
        Queue &queue = op.isCommunication() ? communication : copies;
        queueOf.push_back(&queue == &communication ? Beside::Communication : Beside::Copies);
        queue.numbers.push_back(number);
        queue.largest = std::max(queue.largest, getGiven(number));
        continue;
      }
      queueOf.push_back(Beside::None);
      if (missing[number] == 0)
        ready.insert(number);
    }
  }

  /// Those that may tell apart what is to be scheduled.
  ArrayRef<Policy> listPolicies() const {
    bool mayReorder = communication.numbers.size() > 1;
    return ArrayRef(policies).take_front(mayReorder ? std::size(policies) : 1);
  }

  SegmentSchedule run(const Policy &by) {
    communication.policy = by;
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
    bool open = false;                ///< it runs beside, and is not waited for
    double end = 0;                   ///< of what runs beside, on the clock
    double unused = 0;                ///< B that it gave, until something uses them
    double begunAt = 0, waitedAt = 0; ///< seconds of computation before
  };

  /// What is begun in its turn beside computation, by who does it.
  enum class Beside { None, Communication, Copies };
  struct Queue {
    std::vector<unsigned> numbers{}; ///< in the old order
    Policy policy = policies[0];
    size_t firstLeft = 0; ///< the first of them that is not begun, or before
    double unused = 0;    ///< B that they gave and nothing uses yet
    double largest = 0;   ///< B that one of them gives
  };

  bool isBeside(unsigned number) const { return queueOf[number] != Beside::None; }
  Queue &getQueue(unsigned number) {
    return queueOf[number] == Beside::Copies ? copies : communication;
  }

  /// Another program may wait for it, and have this one wait for what stands behind it here: it is
  /// begun as soon as it can be, and waited for nowhere but where it must.
  bool isMessage(unsigned number) const {
    exec::InstructionOpInterface op = instructions[number];
    return op.isMessage();
  }

  /// Whether it may begin as far as messages go. What it has to wait for may be sent only once
  /// what stands before it here was: all of that is begun first.
  bool mayWait(unsigned number) const {
    return number == oldest || llvm::none_of(dependences.getBefore(number), [&](unsigned other) {
             return states[other].open && isMessage(other);
           });
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
    if (number == oldest || isMessage(number))
      return false;
    const Queue &queue = getQueue(number);
    return queue.unused + getGiven(number) > queue.policy.mostUnused * queue.largest ||
           (queueOf[number] == Beside::Copies && number > oldest + fetchedAhead);
  }

  std::optional<unsigned> findNext(const Queue &queue, llvm::function_ref<bool(unsigned)> takes) {
    int looked = 0;
    for (unsigned number : ArrayRef(queue.numbers).drop_front(queue.firstLeft)) {
      if (states[number].begun)
        continue;
      if (++looked > queue.policy.ahead || (looked > 1 && isMessage(number)))
        break;
      if (missing[number] == 0 && !isTooEarly(number) && mayWait(number) && takes(number))
        return number;
    }
    return std::nullopt;
  }

  /// Visits what may begin next as far as its operands go, what runs beside computation first,
  /// until one is taken.
  std::optional<unsigned> findNext(llvm::function_ref<bool(unsigned)> takes) {
    for (const Queue *queue : {&communication, &copies})
      if (std::optional<unsigned> next = findNext(*queue, takes))
        return next;
    int looked = 0;
    for (unsigned number : ready) {
      if (++looked > lookAhead)
        break;
      if (mayWait(number) && takes(number))
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
    for (Queue *queue : {&communication, &copies})
      while (queue->firstLeft < queue->numbers.size() &&
             states[queue->numbers[queue->firstLeft]].begun)
        ++queue->firstLeft;
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
    getQueue(number).unused += state.unused = getGiven(number);
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
      if (isBeside(other))
        getQueue(other).unused -= std::exchange(states[other].unused, 0);
    }
    makeRoom(number, scheduled);
    states[number].begun = true;
    if (number != oldest)
      room.take(live.getLasting(number), oldest, number);
    if (isBeside(number))
      beginBeside(number, scheduled);
    else
      compute(number);
    for (unsigned other : dependences.getAfter(number))
      if (--missing[other] == 0 && !isBeside(other))
        ready.insert(other);
  }

  /// What has too little to run beside is waited for where it begins.
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
  Dependences dependences;
  LiveBytes live;
  Room room;
  std::vector<unsigned> missing; ///< instructions before each that are not begun
  std::vector<State> states;
  std::vector<double> seconds;  ///< of each
  std::vector<unsigned> lanes;  ///< of each
  std::vector<double> laneEnds; ///< s on the clock, by lane, of what was begun
  std::vector<Beside> queueOf;  ///< of each
  Queue communication;
  Queue copies{.policy = copyPolicy};
  std::vector<unsigned> begun;  ///< of what runs beside computation, in the new order
  size_t firstOpen = 0;         ///< the first of them that is not waited for, or before
  std::set<unsigned> ready;     ///< computation whose operands are begun
  unsigned oldest = 0;          ///< the first that is not begun
  double now = 0, computed = 0; ///< s
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

#include "compiler/Simulate/Simulator.h"
#include "compiler/Simulate/Fluid.h"

#include <algorithm>

using namespace weft::sim;

const char *weft::sim::getStreamName(Stream stream) {
  static constexpr std::array<const char *, numStreams> names = {
      "compute", "collective", "point-to-point", "copy", "copy back"};
  return names[static_cast<size_t>(stream)];
}

int32_t weft::sim::getNumSlots(const Program &program) {
  size_t lanes = 1;
  for (const RankClass &rankClass : program.classes)
    lanes = std::max(lanes, rankClass.lanes.size());
  return numStreams + static_cast<int32_t>(lanes) - 1;
}

namespace {

/// Where a stream is in its class's list.
struct Cursor {
  size_t entry = 0, position = 0; ///< position among the instructions of the stream in the segment
  bool running = false;
  double begin = 0; ///< s of what runs
};

/// Instructions of a segment by slot.
using SlotLists = std::vector<std::vector<int32_t>>;

class Simulation {
public:
  Simulation(const Program &program, const Options &options);
  Result run();

private:
  void wake(int32_t rankClass) { woken.push_back(rankClass); }
  void drain();
  void advance(int32_t slot);
  const Instruction *findHead(int32_t slot);
  bool isReady(int32_t slot, const Instruction &instruction);
  bool arriveAt(int32_t slot, int32_t id);
  void begin(int32_t slot, const Instruction &instruction);
  void finish(int32_t slot);
  void complete(int32_t slot, const Instruction &instruction);
  void receive(const Instruction &instruction, int32_t instance);
  void reportBlocked();
  void change(int32_t rankClass, const std::vector<MemoryChange> &changes) {
    meters[rankClass].change(now, changes, options.memory ? &result.memory : nullptr);
  }
  const Entry &getEntry(int32_t slot) const {
    return program.classes[slot / slots].entries[cursors[slot].entry];
  }
  int32_t getInstruction(int32_t slot) const {
    const SlotLists &segment = lists[slot / slots][getEntry(slot).segment];
    return segment[slot % slots][cursors[slot].position];
  }
  size_t getIndex(int32_t id, int32_t instance) const {
    return static_cast<size_t>(id) * static_cast<size_t>(program.instances) +
           static_cast<size_t>(instance);
  }

  const Program &program;
  const Options &options;
  int32_t slots; ///< of a class
  EventQueue queue;
  Fluid fluid;
  double now = 0;
  std::vector<std::vector<SlotLists>> lists; ///< by class and segment
  std::vector<Cursor> cursors;               ///< by slot
  std::vector<std::vector<bool>> recorded;   ///< by class, events of every instance
  std::vector<bool> arrived;                 ///< messages of every channel and instance
  std::vector<int32_t> outstanding, senders; ///< by channel; slot of the last sender
  enum class Rendezvous : uint8_t { None, Waiting, Complete };
  std::vector<std::vector<int32_t>> present; ///< by rendezvous, slots that have come
  std::vector<Rendezvous> rendezvous;        ///< by slot
  std::vector<MemoryMeter> meters;
  std::vector<int32_t> woken; ///< classes whose streams may be able to go on
  Result result;
};

Simulation::Simulation(const Program &program, const Options &options)
    : program(program), options(options), slots(getNumSlots(program)), fluid(program, queue),
      cursors(program.classes.size() * slots),
      arrived(program.channels.size() * static_cast<size_t>(program.instances)),
      outstanding(program.channels.size()), senders(program.channels.size(), -1),
      present(program.rendezvous.size()), rendezvous(cursors.size()) {
  result.classes.resize(program.classes.size());
  for (size_t i = 0; i < program.classes.size(); ++i) {
    const RankClass &rankClass = program.classes[i];
    auto &segments = lists.emplace_back(rankClass.segments.size());
    for (size_t s = 0; s < segments.size(); ++s) {
      segments[s].resize(slots);
      for (size_t k = 0; k < rankClass.segments[s].instructions.size(); ++k)
        segments[s][getSlot(rankClass.segments[s].instructions[k])].push_back(
            static_cast<int32_t>(k));
    }
    recorded.emplace_back(static_cast<size_t>(rankClass.events) *
                          static_cast<size_t>(program.instances));
    result.classes[i].begin = -1;
    meters.emplace_back(static_cast<int32_t>(i), program.owners.size());
    change(static_cast<int32_t>(i), rankClass.resident);
    wake(static_cast<int32_t>(i));
  }
}

/// The instruction that the stream has to run next; null at the end of the list.
const Instruction *Simulation::findHead(int32_t slot) {
  const RankClass &rankClass = program.classes[slot / slots];
  Cursor &cursor = cursors[slot];
  for (; cursor.entry < rankClass.entries.size(); ++cursor.entry, cursor.position = 0) {
    int32_t segment = rankClass.entries[cursor.entry].segment;
    const auto &list = lists[slot / slots][segment][slot % slots];
    if (cursor.position < list.size())
      return &rankClass.segments[segment].instructions[list[cursor.position]];
  }
  return nullptr;
}

bool Simulation::isReady(int32_t slot, const Instruction &instruction) {
  int32_t instance = getEntry(slot).instance;
  switch (instruction.op) {
  case Op::Work:
  case Op::Transfer:
  case Op::Record:
    return true;
  case Op::Wait:
    return recorded[slot / slots][getIndex(instruction.id, instance)];
  case Op::Receive:
    return arrived[getIndex(instruction.id, instance)];
  case Op::Send:
    senders[instruction.id] = slot;
    return outstanding[instruction.id] < program.channels[instruction.id].capacity;
  case Op::Rendezvous:
    return arriveAt(slot, instruction.id);
  }
  return false;
}

bool Simulation::arriveAt(int32_t slot, int32_t id) {
  if (rendezvous[slot] == Rendezvous::None) {
    rendezvous[slot] = Rendezvous::Waiting;
    present[id].push_back(slot);
    if (static_cast<int32_t>(present[id].size()) == program.rendezvous[id]) {
      for (int32_t other : present[id]) {
        rendezvous[other] = Rendezvous::Complete;
        wake(other / slots);
      }
      present[id].clear();
    }
  }
  if (rendezvous[slot] != Rendezvous::Complete)
    return false;
  rendezvous[slot] = Rendezvous::None;
  return true;
}

void Simulation::begin(int32_t slot, const Instruction &instruction) {
  cursors[slot].begin = now;
  change(slot / slots, instruction.onBegin);
  if (instruction.op == Op::Send)
    ++outstanding[instruction.id];
  if (instruction.seconds <= 0 && instruction.linkSeconds <= 0)
    return complete(slot, instruction);
  cursors[slot].running = true;
  fluid.start(slot, instruction, now);
}

void Simulation::receive(const Instruction &instruction, int32_t instance) {
  if (outstanding[instruction.id]-- == program.channels[instruction.id].capacity &&
      senders[instruction.id] >= 0)
    wake(senders[instruction.id] / slots);
  // A message is received once; sent again, it is another one.
  arrived[getIndex(instruction.id, instance)] = false;
}

/// What an instruction leaves behind, and on to the next.
void Simulation::complete(int32_t slot, const Instruction &instruction) {
  Cursor &cursor = cursors[slot];
  int32_t rankClass = slot / slots, instance = getEntry(slot).instance;
  change(rankClass, instruction.onEnd);
  switch (instruction.op) {
  case Op::Record:
    recorded[rankClass][getIndex(instruction.id, instance)] = true;
    wake(rankClass);
    break;
  case Op::Send: {
    int64_t ranks = program.classes[rankClass].ranks;
    result.messages += ranks;
    result.messageBytes += program.channels[instruction.id].bytes * static_cast<double>(ranks);
    queue.push(now + instruction.flight, instruction.id, instance, true);
    break;
  }
  case Op::Receive:
    receive(instruction, instance);
    break;
  default:
    break;
  }
  if (now > cursor.begin) {
    ClassResult &sums = result.classes[rankClass];
    sums.begin = sums.begin < 0 ? cursor.begin : std::min(sums.begin, cursor.begin);
    sums.end = now;
    sums.busy[static_cast<size_t>(instruction.stream)] += now - cursor.begin;
    result.seconds = now;
  }
  if (options.spans && (now > cursor.begin || instruction.op == Op::Work))
    result.spans.push_back(
        {rankClass, static_cast<int32_t>(cursor.entry), getInstruction(slot), cursor.begin, now});
  ++cursor.position;
}

void Simulation::advance(int32_t slot) {
  while (!cursors[slot].running) {
    const Instruction *head = findHead(slot);
    if (!head || !isReady(slot, *head))
      return;
    begin(slot, *head);
  }
}

/// Until no stream can go on at this time.
void Simulation::drain() {
  while (!woken.empty()) {
    int32_t rankClass = woken.back();
    woken.pop_back();
    for (int32_t slot = 0; slot < slots; ++slot)
      advance(rankClass * slots + slot);
  }
}

void Simulation::finish(int32_t slot) {
  cursors[slot].running = false;
  complete(slot, *findHead(slot));
  wake(slot / slots);
}

void Simulation::reportBlocked() {
  for (size_t slot = 0; slot < cursors.size(); ++slot)
    if (findHead(static_cast<int32_t>(slot)))
      result.blocked.push_back({static_cast<int32_t>(slot / slots),
                                static_cast<int32_t>(cursors[slot].entry),
                                getInstruction(static_cast<int32_t>(slot))});
}

Result Simulation::run() {
  for (drain(); !queue.empty(); drain()) {
    Event event = queue.pop();
    if (event.arrival) {
      now = event.seconds;
      arrived[getIndex(event.slot, static_cast<int32_t>(event.version))] = true;
      wake(program.channels[event.slot].receiver);
    } else if (fluid.finish(event, event.seconds)) {
      now = event.seconds;
      finish(event.slot);
    }
  }
  reportBlocked();
  for (size_t i = 0; i < meters.size(); ++i) {
    result.classes[i].memory = meters[i].finish(options.memory ? &result.memory : nullptr);
    result.classes[i].begin = std::max(0.0, result.classes[i].begin);
  }
  return std::move(result);
}

} // namespace

Result weft::sim::simulate(const Program &program, const Options &options) {
  return Simulation(program, options).run();
}

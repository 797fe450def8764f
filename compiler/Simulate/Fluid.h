//===- Fluid.h - rates of what runs at the same time ------------*- C++ -*-===//
//
// What runs on every stream between two events, and when it will be done if nothing changes. A
// change of a rate moves that time: the old event stays in the queue and is recognised as stale by
// its version.
//
// Worked example (SimulatorTest.cpp): two transfers of 4 s each share a link; the second comes 1 s
// after the first. Alone for 1 s, the first then goes at half its rate: its other 3 s take 6, and
// it ends at 7. By then the second has done 3 s, and does the last one alone: it ends at 8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SIMULATE_FLUID_H
#define WEFT_COMPILER_SIMULATE_FLUID_H

#include "compiler/Simulate/Program.h"
#include <queue>

namespace weft::sim {

/// Something that happens on a slot (class · getNumSlots() + getSlot()), or a message that arrives.
struct Event {
  double seconds = 0;
  uint64_t sequence = 0; ///< order among events of one time
  int32_t slot = 0;      ///< or channel of a message
  uint32_t version = 0;  ///< or instance of a message
  bool arrival = false;

  bool operator<(const Event &other) const { // the queue gives the greatest first
    return seconds != other.seconds ? seconds > other.seconds : sequence > other.sequence;
  }
};

class EventQueue {
public:
  void push(double seconds, int32_t slot, uint32_t version, bool arrival) {
    events.push({seconds, sequence++, slot, version, arrival});
  }
  bool empty() const { return events.empty(); }
  Event pop() {
    Event event = events.top();
    events.pop();
    return event;
  }

private:
  std::priority_queue<Event> events;
  uint64_t sequence = 0;
};

class Fluid {
public:
  Fluid(const Program &program, EventQueue &queue);

  /// Starts an instruction that takes time on a free slot.
  void start(int32_t slot, const Instruction &instruction, double now);
  /// True if the event ends the slot's instruction; false if it is stale or ends only its latency.
  bool finish(const Event &event, double now);

private:
  struct Running {
    const Instruction *instruction = nullptr;
    double remaining = 0, rate = 1, since = 0;
    uint32_t version = 0;
    bool onLinks = false;
  };
  struct Link {
    double demand = 0;
    bool isChanged = false;     ///< what it leaves each user, since they were told last
    std::vector<int32_t> users; ///< slots
  };

  double getRate(int32_t slot) const;
  void schedule(int32_t slot, double now);
  void update(int32_t slot, double now);
  void enterLinks(int32_t slot, double now);
  void leaveLinks(int32_t slot, double now);
  static void setDemand(Link &link, double demand);
  void updateLinks(const Instruction &instruction, double now);
  void addLoss(int32_t slot, double loss, double now);

  EventQueue &queue;
  int32_t slots;                ///< of a class
  std::vector<Running> running; ///< by slot
  std::vector<double> loss;     ///< by class, of its compute rate
  std::vector<Link> links;
};

} // namespace weft::sim

#endif // WEFT_COMPILER_SIMULATE_FLUID_H

//===- Progress.cpp - which instruction a device is at --------------------===//

#include "runtime/Executor/Progress.h"

namespace weft::runtime {

namespace {
constexpr size_t mostPending = 1024; // instructions that the host may be ahead
} // namespace

Progress::Progress(Device &device, Stream &stream, HostWait &wait, RankLocation &location)
    : stream(stream), wait(wait), location(location) {
  for (size_t i = 0; i < mostPending + 1; ++i) // one is the latest that is done
    events.push_back(device.makeEvent());
}

void Progress::begin() {
  last = events[next++ % events.size()].get();
  stream.record(*last);
}

void Progress::passed(const Enqueued &instruction) {
  if (pending.size() == mostPending)
    waitForFirst();
  Event *event = events[next++ % events.size()].get();
  stream.record(*event);
  pending.push_back({instruction, event});
  while (!pending.empty() && pending.front().event->isDone())
    waitForFirst();
}

void Progress::catchUp() {
  while (!pending.empty())
    waitForFirst();
}

void Progress::waitForFirst() {
  const auto &[instruction, event] = pending.front();
  location.enterInstruction(instruction.number, instruction.label);
  wait.forEvent(*event);
  *instruction.seconds += event->getSecondsSince(*last);
  last = event;
  pending.pop_front();
}

} // namespace weft::runtime

//===- CommunicationQueue.cpp - communication beside computation ----------===//

#include "runtime/Collective/CommunicationQueue.h"

#include <chrono>

namespace weft::runtime {

/// How long what is outstanding is left to the rank's own thread. Where ranks have no core to
/// spare, another thread costs what it takes from them: woken every millisecond, that is a few
/// percent.
static constexpr std::chrono::milliseconds serviceDelay(1);

class CommunicationQueue::Operation {
public:
  explicit Operation(Phases phases) : phases(std::move(phases)) {}

  Phases phases;
  size_t phase = 0; ///< the present one
  std::unique_ptr<Exchange> posted;
  std::atomic<bool> done = false;
};

CommunicationQueue::~CommunicationQueue() {
  {
    std::lock_guard guard(lock);
    stopping = true;
  }
  changed.notify_all();
  transport.wake();
  if (thread.joinable())
    thread.join();
}

/// Those of lanes are taken from the top: other messages are numbered from 1.
static void setTags(const Transport &transport, int32_t lane, Phases &phases) {
  if (lane == 0)
    return;
  int64_t tag = transport.getMaxTag() - lane;
  for (Phase &phase : phases) {
    for (Send &send : phase.sends)
      send.tag = tag;
    for (Receive &receive : phase.receives)
      receive.tag = tag;
  }
}

CommunicationQueue::Handle CommunicationQueue::beginCollective(Phases phases, int32_t lane) {
  ++openCollectives;
  setTags(transport, lane, phases);
  return begin(std::move(phases), lane);
}

CommunicationQueue::Handle CommunicationQueue::beginMessages(std::vector<Send> sends,
                                                             std::vector<Receive> receives) {
  Phases phases(1);
  phases.front().sends = std::move(sends);
  phases.front().receives = std::move(receives);
  return begin(std::move(phases), std::nullopt);
}

void CommunicationQueue::runCollective(Phases phases, int32_t lane) {
  if (openCollectives > 0)
    return wait(beginCollective(std::move(phases), lane));
  setTags(transport, lane, phases);
  runPhases(transport, phases);
}

CommunicationQueue::Handle CommunicationQueue::begin(Phases phases, std::optional<int32_t> lane) {
  checkFailure();
  auto operation = std::make_shared<Operation>(std::move(phases));
  bool rests, serves;
  {
    std::lock_guard guard(lock);
    begun.emplace_back(operation, lane);
    ++outstanding;
    rests = resting;
    serves = serving;
  }
  if (driving.try_lock()) { // the first messages go out at once
    std::lock_guard guard(driving, std::adopt_lock);
    drive(/*mayWork=*/false);
  }
  if (!thread.joinable() && transport.servesThreads())
    thread = std::thread([this] { serve(); });
  if (rests)
    changed.notify_all();
  if (serves)
    transport.wake();
  return operation;
}

void CommunicationQueue::wait(const Handle &operation) {
  transport.waitUntil([&] {
    if (operation->done)
      return true;
    checkFailure();
    if (driving.try_lock()) {
      std::lock_guard guard(driving, std::adopt_lock);
      drive(/*mayWork=*/true);
    }
    return operation->done.load();
  });
}

void CommunicationQueue::checkFailure() {
  std::lock_guard guard(lock);
  if (failure)
    std::rethrow_exception(failure);
}

/// The queue's thread: serves operations that are outstanding for longer than its patience.
void CommunicationQueue::serve() {
  int64_t last = 0; // so many operations were begun when the thread lost its patience
  auto isOver = [&] {
    std::lock_guard guard(lock);
    return stopping || finished >= last;
  };
  try {
    while (true) {
      {
        std::unique_lock guard(lock);
        resting = true;
        changed.wait(guard, [&] { return stopping || outstanding > 0; });
        resting = false;
        last = finished + outstanding;
        if (changed.wait_for(guard, serviceDelay, [&] { return stopping; }))
          return;
        serving = finished < last;
      }
      transport.waitUntil([&] {
        if (isOver())
          return true;
        std::lock_guard guard(driving);
        drive(/*mayWork=*/true);
        return isOver();
      });
      std::lock_guard guard(lock);
      serving = false;
    }
  } catch (...) {
    std::lock_guard guard(lock);
    failure = std::current_exception();
  }
  transport.wake();
}

/// Moves on whatever can be moved; `driving` is held.
void CommunicationQueue::drive(bool mayWork) {
  {
    std::lock_guard guard(lock);
    for (auto &[operation, lane] : begun)
      if (lane)
        collectives[*lane].push_back(operation);
      else
        messages.push_back(operation);
    begun.clear();
  }
  int64_t done = 0;
  std::erase_if(messages, [&](const Handle &operation) {
    bool isDone = advance(*operation, mayWork);
    done += isDone ? 1 : 0;
    return isDone;
  });
  for (auto &[lane, waiting] : collectives)
    while (!waiting.empty() && advance(*waiting.front(), mayWork)) {
      waiting.pop_front();
      --openCollectives;
      ++done;
    }
  if (done == 0)
    return;
  {
    std::lock_guard guard(lock);
    outstanding -= done;
    finished += done;
  }
  transport.wake();
}

/// Whether all phases are over. Without `mayWork` what a phase leaves to do is left to another.
bool CommunicationQueue::advance(Operation &operation, bool mayWork) {
  for (; operation.phase < operation.phases.size(); ++operation.phase) {
    const Phase &phase = operation.phases[operation.phase];
    if (!operation.posted)
      operation.posted = transport.post(phase.sends, phase.receives);
    if (!mayWork || !operation.posted->isDone())
      return false;
    operation.posted.reset();
    if (phase.then)
      phase.then();
  }
  operation.done = true;
  return true;
}

} // namespace weft::runtime

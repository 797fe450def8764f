//===- LocalTransport.cpp - ranks that are threads ------------------------===//
//
// Each rank has an inbox: a queue of posted sends per peer, a lock and a condition. A sender posts
// into the receiver's inbox; the receiver copies, marks the send as done and wakes the sender. A
// waiting rank looks a few times before it sleeps, because a peer on another core is mostly
// microseconds away; it does not burn the core of a peer that shares it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Collective/Local/LocalTransport.h"

#include "runtime/Support/Cores.h"
#include "runtime/Support/Error.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int looksBeforeSleep = 64;

/// A send that waits for its receiver. Lives on the sender's stack until `done`.
struct Posted {
  const void *data;
  uint64_t bytes;
  std::atomic<bool> done = false;
};

struct Inbox {
  std::mutex lock;
  std::condition_variable changed;
  std::map<int64_t, std::deque<Posted *>> posted; ///< by sender
  std::atomic<Clock::rep> lastBeat = 0;
};

struct World {
  explicit World(int64_t size) : inboxes(size) {
    for (Inbox &inbox : inboxes)
      inbox.lastBeat = Clock::now().time_since_epoch().count();
  }

  std::deque<Inbox> inboxes;
  std::atomic<bool> aborted = false;
  std::mutex lock; ///< of `reason`
  std::optional<AbortReason> reason;
};

class LocalTransport : public Transport {
public:
  LocalTransport(std::shared_ptr<World> world, int64_t rank)
      : world(std::move(world)), rank(rank) {}

  int64_t getRank() const override { return rank; }
  int64_t getSize() const override { return static_cast<int64_t>(world->inboxes.size()); }
  std::string getName() const override { return "local"; }
  bool ownsProcess() const override { return false; }

  int getThreadShare(int threads) const override {
    int64_t cores = threads > 0 ? threads : getNumCores();
    return static_cast<int>(std::max<int64_t>(1, cores / getSize()));
  }

  void exchange(std::span<const Send> sends, std::span<const Receive> receives) override {
    std::deque<Posted> mine;
    for (const Send &send : sends) {
      Posted &posted = mine.emplace_back();
      posted.data = send.data;
      posted.bytes = send.bytes;
      Inbox &inbox = world->inboxes[send.peer];
      {
        std::lock_guard guard(inbox.lock);
        inbox.posted[rank].push_back(&posted);
      }
      inbox.changed.notify_one();
    }
    try {
      for (const Receive &receive : receives)
        take(receive);
      wait([&] {
        return std::all_of(mine.begin(), mine.end(), [](Posted &posted) {
          return posted.done.load(std::memory_order_acquire);
        });
      });
    } catch (...) {
      withdraw(sends, mine);
      throw;
    }
  }

  void beat() override { world->inboxes[rank].lastBeat = Clock::now().time_since_epoch().count(); }

  std::optional<int64_t> findSilent(double seconds) override {
    auto now = Clock::now();
    for (int64_t i = 0; i < getSize(); ++i) {
      Clock::time_point last{Clock::duration(world->inboxes[i].lastBeat)};
      if (i != rank && std::chrono::duration<double>(now - last).count() > seconds)
        return i;
    }
    return std::nullopt;
  }

  void abort(const AbortReason &reason) override {
    {
      std::lock_guard guard(world->lock);
      if (!world->reason)
        world->reason = reason;
    }
    world->aborted = true;
    for (Inbox &inbox : world->inboxes) {
      std::lock_guard guard(inbox.lock); // no waiter is between its look and its sleep
      inbox.changed.notify_all();
    }
  }

  std::optional<AbortReason> getAbortReason() override {
    std::lock_guard guard(world->lock);
    return world->reason;
  }

  void finish() override {}

private:
  /// Waits until `ready`, which others make true under or before a notice to this rank's inbox.
  template <typename Ready> void wait(Ready ready) {
    for (int i = 0; i < looksBeforeSleep; ++i) {
      if (ready())
        return;
      std::this_thread::yield();
    }
    Inbox &inbox = world->inboxes[rank];
    std::unique_lock guard(inbox.lock);
    inbox.changed.wait(guard, [&] { return world->aborted || ready(); });
    if (!ready())
      throwFailure("stopped while waiting for other ranks");
  }

  /// The peer's first send, out of the queue; none if there is none. The inbox is locked.
  Posted *pop(int64_t peer) {
    std::deque<Posted *> &queue = world->inboxes[rank].posted[peer];
    if (queue.empty())
      return nullptr;
    Posted *posted = queue.front();
    queue.pop_front();
    return posted;
  }

  Posted *waitForPost(int64_t peer) {
    Inbox &inbox = world->inboxes[rank];
    for (int i = 0; i < looksBeforeSleep; ++i) {
      {
        std::lock_guard guard(inbox.lock);
        if (Posted *posted = pop(peer))
          return posted;
      }
      std::this_thread::yield();
    }
    Posted *posted = nullptr;
    std::unique_lock guard(inbox.lock);
    inbox.changed.wait(guard, [&] { return (posted = pop(peer)) || world->aborted; });
    if (!posted)
      throwFailure("stopped while waiting for rank {}", peer);
    return posted;
  }

  void take(const Receive &receive) {
    Posted *posted = waitForPost(receive.peer);
    uint64_t bytes = posted->bytes;
    if (bytes == receive.bytes)
      std::memcpy(receive.data, posted->data, bytes);
    Inbox &sender = world->inboxes[receive.peer];
    {
      std::lock_guard guard(sender.lock);
      posted->done.store(true, std::memory_order_release); // the sender may leave from here on
      sender.changed.notify_all();
    }
    if (bytes != receive.bytes)
      throwFailure("rank {} sends {} bytes where rank {} expects {}", receive.peer, bytes, rank,
                   receive.bytes);
  }

  /// Takes back what nobody has received, and waits for what is being copied: the sends are about
  /// to leave the stack.
  void withdraw(std::span<const Send> sends, std::deque<Posted> &mine) {
    for (size_t i = 0; i < mine.size(); ++i) {
      bool taken;
      {
        Inbox &inbox = world->inboxes[sends[i].peer];
        std::lock_guard guard(inbox.lock);
        taken = std::erase(inbox.posted[rank], &mine[i]) == 0;
      }
      while (taken && !mine[i].done.load(std::memory_order_acquire))
        std::this_thread::yield();
    }
  }

  std::shared_ptr<World> world;
  int64_t rank;
};

} // namespace

std::vector<std::unique_ptr<Transport>> makeLocalTransports(int64_t size) {
  auto world = std::make_shared<World>(size);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int64_t rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<LocalTransport>(world, rank));
  return transports;
}

} // namespace weft::runtime

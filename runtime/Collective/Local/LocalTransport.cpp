//===- LocalTransport.cpp - ranks that are threads ------------------------===//
//
// Each rank has an inbox with a queue of posted sends for each peer and tag, a lock and a
// condition. A sender posts into the receiver's inbox; the receiver copies when it looks, marks the
// send as done and wakes the sender. A waiting thread looks a few times before it sleeps, because a
// peer on another core is mostly microseconds away; it does not burn the core of a peer that shares
// it.
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
#include <limits>
#include <map>
#include <mutex>
#include <thread>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int looksBeforeSleep = 64;

/// A send that waits for its receiver. Its Exchange keeps it until `done`.
struct Posted {
  explicit Posted(const Send &send) : data(send.data), bytes(send.bytes) {}

  const void *data;
  uint64_t bytes;
  std::atomic<bool> done = false;
};

/// Messages of one peer and tag. Receives take sends in the order in which they were posted: each
/// has a turn.
struct Channel {
  std::deque<Posted *> posted;
  int64_t turns = 0; ///< given out to receives
  int64_t taken = 0; ///< the turn of the next send
};

struct Inbox {
  std::mutex lock;
  std::condition_variable changed;
  int64_t changes = 0; ///< counts what may be news to this rank's threads
  std::map<std::pair<int64_t, int64_t>, Channel> channels; ///< by sender and tag
  std::atomic<Clock::rep> lastHeartbeat = 0;

  void notify() {
    {
      std::lock_guard guard(lock);
      ++changes;
    }
    changed.notify_all();
  }
};

struct World {
  explicit World(int64_t size) : inboxes(size) {
    for (Inbox &inbox : inboxes)
      inbox.lastHeartbeat = Clock::now().time_since_epoch().count();
  }

  std::deque<Inbox> inboxes;
  std::atomic<bool> aborted = false;
  std::mutex lock; ///< of `reason`
  std::optional<AbortReason> reason;
};

class LocalExchange : public Exchange {
public:
  LocalExchange(std::shared_ptr<World> world, int64_t rank, std::span<const Send> sends,
                std::span<const Receive> receives)
      : world(std::move(world)), rank(rank), sends(sends.begin(), sends.end()) {
    for (const Receive &receive : receives) {
      std::lock_guard guard(getInbox().lock);
      Channel &channel = getInbox().channels[{receive.peer, receive.tag}];
      pending.push_back({receive, &channel, channel.turns++});
    }
    for (const Send &send : sends) {
      Inbox &inbox = this->world->inboxes[send.peer];
      {
        std::lock_guard guard(inbox.lock);
        inbox.channels[{rank, send.tag}].posted.push_back(&posted.emplace_back(send));
      }
      inbox.notify();
    }
  }

  /// Nobody may read the senders' memory behind its end.
  ~LocalExchange() override {
    for (size_t i = 0; i < posted.size(); ++i) {
      Inbox &inbox = world->inboxes[sends[i].peer];
      bool taken;
      {
        std::lock_guard guard(inbox.lock);
        taken = std::erase(inbox.channels[{rank, sends[i].tag}].posted, &posted[i]) == 0;
      }
      while (taken && !posted[i].done.load(std::memory_order_acquire))
        std::this_thread::yield();
    }
  }

  bool isDone() override {
    std::erase_if(pending, [&](const Pending &receive) { return take(receive); });
    return pending.empty() && std::all_of(posted.begin(), posted.end(), [](const Posted &send) {
             return send.done.load(std::memory_order_acquire);
           });
  }

private:
  struct Pending {
    Receive receive;
    Channel *channel;
    int64_t turn;
  };

  Inbox &getInbox() { return world->inboxes[rank]; }

  /// The send whose turn it is, out of its queue; none if it is not there yet.
  Posted *pop(const Pending &pending) {
    std::lock_guard guard(getInbox().lock);
    Channel &channel = *pending.channel;
    if (channel.taken != pending.turn || channel.posted.empty())
      return nullptr;
    Posted *send = channel.posted.front();
    channel.posted.pop_front();
    ++channel.taken;
    return send;
  }

  bool take(const Pending &pending) {
    Posted *send = pop(pending);
    if (!send)
      return false;
    const Receive &receive = pending.receive;
    uint64_t bytes = send->bytes;
    if (bytes == receive.bytes)
      std::memcpy(receive.data, send->data, bytes);
    send->done.store(true, std::memory_order_release); // the sender may leave from here on
    world->inboxes[receive.peer].notify();
    if (bytes != receive.bytes)
      throwFailure("rank {} sends {} bytes where rank {} expects {}", receive.peer, bytes, rank,
                   receive.bytes);
    return true;
  }

  std::shared_ptr<World> world;
  int64_t rank;
  std::vector<Send> sends;
  std::deque<Posted> posted; ///< of `sends`; their addresses stay
  std::vector<Pending> pending;
};

class LocalTransport : public Transport {
public:
  LocalTransport(std::shared_ptr<World> world, int64_t rank)
      : world(std::move(world)), rank(rank) {}

  int64_t getRank() const override { return rank; }
  int64_t getSize() const override { return static_cast<int64_t>(world->inboxes.size()); }
  std::string getName() const override { return "local"; }
  bool ownsProcess() const override { return false; }
  HostRank getHostRank() const override { return {rank, getSize()}; }

  int getThreadShare(int threads) const override {
    int64_t cores = threads > 0 ? threads : getNumCores();
    return static_cast<int>(std::max<int64_t>(1, cores / getSize()));
  }

  int64_t getMaxTag() const override { return std::numeric_limits<int64_t>::max(); }
  bool servesThreads() const override { return true; }

  std::unique_ptr<Exchange> post(std::span<const Send> sends,
                                 std::span<const Receive> receives) override {
    return std::make_unique<LocalExchange>(world, rank, sends, receives);
  }

  void waitUntil(const std::function<bool()> &look) override {
    for (int i = 0; i < looksBeforeSleep; ++i) {
      if (look())
        return;
      std::this_thread::yield();
    }
    Inbox &inbox = world->inboxes[rank];
    for (int64_t seen = -1;;) {
      bool aborted = world->aborted;
      if (look())
        return;
      if (aborted)
        throwFailure("stopped while waiting for other ranks");
      std::unique_lock guard(inbox.lock);
      inbox.changed.wait(guard, [&] { return inbox.changes != seen || world->aborted; });
      seen = inbox.changes;
    }
  }

  void wake() override { world->inboxes[rank].notify(); }

  void sendHeartbeat() override {
    world->inboxes[rank].lastHeartbeat = Clock::now().time_since_epoch().count();
  }

  std::optional<int64_t> findSilent(double seconds) override {
    auto now = Clock::now();
    for (int64_t i = 0; i < getSize(); ++i) {
      Clock::time_point last{Clock::duration(world->inboxes[i].lastHeartbeat)};
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
    for (Inbox &inbox : world->inboxes)
      inbox.notify();
  }

  std::optional<AbortReason> getAbortReason() override {
    std::lock_guard guard(world->lock);
    return world->reason;
  }

  void finish() override {}

private:
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

//===- Transport.h - how ranks reach each other -----------------*- C++ -*-===//
//
// One interface for ranks that are threads of this process (Local) and ranks that are processes
// under a launcher (Mpi). A transport moves bytes between pairs and tells who is alive; what a
// collective computes is built on top, once (Collectives.h), so that results are the same bit for
// bit on every transport.
//
// Liveness is a heartbeat, sent by a thread of its own (Watchdog), never the length of an
// instruction: a rank that computes for minutes is alive, a stopped process is not.
//
// Transports are modules loaded on demand: this header needs nothing but the standard library.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVE_TRANSPORT_H
#define WEFT_RUNTIME_COLLECTIVE_TRANSPORT_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace weft::runtime {

/// Collectives use tag 0, or one of the greatest (CommunicationQueue.h); other messages have tags
/// of their own.
struct Send {
  int64_t peer;
  const void *data;
  uint64_t bytes;
  int64_t tag = 0;
};

struct Receive {
  int64_t peer;
  void *data;
  uint64_t bytes;
  int64_t tag = 0;
};

/// Messages on their way. Their memory stays as it is until they are done. One that ends before
/// takes back what nobody has begun to receive, and waits for what is being received.
class Exchange {
public:
  virtual ~Exchange() = default;

  /// Moves on what can be moved without waiting; true once everything has arrived and left. Throws
  /// an Error of kind Failure where a message has another size than its receiver expects.
  virtual bool isDone() = 0;
};

/// Why a run is being ended.
struct AbortReason {
  int64_t rank = 0; ///< that failed, or is silent
  int exitCode = 5; ///< that every rank ends with
  std::string message;
  int64_t reporter = 0; ///< the rank that found it out and tells the user; no other does
  std::string where;    ///< the reporter was then; known to it alone
};

/// A rank among those of its host.
struct HostRank {
  int64_t rank = 0;
  int64_t ranks = 1;
};

/// One rank's end. Any thread may call it, but for one Exchange at a time one thread.
class Transport {
public:
  virtual ~Transport() = default;

  virtual int64_t getRank() const = 0;
  virtual int64_t getSize() const = 0;
  /// "local", "mpi"
  virtual std::string getName() const = 0;
  /// Whether this rank has a process of its own, which a failure may end.
  virtual bool ownsProcess() const = 0;
  virtual HostRank getHostRank() const = 0;
  /// Threads that this rank may use, where the host's `threads` (0: its cores) are divided among
  /// its ranks.
  virtual int getThreadShare(int threads) const = 0;

  /// The greatest tag that a message may have.
  virtual int64_t getMaxTag() const = 0;
  /// Whether messages move on while a thread of their own looks after them; else they do where the
  /// rank's own thread waits.
  virtual bool servesThreads() const = 0;

  /// Begins to send and receive, and returns. Messages between two ranks that have the same tag
  /// arrive in the order in which they were posted.
  virtual std::unique_ptr<Exchange> post(std::span<const Send> sends,
                                         std::span<const Receive> receives) = 0;
  /// Calls `look` until it returns true, after each wake() and whenever a message of this rank may
  /// have moved. Throws an Error of kind Failure when the run is aborted.
  virtual void waitUntil(const std::function<bool()> &look) = 0;
  /// Has this rank's waiting threads look again.
  virtual void wake() = 0;

  /// Sends and receives at once and returns when all of it is done.
  void exchange(std::span<const Send> sends, std::span<const Receive> receives) {
    std::unique_ptr<Exchange> posted = post(sends, receives);
    waitUntil([&] { return posted->isDone(); });
  }

  /// Tells the others that this rank is alive.
  virtual void sendHeartbeat() = 0;
  /// A watched rank from which nothing was heard for `seconds`.
  virtual std::optional<int64_t> findSilent(double seconds) = 0;

  /// Ends the run on every rank: waits throw, getAbortReason() tells why. What fails from then on
  /// fails because of it and is no reason. Where ranks that are processes fail before they hear of
  /// each other, the reason of the lowest reporter stays.
  virtual void abort(const AbortReason &reason) = 0;
  virtual std::optional<AbortReason> getAbortReason() = 0;

  /// Leaves the world in order; the last call of a run that did not fail.
  virtual void finish() = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_TRANSPORT_H

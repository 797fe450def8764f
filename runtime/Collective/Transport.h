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
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace weft::runtime {

struct Send {
  int64_t peer;
  const void *data;
  uint64_t bytes;
};

struct Receive {
  int64_t peer;
  void *data;
  uint64_t bytes;
};

/// Why a run is being ended.
struct AbortReason {
  int64_t rank = 0; ///< that failed, or is silent
  int exitCode = 5; ///< that every rank ends with
  std::string message;
  int64_t teller = 0; ///< the rank that found it out and tells the user; no other does
  std::string where;  ///< the teller was then; known to it alone
};

/// One rank's end. exchange() is called by the rank's own thread alone; the rest by any.
class Transport {
public:
  virtual ~Transport() = default;

  virtual int64_t getRank() const = 0;
  virtual int64_t getSize() const = 0;
  /// "local", "mpi"
  virtual std::string getName() const = 0;
  /// Whether this rank has a process of its own, which a failure may end.
  virtual bool ownsProcess() const = 0;
  /// Threads that this rank may use, where the host's `threads` (0: its cores) are divided among
  /// its ranks.
  virtual int getThreadShare(int threads) const = 0;

  /// Sends and receives at once and returns when all of it is done. Messages between two ranks
  /// arrive in the order in which they were posted. Throws an Error of kind Failure when the run is
  /// aborted or a message has another size than its receiver expects.
  virtual void exchange(std::span<const Send> sends, std::span<const Receive> receives) = 0;

  /// Tells the others that this rank is alive.
  virtual void beat() = 0;
  /// A watched rank from which nothing was heard for `seconds`.
  virtual std::optional<int64_t> findSilent(double seconds) = 0;

  /// Ends the run on every rank: exchanges throw, getAbortReason() tells why. What fails from then
  /// on fails because of it and is no reason. Where ranks that are processes fail before they hear
  /// of each other, the reason of the lowest teller stays.
  virtual void abort(const AbortReason &reason) = 0;
  virtual std::optional<AbortReason> getAbortReason() = 0;

  /// Leaves the world in order; the last call of a run that did not fail.
  virtual void finish() = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_TRANSPORT_H

//===- SideChannel.h - heartbeats beside MPI --------------------*- C++ -*-===//
//
// Open MPI waits forever for a stopped peer, and MPI may not be called from a second thread.
// Heartbeats and the notice of a failure therefore go beside it, as UDP datagrams of a socket that
// a thread of its own serves. Rank r beats to rank r+1 and watches rank r-1: whichever ranks fall
// silent, a living one watches one of them, and tells all. A cookie that rank 0 draws keeps
// strangers' datagrams out.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_SIDECHANNEL_H
#define WEFT_RUNTIME_COLLECTIVE_MPI_SIDECHANNEL_H

#include "runtime/Collective/Transport.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

namespace weft::runtime {

/// Where a rank listens; all in network order. Exchanged as bytes.
struct SideAddress {
  uint32_t host = 0; ///< IPv4
  uint16_t port = 0;
  uint16_t reserved = 0;
};

class SideChannel {
public:
  /// Opens the socket. Ranks of one host reach each other over the loopback device.
  SideChannel();
  ~SideChannel();
  SideChannel(const SideChannel &) = delete;
  SideChannel &operator=(const SideChannel &) = delete;

  SideAddress getAddress() const { return address; }

  /// Tells where everybody listens; heartbeats count from here.
  void connect(int64_t rank, std::vector<SideAddress> peers, uint64_t cookie);

  /// Beats to the next rank and takes in what has arrived. Called by one thread.
  void sendHeartbeat();
  /// Seconds since the watched rank was heard; 0 once it has left in order.
  double getSilence() const;
  int64_t getWatched() const { return watched; }

  /// Tells all ranks of a failure, several times: datagrams may be lost.
  void announce(const AbortReason &reason);
  /// What was heard of a failure; of several, the lowest reporter's.
  std::optional<AbortReason> getAnnounced();
  /// Tells the watcher that silence will be in order.
  void announceExit();

private:
  void send(int64_t to, const void *data, size_t bytes);
  void receive();

  int socket = -1;
  SideAddress address;
  int64_t rank = 0;
  int64_t watched = 0;
  uint64_t cookie = 0;
  std::vector<SideAddress> peers;
  std::atomic<std::chrono::steady_clock::rep> lastHeard = 0;
  std::atomic<bool> left = false;
  std::mutex lock;
  std::optional<AbortReason> announced;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_MPI_SIDECHANNEL_H

//===- SideChannel.cpp - heartbeats beside MPI ----------------------------===//

#include "runtime/Collective/Mpi/SideChannel.h"

#include "runtime/Support/Error.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

enum class Kind : uint32_t { Heartbeat = 1, Exit = 2, Abort = 3 };

/// One datagram; `text` is the reason of an abort, ended by zero.
struct Message {
  uint64_t cookie;
  Kind kind;
  int32_t exitCode;
  int64_t rank;
  int64_t reporter; ///< of an abort
  char text[960];
};
constexpr size_t headerBytes = offsetof(Message, text);
constexpr int announcements = 3;

/// The first address of a device that is up and not the loopback device; loopback where there is
/// none.
uint32_t getHostAddress() {
  uint32_t host = htonl(INADDR_LOOPBACK);
  ifaddrs *interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0)
    return host;
  for (ifaddrs *i = interfaces; i; i = i->ifa_next) {
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
        (i->ifa_flags & IFF_LOOPBACK))
      continue;
    host = reinterpret_cast<sockaddr_in *>(i->ifa_addr)->sin_addr.s_addr;
    break;
  }
  freeifaddrs(interfaces);
  return host;
}

} // namespace

SideChannel::SideChannel() {
  socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof(any);
  if (socket < 0 || ::bind(socket, reinterpret_cast<sockaddr *>(&any), sizeof(any)) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr *>(&any), &length) != 0)
    throwFailure("cannot open a socket for heartbeats: {}", std::strerror(errno));
  address.host = getHostAddress();
  address.port = any.sin_port;
}

SideChannel::~SideChannel() {
  if (socket >= 0)
    ::close(socket);
}

void SideChannel::connect(int64_t self, std::vector<SideAddress> all, uint64_t drawn) {
  rank = self;
  peers = std::move(all);
  cookie = drawn;
  auto size = static_cast<int64_t>(peers.size());
  watched = (rank + size - 1) % size;
  for (SideAddress &peer : peers)
    if (peer.host == address.host)
      peer.host = htonl(INADDR_LOOPBACK);
  lastHeard = Clock::now().time_since_epoch().count();
}

void SideChannel::send(int64_t to, const void *data, size_t bytes) {
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_addr.s_addr = peers[to].host;
  target.sin_port = peers[to].port;
  // A datagram that cannot be sent is one that is lost: the next beat follows.
  (void)::sendto(socket, data, bytes, 0, reinterpret_cast<sockaddr *>(&target), sizeof(target));
}

void SideChannel::sendHeartbeat() {
  Message message{cookie, Kind::Heartbeat, 0, rank, rank, {}};
  send((rank + 1) % static_cast<int64_t>(peers.size()), &message, headerBytes);
  receive();
}

void SideChannel::announceExit() {
  Message message{cookie, Kind::Exit, 0, rank, rank, {}};
  for (int i = 0; i < announcements; ++i)
    send((rank + 1) % static_cast<int64_t>(peers.size()), &message, headerBytes);
}

void SideChannel::announce(const AbortReason &reason) {
  Message message{cookie, Kind::Abort, reason.exitCode, reason.rank, reason.reporter, {}};
  std::strncpy(message.text, reason.message.c_str(), sizeof(message.text) - 1);
  for (int i = 0; i < announcements; ++i)
    for (size_t peer = 0; peer < peers.size(); ++peer)
      if (static_cast<int64_t>(peer) != rank)
        send(static_cast<int64_t>(peer), &message, sizeof(message));
}

void SideChannel::receive() {
  Message message;
  while (true) {
    ssize_t got = ::recv(socket, &message, sizeof(message), 0);
    if (got < 0)
      return;
    if (got < static_cast<ssize_t>(headerBytes) || message.cookie != cookie)
      continue;
    if (message.kind == Kind::Abort && got == sizeof(message)) {
      message.text[sizeof(message.text) - 1] = '\0';
      std::lock_guard guard(lock);
      if (!announced || message.reporter < announced->reporter)
        announced = AbortReason{message.rank, message.exitCode, message.text, message.reporter, ""};
    } else if (message.rank == watched) {
      lastHeard = Clock::now().time_since_epoch().count();
      left = left || message.kind == Kind::Exit;
    }
  }
}

double SideChannel::getSilence() const {
  if (left || peers.size() < 2)
    return 0;
  Clock::time_point last{Clock::duration(lastHeard)};
  return std::chrono::duration<double>(Clock::now() - last).count();
}

std::optional<AbortReason> SideChannel::getAnnounced() {
  std::lock_guard guard(lock);
  return announced;
}

} // namespace weft::runtime

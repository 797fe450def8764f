//===- NcclConnections.cpp - NCCL's communicators of a rank ---------------===//

#include "runtime/Cuda/NcclConnections.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <chrono>

namespace weft::runtime {

namespace {

/// Blocks of a message's kernel. One that waits for its other side keeps the multiprocessors that
/// its blocks are on: a few dozen messages may wait and leave most of a GPU to what they wait for.
constexpr int blocksOfMessages = 4;

constexpr std::chrono::microseconds shortestPause(1), longestPause(1000); // between looks
constexpr std::chrono::milliseconds watchPause(100);                      // of the watcher

std::string describe(ncclResult_t status, ncclComm_t comm) {
  const char *last = ncclGetLastError(comm);
  std::string text = ncclGetErrorString(status);
  return last && last[0] != '\0' ? text + ", " + last : text;
}

void check(ncclResult_t status, ncclComm_t comm, const char *what) {
  if (status != ncclSuccess)
    throwFailure("{}: {}", what, describe(status, comm));
}

int64_t findMember(const NcclUse &use, int64_t rank) {
  auto at = std::find(use.ranks.begin(), use.ranks.end(), rank);
  if (at == use.ranks.end())
    throwBadInput("a collective without rank {}, which takes part", rank);
  return at - use.ranks.begin();
}

} // namespace

NcclConnection &NcclConnections::ask(const NcclUse &use) {
  findMember(use, transport.getRank());
  std::lock_guard guard(lock);
  return connections[use];
}

CudaStream &NcclConnections::getLane(int32_t lane) {
  std::unique_ptr<CudaStream> &stream = lanes[lane];
  if (!stream)
    stream = std::make_unique<CudaStream>(context);
  return *stream;
}

void NcclConnections::open() {
  context.makeCurrent(); // NCCL takes the GPU of the thread's context
  for (auto &[use, connection] : connections)
    if (!connection.isOpen)
      open(use, connection);
  if (!watcher.joinable() && !connections.empty())
    watcher = std::thread([this] { watch(); });
}

void NcclConnections::open(const NcclUse &use, NcclConnection &connection) {
  ncclUniqueId id = shareId(use);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (use.kind == NcclUse::Messages)
    config.maxCTAs = blocksOfMessages;
  ncclResult_t status =
      ncclCommInitRankConfig(&connection.comm, static_cast<int>(use.ranks.size()), id,
                             static_cast<int>(findMember(use, transport.getRank())), &config);
  settle(connection, status, "ncclCommInitRankConfig");
  {
    std::lock_guard guard(lock);
    connection.isOpen = true;
  }
  if (use.kind == NcclUse::Messages)
    connectPair(use, connection);
}

/// Makes or gets the id by which the ranks of a communicator find each other.
ncclUniqueId NcclConnections::shareId(const NcclUse &use) {
  ncclUniqueId id = {};
  int64_t tag = transport.getMaxTag() / 2 + 1; // between those of messages and of collectives
  if (use.ranks.front() != transport.getRank()) {
    Receive receive{use.ranks.front(), &id, sizeof(id), tag};
    transport.exchange({}, {&receive, 1});
    return id;
  }
  check(ncclGetUniqueId(&id), /*comm=*/nullptr, "ncclGetUniqueId");
  std::vector<Send> sends;
  for (int64_t rank : use.ranks)
    if (rank != transport.getRank())
      sends.push_back({rank, &id, sizeof(id), tag});
  transport.exchange(sends, {});
  return id;
}

/// Sends a first message, of which nobody needs the content. NCCL connects a pair when each side
/// has issued its part, and the first call is in progress until then: in the order of a program,
/// two ranks that send to each other before they receive would wait for each other here.
void NcclConnections::connectPair(const NcclUse &use, NcclConnection &connection) {
  connection.stream = std::make_unique<CudaStream>(context);
  if (firstMessage == 0)
    firstMessage = context.allocateWorkspace(1);
  auto *memory = reinterpret_cast<void *>(firstMessage);
  bool sends = use.ranks.front() == transport.getRank();
  issue(connection, "the first message of a pair", [&](ncclComm_t comm) {
    return sends ? ncclSend(memory, 1, ncclUint8, 1, comm, connection.stream->get())
                 : ncclRecv(memory, 1, ncclUint8, 0, comm, connection.stream->get());
  });
}

void NcclConnections::checkReady(const NcclConnection &connection, const char *what) {
  if (!connection.isOpen)
    throwFailure("{} before its communicator is open", what);
  ncclResult_t state = ncclSuccess;
  check(ncclCommGetAsyncError(connection.comm, &state), connection.comm, "ncclCommGetAsyncError");
  check(state, connection.comm, what);
}

/// Returns when a call is no longer in progress.
void NcclConnections::settle(const NcclConnection &connection, ncclResult_t status,
                             const char *what) {
  for (auto pause = shortestPause; status == ncclInProgress;
       pause = std::min(2 * pause, longestPause)) {
    if (transport.getAbortReason())
      throwFailure("stopped while waiting for other ranks");
    std::this_thread::sleep_for(pause);
    check(ncclCommGetAsyncError(connection.comm, &status), connection.comm,
          "ncclCommGetAsyncError");
  }
  check(status, connection.comm, what);
}

/// The thread that finds out what fails while the rank waits for its device.
void NcclConnections::watch() {
  std::unique_lock guard(lock);
  while (!ended.wait_for(guard, watchPause, [&] { return ending; }))
    for (const auto &[use, connection] : connections) {
      ncclResult_t state = ncclSuccess;
      if (!connection.isOpen || ncclCommGetAsyncError(connection.comm, &state) != ncclSuccess ||
          state == ncclSuccess || state == ncclInProgress)
        continue;
      int64_t rank = transport.getRank();
      return transport.abort({rank, static_cast<int>(ErrorKind::Failure),
                              "NCCL: " + describe(state, connection.comm), rank,
                              "in communication between GPUs"});
    }
}

/// Whether all ranks have done what they had issued.
bool NcclConnections::finalise(const NcclConnection &connection) {
  try {
    settle(connection, ncclCommFinalize(connection.comm), "ncclCommFinalize");
    return true;
  } catch (const Error &) {
    return false; // another rank has failed: it is reported there
  }
}

NcclConnections::~NcclConnections() {
  {
    std::lock_guard guard(lock);
    ending = true;
  }
  ended.notify_all();
  if (watcher.joinable())
    watcher.join();
  bool isWell = std::uncaught_exceptions() == 0 && !transport.getAbortReason();
  for (auto &[use, connection] : connections) {
    if (!connection.comm)
      continue;
    isWell = isWell && connection.isOpen && finalise(connection);
    if (isWell)
      ncclCommDestroy(connection.comm);
    else
      ncclCommAbort(connection.comm);
  }
}

} // namespace weft::runtime

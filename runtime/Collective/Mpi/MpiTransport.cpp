//===- MpiTransport.cpp - ranks that are processes under a launcher -------===//
//
// One thread at a time calls MPI, under a lock (MPI_THREAD_SERIALIZED); where MPI allows the main
// thread alone, messages move while that waits. Waiting is done here, not in MPI_Wait: MPI's wait
// spins, and on a machine with more ranks than cores the spinning ranks keep the working ones from
// their core. Messages above 2^30 bytes go in pieces, since MPI's counts are int.
//
//===----------------------------------------------------------------------===//

#include "runtime/Collective/Mpi/SideChannel.h"
#include "runtime/Collective/Transport.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Cores.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mpi.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t pieceBytes = 1u << 30;
// A waiting rank first looks, then lets others run, then sleeps for moments that grow to the
// longest.
constexpr int looksBeforeYield = 200;
constexpr int looksBeforeSleep = 400;
constexpr auto longestSleep = std::chrono::microseconds(200);

void check(int status, const char *what) {
  if (status == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throwFailure("{} failed: {}", what, std::string(text, length));
}

/// Ends the process where MPI_Init does not come back because another rank is dead or stopped
/// before it.
class StartLimit {
public:
  StartLimit() : thread([this] { watch(); }) {}
  ~StartLimit() {
    started = true;
    thread.join();
  }

private:
  void watch() {
    const char *size = std::getenv("OMPI_COMM_WORLD_SIZE");
    double limit = 8.0 + 0.02 * (size ? std::atoi(size) : 0);
    // Where far more processes want to run than there are cores, the others are held up as this
    // thread is: that does not count.
    constexpr std::chrono::duration<double> heldUp(0.05);
    std::chrono::duration<double> waited(0);
    for (auto last = Clock::now(); !started;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      auto now = Clock::now();
      waited += std::min<std::chrono::duration<double>>(now - last, heldUp);
      last = now;
      if (waited.count() < limit)
        continue;
      const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");
      printError("weft: rank {}: MPI did not start within {:.0f} s: another rank is dead or "
                 "stopped\n",
                 rank ? rank : "?", limit);
      _exit(5);
    }
  }

  std::atomic<bool> started = false;
  std::thread thread;
};

/// Pieces of messages on their way.
class MpiExchange : public Exchange {
public:
  MpiExchange(int64_t rank, std::mutex &lock, std::span<const Send> sends,
              std::span<const Receive> receives)
      : rank(rank), lock(lock) {
    std::lock_guard guard(lock);
    for (const Receive &receive : receives)
      forEachPiece(receive.bytes, [&](uint64_t at, int bytes) {
        check(MPI_Irecv(static_cast<char *>(receive.data) + at, bytes, MPI_BYTE,
                        static_cast<int>(receive.peer), static_cast<int>(receive.tag),
                        MPI_COMM_WORLD, &requests.emplace_back()),
              "MPI_Irecv");
        expected.push_back({receive.peer, bytes});
      });
    for (const Send &send : sends)
      forEachPiece(send.bytes, [&](uint64_t at, int bytes) {
        check(MPI_Isend(static_cast<const char *>(send.data) + at, bytes, MPI_BYTE,
                        static_cast<int>(send.peer), static_cast<int>(send.tag), MPI_COMM_WORLD,
                        &requests.emplace_back()),
              "MPI_Isend");
      });
    statuses.resize(requests.size());
  }

  /// Only where the run fails is anything left: the process ends with it.
  ~MpiExchange() override = default;

  bool isDone() override {
    std::lock_guard guard(lock);
    for (MPI_Status &status : statuses)
      status.MPI_ERROR = MPI_SUCCESS; // set by MPI only where something failed
    int done = 0;
    int status =
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, statuses.data());
    if (status != MPI_ERR_IN_STATUS)
      check(status, "a message");
    if (!done && status != MPI_ERR_IN_STATUS)
      return false;
    for (size_t i = 0; i < expected.size(); ++i)
      checkArrived(statuses[i], expected[i]);
    return true;
  }

private:
  struct Expected {
    int64_t peer;
    int bytes;
  };

  template <typename Post> static void forEachPiece(uint64_t bytes, Post post) {
    uint64_t at = 0;
    do {
      auto length = static_cast<int>(std::min(pieceBytes, bytes - at));
      post(at, length);
      at += length;
    } while (at < bytes);
  }

  void checkArrived(const MPI_Status &status, const Expected &expected) const {
    int arrived = 0;
    if (status.MPI_ERROR == MPI_ERR_TRUNCATE)
      throwFailure("rank {} sends more than the {} bytes that rank {} expects", expected.peer,
                   expected.bytes, rank);
    MPI_Get_count(&status, MPI_BYTE, &arrived);
    if (arrived != expected.bytes)
      throwFailure("rank {} sends {} bytes where rank {} expects {}", expected.peer, arrived, rank,
                   expected.bytes);
  }

  int64_t rank;
  std::mutex &lock;
  std::vector<MPI_Request> requests; ///< of receives, then of sends
  std::vector<MPI_Status> statuses;
  std::vector<Expected> expected;
};

class MpiTransport : public Transport {
public:
  MpiTransport() {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    {
      StartLimit limit;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads), "MPI_Init_thread");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int number = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    rank = number;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    size = number;
    readMaxTag();
    connectSideChannel();
    divideCores();
  }

  int64_t getRank() const override { return rank; }
  int64_t getSize() const override { return size; }
  std::string getName() const override { return "mpi"; }
  bool ownsProcess() const override { return true; }
  HostRank getHostRank() const override { return {rankOnHost, ranksOnHost}; }

  int getThreadShare(int threads) const override {
    return threads > 0 ? std::max(1, threads / ranksOnHost) : coreShare;
  }

  int64_t getMaxTag() const override { return maxTag; }
  bool servesThreads() const override { return threads >= MPI_THREAD_SERIALIZED; }

  std::unique_ptr<Exchange> post(std::span<const Send> sends,
                                 std::span<const Receive> receives) override {
    return std::make_unique<MpiExchange>(rank, calls, sends, receives);
  }

  void waitUntil(const std::function<bool()> &look) override {
    auto pause = std::chrono::microseconds(1);
    for (int looks = 0; !look(); ++looks) {
      if (looks < looksBeforeYield)
        continue;
      if (looks < looksBeforeSleep) {
        sched_yield();
        continue;
      }
      if (getAbortReason())
        throwFailure("stopped while waiting for other ranks");
      std::this_thread::sleep_for(pause);
      pause = std::min<std::chrono::microseconds>(2 * pause, longestSleep);
    }
  }

  /// Waiting threads never sleep for long.
  void wake() override {}

  void sendHeartbeat() override { side.sendHeartbeat(); }

  std::optional<int64_t> findSilent(double seconds) override {
    if (side.getSilence() > seconds)
      return side.getWatched();
    return std::nullopt;
  }

  void abort(const AbortReason &reason) override {
    {
      std::lock_guard guard(lock);
      if (aborted || side.getAnnounced())
        return;
      aborted = reason;
    }
    side.announce(reason);
  }

  std::optional<AbortReason> getAbortReason() override {
    std::optional<AbortReason> announced = side.getAnnounced();
    std::lock_guard guard(lock);
    return aborted && (!announced || aborted->reporter < announced->reporter) ? aborted : announced;
  }

  void finish() override {
    MPI_Finalize();
    side.announceExit();
  }

private:
  void connectSideChannel() {
    std::vector<SideAddress> addresses(size);
    SideAddress mine = side.getAddress();
    check(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, addresses.data(), sizeof(mine), MPI_BYTE,
                        MPI_COMM_WORLD),
          "MPI_Allgather");
    std::random_device random;
    uint64_t cookie = uint64_t(random()) << 32 | random();
    check(MPI_Bcast(&cookie, sizeof(cookie), MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
    side.connect(rank, std::move(addresses), cookie);
  }

  /// Once: no other call of MPI may be under way then, and queues ask while their threads call it.
  void readMaxTag() {
    int *bound = nullptr, found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void *>(&bound), &found);
    if (found)
      maxTag = *bound;
  }

  /// This rank's part of each core in its mask is one over the ranks of the host that may use it.
  void divideCores() {
    MPI_Comm host;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
          "MPI_Comm_split_type");
    MPI_Comm_rank(host, &rankOnHost);
    MPI_Comm_size(host, &ranksOnHost);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    std::vector<cpu_set_t> masks(ranksOnHost);
    check(MPI_Allgather(&mask, sizeof(mask), MPI_BYTE, masks.data(), sizeof(mask), MPI_BYTE, host),
          "MPI_Allgather");
    double share = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      int users = 0;
      for (const cpu_set_t &other : masks)
        users += CPU_ISSET(core, &other) ? 1 : 0;
      share += CPU_ISSET(core, &mask) ? 1.0 / users : 0;
    }
    coreShare = std::max(1, static_cast<int>(share + 1e-6));
    MPI_Comm_free(&host);
  }

  int64_t rank = 0;
  int64_t size = 1;
  int rankOnHost = 0;
  int ranksOnHost = 1;
  int coreShare = 1;
  int64_t maxTag = 32767;          ///< the least that MPI promises
  int threads = MPI_THREAD_SINGLE; ///< what MPI allows
  SideChannel side;
  std::mutex calls; ///< of MPI
  std::mutex lock;  ///< of `aborted`
  std::optional<AbortReason> aborted;
};

} // namespace

} // namespace weft::runtime

/// What the runtime looks up in the module.
extern "C" weft::runtime::Transport *weft_make_mpi_transport() {
  return new weft::runtime::MpiTransport();
}

//===- NcclWorld.h - communicators whose ranks are threads ------*- C++ -*-===//
//
// What the stand-in for NCCL works on. One lock guards all of it; whoever waits looks again at each
// change.
//
// An operation has a number among its communicator's, by which its ranks find each other: the order
// in which it was issued. Messages have one among those of their sender and receiver. The first of
// either is in progress until all who take part have issued it, as NCCL connects ranks lazily; only
// then is it enqueued.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_NCCLWORLD_H
#define WEFT_TEST_CUDA_NCCLWORLD_H

#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weft::test::nccl {

/// What the calling thread's last failed call said.
std::string &getLastMessage();

/// Keeps the message and prints it; returns the status.
template <typename... Args>
ncclResult_t fail(ncclResult_t status, fmt::format_string<Args...> format, Args &&...args) {
  getLastMessage() = fmt::format(format, std::forward<Args>(args)...);
  fmt::print(stderr, "stand-in for NCCL: {}\n", getLastMessage());
  return status;
}

enum class OperationKind { AllReduce, AllGather, ReduceScatter, Send, Receive };

/// A call, as one rank issued it. `count` is the call's own: of a reduce-scatter that of a result,
/// of an all-gather that of an operand.
struct Operation {
  OperationKind kind;
  const void *in = nullptr;
  void *out = nullptr;
  uint64_t count = 0;
  ncclDataType_t dtype = ncclInt8;
  ncclRedOp_t reduction = ncclSum;
  int peer = -1; ///< of messages
  uint64_t number = 0;

  bool isMessage() const { return kind == OperationKind::Send || kind == OperationKind::Receive; }
};

/// Bytes of an element; 0: no such type.
uint64_t getElementBytes(ncclDataType_t dtype);

/// result[i] = the parts reduced in their order; sums of 16-bit floats in float.
void reduce(ncclDataType_t dtype, ncclRedOp_t reduction, const std::vector<const void *> &parts,
            void *result, uint64_t count);

/// A collective that is under way.
struct Meeting {
  std::vector<Operation> operations; ///< of those that have issued it, by rank
  std::vector<bool> issued, arrived;
  int left = 0; ///< ranks that have gone on
  bool isDone = false;
};

/// Messages from one rank to another.
struct Channel {
  uint64_t sends = 0, receives = 0; ///< issued
  std::map<uint64_t, Operation> posted;
  std::map<uint64_t, bool> taken;
};

/// All ranks that have one unique id.
struct World {
  int size = 0;
  std::vector<bool> joined;
  int numJoined = 0, numFinalised = 0;
  std::vector<int> gpus;
  ncclResult_t failure = ncclSuccess; ///< that every rank is told
  std::map<uint64_t, Meeting> meetings;
  std::map<std::pair<int, int>, Channel> channels; ///< by sender and receiver
};

/// Operations of one group on one stream.
struct Batch {
  std::vector<Operation> operations;
  cudaStream_t stream = nullptr;
};

} // namespace weft::test::nccl

/// A rank's end.
struct ncclComm {
  std::shared_ptr<weft::test::nccl::World> world;
  int rank = 0;
  uint64_t issued = 0; ///< collectives
  std::vector<weft::test::nccl::Batch> pending;
  int64_t outstanding = 0; ///< batches that are enqueued and not over
  int64_t active = 0;      ///< of them those that run
  bool isFinalised = false, isAborted = false;
};

namespace weft::test::nccl {

struct State {
  std::mutex lock;
  std::condition_variable changed;
  std::map<ncclComm *, std::shared_ptr<ncclComm>> comms;
  std::map<std::string, std::weak_ptr<World>> worlds; ///< by unique id
  uint64_t ids = 0;
};
State &getState();

/// Gives the operations of a batch their numbers. What others have issued otherwise under them is
/// refused. All with the lock.
ncclResult_t number(ncclComm &comm, Batch &batch);
/// Whether all who take part in a batch have issued a first operation.
bool isConnected(const ncclComm &comm, const Batch &batch);
/// Enqueues a batch on its stream.
void enqueue(const std::shared_ptr<ncclComm> &comm, Batch batch);

} // namespace weft::test::nccl

#endif // WEFT_TEST_CUDA_NCCLWORLD_H

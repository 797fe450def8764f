//===- Nccl.cpp - a stand-in for libnccl.so.2 -----------------------------===//
//
// The part of NCCL that the device calls, among threads of one process. Collectives meet on the
// threads of their streams. Communicators do not block: what has to wait for other ranks is in
// progress, and goes on when its state is asked for. Arguments are checked, what ranks issue is
// compared; what is wrong is printed, and has the status that NCCL has for it.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/NcclWorld.h"

#include <cstring>
#include <cuda.h>

using namespace weft::test::nccl;

namespace {

/// The calling thread's group.
struct Group {
  int depth = 0;
  std::vector<std::pair<ncclComm *, Batch>> batches;
};
thread_local Group group;

/// Null where it is none, or was ended.
std::shared_ptr<ncclComm> find(ncclComm_t comm) {
  auto at = getState().comms.find(comm);
  return at == getState().comms.end() ? nullptr : at->second;
}

ncclResult_t failOnNone() { return fail(ncclInvalidArgument, "no such communicator"); }

/// Whether a communicator has all its ranks.
bool isWhole(const ncclComm &comm) { return comm.world->numJoined == comm.world->size; }

/// What a communicator's state is, having gone on as far as possible.
ncclResult_t advance(const std::shared_ptr<ncclComm> &comm) {
  World &world = *comm->world;
  if (world.failure != ncclSuccess)
    return world.failure;
  if (!isWhole(*comm))
    return ncclInProgress;
  while (!comm->pending.empty() && isConnected(*comm, comm->pending.front())) {
    enqueue(comm, std::move(comm->pending.front()));
    comm->pending.erase(comm->pending.begin());
  }
  bool ends = comm->isFinalised && (world.numFinalised < world.size || comm->outstanding > 0);
  return comm->pending.empty() && !ends ? ncclSuccess : ncclInProgress;
}

/// Issues what a group holds.
ncclResult_t issue(std::vector<std::pair<ncclComm *, Batch>> batches) {
  std::lock_guard guard(getState().lock);
  ncclResult_t all = ncclSuccess;
  for (auto &[handle, batch] : batches) {
    std::shared_ptr<ncclComm> comm = find(handle);
    if (!comm)
      return failOnNone();
    if (comm->isFinalised || comm->isAborted || advance(comm) != ncclSuccess)
      return fail(ncclInvalidUsage, "a call for a communicator that is not ready");
    if (ncclResult_t status = number(*comm, batch); status != ncclSuccess)
      return comm->world->failure = status;
    comm->pending.push_back(std::move(batch));
    if (ncclResult_t status = advance(comm); status != ncclSuccess)
      all = status;
  }
  return all;
}

ncclResult_t add(ncclComm_t handle, cudaStream_t stream, Operation operation) {
  {
    std::lock_guard guard(getState().lock);
    std::shared_ptr<ncclComm> comm = find(handle);
    if (!comm)
      return failOnNone();
    bool hasPeer = operation.peer >= 0 && operation.peer < comm->world->size;
    if (operation.isMessage() && !hasPeer)
      return fail(ncclInvalidArgument, "a message with rank {} of {}", operation.peer,
                  comm->world->size);
  }
  bool reads = operation.kind != OperationKind::Receive;
  bool writes = operation.kind != OperationKind::Send;
  if (getElementBytes(operation.dtype) == 0 || operation.reduction < ncclSum ||
      operation.reduction > ncclMin)
    return fail(ncclInvalidArgument, "type {} or reduction {}", int(operation.dtype),
                int(operation.reduction));
  if ((reads && !operation.in) || (writes && !operation.out) || !stream)
    return fail(ncclInvalidArgument, "an operation without operands or stream");
  Batch *batch = nullptr;
  for (auto &[comm, each] : group.batches)
    if (comm == handle && each.stream == stream)
      batch = &each;
  if (!batch)
    batch = &group.batches.emplace_back(handle, Batch{{}, stream}).second;
  batch->operations.push_back(operation);
  if (group.depth > 0)
    return ncclSuccess;
  return issue(std::exchange(group.batches, {}));
}

bool isGood(const ncclConfig_t *config) {
  const ncclConfig_t expected = NCCL_CONFIG_INITIALIZER;
  return config && config->size == expected.size && config->magic == expected.magic &&
         config->blocking == 0 &&
         (config->maxCTAs == NCCL_CONFIG_UNDEF_INT || config->maxCTAs >= 1);
}

} // namespace

extern "C" {

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclInProgress:
    return "NCCL operation in progress";
  default:
    return "internal error";
  }
}

const char *ncclGetLastError(ncclComm_t comm) { return getLastMessage().c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::lock_guard guard(getState().lock);
  std::memset(id, 0, sizeof(*id));
  std::string text = fmt::format("stand-in {}", ++getState().ids);
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  if (!isGood(config))
    return fail(ncclInvalidArgument, "a configuration that is not initialised, or blocks");
  if (nranks < 1 || rank < 0 || rank >= nranks || std::strncmp(id.internal, "stand-in", 8) != 0)
    return fail(ncclInvalidArgument, "rank {} of {}, or an id of nobody's", rank, nranks);
  int gpu = -1;
  if (cuCtxGetDevice(&gpu) != CUDA_SUCCESS)
    return fail(ncclUnhandledCudaError, "no current context");
  std::lock_guard guard(getState().lock);
  std::weak_ptr<World> &known = getState().worlds[id.internal];
  std::shared_ptr<World> world = known.lock();
  if (!world) {
    known = world = std::make_shared<World>();
    world->size = nranks;
    world->joined.resize(nranks);
  }
  if (world->size != nranks || world->joined[rank])
    return world->failure = fail(ncclInvalidUsage, "rank {} of {} joins {} ranks, or twice", rank,
                                 nranks, world->size);
  for (int other : world->gpus)
    if (other == gpu)
      return world->failure = fail(ncclInvalidUsage, "Duplicate GPU detected: {}", gpu);
  world->gpus.push_back(gpu);
  world->joined[rank] = true;
  ++world->numJoined;
  auto made = std::make_shared<ncclComm>();
  made->world = world;
  made->rank = rank;
  *comm = made.get();
  getState().comms[made.get()] = made;
  return advance(made);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *state) {
  std::lock_guard guard(getState().lock);
  std::shared_ptr<ncclComm> comm = find(handle);
  if (!comm)
    return failOnNone();
  *state = advance(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  std::lock_guard guard(getState().lock);
  std::shared_ptr<ncclComm> comm = find(handle);
  if (!comm || comm->isFinalised)
    return failOnNone();
  comm->isFinalised = true;
  ++comm->world->numFinalised;
  return advance(comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  std::lock_guard guard(getState().lock);
  std::shared_ptr<ncclComm> comm = find(handle);
  if (!comm)
    return failOnNone();
  if (!comm->isFinalised || advance(comm) != ncclSuccess)
    return fail(ncclInvalidUsage, "a communicator is destroyed that is not finalised");
  getState().comms.erase(handle);
  return ncclSuccess;
}

/// Work of this rank that waits for others goes on; theirs waits until they abort as well.
ncclResult_t ncclCommAbort(ncclComm_t handle) {
  std::unique_lock guard(getState().lock);
  std::shared_ptr<ncclComm> comm = find(handle);
  if (!comm)
    return failOnNone();
  comm->isAborted = true;
  getState().changed.notify_all();
  getState().changed.wait(guard, [&] { return comm->active == 0; });
  getState().comms.erase(handle);
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t dtype,
                           ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, {OperationKind::AllReduce, in, out, count, dtype, reduction});
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count, ncclDataType_t dtype,
                               ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, {OperationKind::ReduceScatter, in, out, count, dtype, reduction});
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t count, ncclDataType_t dtype,
                           ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, {OperationKind::AllGather, in, out, count, dtype});
}

ncclResult_t ncclSend(const void *in, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add(comm, stream, {OperationKind::Send, in, /*out=*/nullptr, count, dtype, ncclSum, peer});
}

ncclResult_t ncclRecv(void *out, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add(comm, stream,
             {OperationKind::Receive, /*in=*/nullptr, out, count, dtype, ncclSum, peer});
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group.depth == 0)
    return fail(ncclInvalidUsage, "the end of a group that was not begun");
  if (--group.depth > 0)
    return ncclSuccess;
  return issue(std::exchange(group.batches, {}));
}

} // extern "C"

//===- NcclWorld.cpp - communicators whose ranks are threads --------------===//

#include "test/cuda/NcclWorld.h"

#include "test/cuda/StandIn.h"

#include <cstring>

namespace weft::test::nccl {

namespace {

/// A batch on its way. Those of streams that have failed stay until the process ends.
struct Job {
  std::shared_ptr<ncclComm> comm;
  Batch batch;
};

std::list<Job> &getJobs() {
  static auto *jobs = new std::list<Job>;
  return *jobs;
}

bool agree(const Operation &a, const Operation &b) {
  return a.kind == b.kind && a.count == b.count && a.dtype == b.dtype &&
         (a.kind == OperationKind::AllGather || a.reduction == b.reduction);
}

/// Elements that a call reads and writes.
std::pair<uint64_t, uint64_t> getCounts(const Operation &operation, uint64_t ranks) {
  switch (operation.kind) {
  case OperationKind::AllReduce:
    return {operation.count, operation.count};
  case OperationKind::AllGather:
    return {operation.count, operation.count * ranks};
  case OperationKind::ReduceScatter:
    return {operation.count * ranks, operation.count};
  case OperationKind::Send:
    return {operation.count, 0};
  default:
    return {0, operation.count};
  }
}

/// Computes the results of all ranks.
void compute(const Meeting &meeting) {
  const Operation &first = meeting.operations.front();
  uint64_t ranks = meeting.operations.size(), size = getElementBytes(first.dtype);
  bool gathers = first.kind == OperationKind::AllGather;
  bool scatters = first.kind == OperationKind::ReduceScatter;
  std::vector<std::byte> result(first.count * size *
                                (first.kind == OperationKind::AllReduce ? 1 : ranks));
  std::vector<const void *> parts;
  for (const Operation &operation : meeting.operations)
    parts.push_back(operation.in);
  if (gathers)
    for (uint64_t rank = 0; rank < ranks; ++rank)
      std::memcpy(result.data() + rank * first.count * size, parts[rank], first.count * size);
  else
    reduce(first.dtype, first.reduction, parts, result.data(), result.size() / size);
  uint64_t block = scatters ? first.count * size : 0;
  for (uint64_t rank = 0; rank < ranks; ++rank)
    std::memcpy(meeting.operations[rank].out, result.data() + rank * block,
                scatters ? block : result.size());
}

/// Waits for the other ranks; the last computes.
void meet(ncclComm &comm, const Operation &operation, std::unique_lock<std::mutex> &guard) {
  Meeting &meeting = comm.world->meetings[operation.number];
  auto isThere = [&] {
    for (bool arrived : meeting.arrived)
      if (!arrived)
        return false;
    return true;
  };
  meeting.arrived[comm.rank] = true;
  if (isThere()) {
    compute(meeting);
    meeting.isDone = true;
    getState().changed.notify_all();
  }
  getState().changed.wait(guard, [&] { return meeting.isDone || comm.isAborted; });
  if (!meeting.isDone)
    meeting.arrived[comm.rank] = false;
  else if (++meeting.left == comm.world->size)
    comm.world->meetings.erase(operation.number);
}

/// Copies a message where it is there. What does not fit fails on every rank.
bool take(ncclComm &comm, const Operation &receive) {
  Channel &channel = comm.world->channels[{receive.peer, comm.rank}];
  auto posted = channel.posted.find(receive.number);
  if (posted == channel.posted.end())
    return false;
  const Operation &send = posted->second;
  if (send.count != receive.count || send.dtype != receive.dtype)
    comm.world->failure =
        fail(ncclInvalidArgument, "message {} from {} to {} is of {} of type {}, expected {} of {}",
             receive.number, receive.peer, comm.rank, send.count, int(send.dtype), receive.count,
             int(receive.dtype));
  else
    std::memcpy(receive.out, send.in, send.count * getElementBytes(send.dtype));
  channel.posted.erase(posted);
  channel.taken[receive.number] = true;
  getState().changed.notify_all();
  return true;
}

/// Sends and receives at once.
void exchange(ncclComm &comm, std::vector<Operation> messages,
              std::unique_lock<std::mutex> &guard) {
  auto getChannel = [&](const Operation &send) -> Channel & {
    return comm.world->channels[{comm.rank, send.peer}];
  };
  for (const Operation &each : messages)
    if (each.kind == OperationKind::Send)
      getChannel(each).posted.emplace(each.number, each);
  getState().changed.notify_all();
  getState().changed.wait(guard, [&] {
    std::erase_if(messages, [&](const Operation &each) {
      return each.kind == OperationKind::Send ? getChannel(each).taken.erase(each.number) > 0
                                              : take(comm, each);
    });
    return messages.empty() || comm.isAborted;
  });
  for (const Operation &each : messages)
    if (each.kind == OperationKind::Send)
      getChannel(each).posted.erase(each.number);
}

void run(void *data) {
  auto *job = static_cast<Job *>(data);
  ncclComm &comm = *job->comm;
  for (const Operation &each : job->batch.operations) {
    auto [read, written] = getCounts(each, comm.world->size);
    uint64_t size = getElementBytes(each.dtype);
    if (read > 0)
      standInCheck(each.in, read * size, "what NCCL reads");
    if (written > 0)
      standInCheck(each.out, written * size, "what NCCL writes");
  }
  std::unique_lock guard(getState().lock);
  ++comm.active;
  std::vector<Operation> messages;
  for (const Operation &each : job->batch.operations)
    if (each.isMessage())
      messages.push_back(each);
    else if (!comm.isAborted)
      meet(comm, each, guard);
  if (!messages.empty() && !comm.isAborted)
    exchange(comm, std::move(messages), guard);
  --comm.active;
  --comm.outstanding;
  getState().changed.notify_all();
  std::shared_ptr<ncclComm> kept = job->comm;
  std::erase_if(getJobs(), [&](const Job &each) { return &each == job; });
}

} // namespace

std::string &getLastMessage() {
  thread_local std::string message;
  return message;
}

State &getState() {
  static auto *state = new State;
  return *state;
}

ncclResult_t number(ncclComm &comm, Batch &batch) {
  World &world = *comm.world;
  for (Operation &each : batch.operations) {
    if (each.kind == OperationKind::Send) {
      each.number = world.channels[{comm.rank, each.peer}].sends++;
    } else if (each.kind == OperationKind::Receive) {
      each.number = world.channels[{each.peer, comm.rank}].receives++;
    } else {
      each.number = comm.issued++;
      Meeting &meeting = world.meetings[each.number];
      meeting.operations.resize(world.size);
      meeting.issued.resize(world.size);
      meeting.arrived.resize(world.size);
      for (int rank = 0; rank < world.size; ++rank)
        if (meeting.issued[rank] && !agree(meeting.operations[rank], each))
          return fail(ncclInvalidArgument,
                      "collective {} is kind {} of {} elements of type {} on rank {}, kind {} of "
                      "{} elements of type {} on rank {}",
                      each.number, int(each.kind), each.count, int(each.dtype), comm.rank,
                      int(meeting.operations[rank].kind), meeting.operations[rank].count,
                      int(meeting.operations[rank].dtype), rank);
      meeting.operations[comm.rank] = each;
      meeting.issued[comm.rank] = true;
    }
  }
  getState().changed.notify_all();
  return ncclSuccess;
}

bool isConnected(const ncclComm &comm, const Batch &batch) {
  World &world = *comm.world;
  for (const Operation &each : batch.operations) {
    bool sends = each.kind == OperationKind::Send;
    if (each.isMessage()) {
      const Channel &channel =
          world.channels[{sends ? comm.rank : each.peer, sends ? each.peer : comm.rank}];
      if (channel.sends == 0 || channel.receives == 0)
        return false;
    } else if (each.number == 0) {
      for (bool issued : world.meetings[0].issued)
        if (!issued)
          return false;
    }
  }
  return true;
}

void enqueue(const std::shared_ptr<ncclComm> &comm, Batch batch) {
  ++comm->outstanding;
  cudaStream_t stream = batch.stream;
  Job &job = getJobs().emplace_back(Job{comm, std::move(batch)});
  standInEnqueue(stream, [](void *each) { standInAwaitPeers(run, each); }, &job);
}

} // namespace weft::test::nccl

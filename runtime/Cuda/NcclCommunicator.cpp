//===- NcclCommunicator.cpp - collectives done by NCCL --------------------===//

#include "runtime/Cuda/NcclCommunicator.h"

#include "runtime/Cuda/NcclConnections.h"
#include "runtime/Device/TokenTable.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"

#include <algorithm>
#include <map>
#include <optional>

namespace weft::runtime {

namespace {

/// How NCCL reduces elements of a type.
struct Reduction {
  ncclDataType_t dtype = ncclUint8;
  ncclRedOp_t operation = ncclSum;
};

std::optional<ncclDataType_t> findDataType(DType dtype) {
  switch (dtype) {
  case program::I8:
    return ncclInt8;
  case program::I1:
  case program::U8:
    return ncclUint8;
  case program::I32:
    return ncclInt32;
  case program::U32:
    return ncclUint32;
  case program::I64:
    return ncclInt64;
  case program::U64:
    return ncclUint64;
  case program::F16:
    return ncclFloat16;
  case program::BF16:
    return ncclBfloat16;
  case program::F32:
    return ncclFloat32;
  case program::F64:
    return ncclFloat64;
  default:
    return std::nullopt;
  }
}

/// Of booleans, bytes of 0 or 1, a sum is the greatest and a product the least.
ncclRedOp_t getOperation(plan::Reduction reduction, bool isBoolean) {
  switch (reduction) {
  case plan::SUM:
    return isBoolean ? ncclMax : ncclSum;
  case plan::PROD:
    return isBoolean ? ncclMin : ncclProd;
  case plan::MAX:
    return ncclMax;
  case plan::MIN:
    return ncclMin;
  default:
    throwBadInput("unknown reduction {}", int(reduction));
  }
}

Reduction getReduction(const CollectiveCall &call) {
  std::optional<ncclDataType_t> dtype = findDataType(call.input.dtype);
  if (!dtype)
    throwBadInput("a reduction of {} between GPUs, which NCCL does not do",
                  getName(call.input.dtype));
  return {*dtype, getOperation(call.reduction, call.input.dtype == program::I1)};
}

/// The first of the statuses that is not success.
ncclResult_t getFirstFailure(ncclResult_t first, ncclResult_t second) {
  return first == ncclSuccess ? second : first;
}

void *toVoid(CUdeviceptr pointer) { return reinterpret_cast<void *>(pointer); }

class NcclOperation;

/// What outlives the commands.
struct Shared {
  Shared(CudaContext &context, Transport &transport)
      : rank(transport.getRank()), context(context), connections(context, transport) {}

  int64_t rank;
  CudaContext &context;
  NcclConnections connections;
  TokenTable<NcclOperation> tokens;
};

/// A collective or messages: over for the stream in its place, or at its wait.
class NcclOperation : public Command {
public:
  NcclOperation(bool asynchronous, Shared &shared) : shared(shared), asynchronous(asynchronous) {}

  void initialise() override { shared.connections.open(); }

  void enqueue(const DeviceBases &bases, Stream &given) override {
    auto &stream = static_cast<CudaStream &>(given);
    Ends ends = begin(bases, stream);
    if (asynchronous)
      begun.emplace(getKey().getAddress(bases), std::move(ends));
    else
      join(std::move(ends), stream);
  }

  /// Has the stream wait for what was begun with the operands at `bases`, the oldest first: frames
  /// tell executions apart.
  void wait(const DeviceBases &bases, Stream &stream) {
    DeviceAddress address = getKey().getAddress(bases);
    auto at = begun.lower_bound(address);
    if (at == begun.end() || at->first != address)
      throwBadInput("it waits for what was not begun");
    join(std::move(at->second), stream);
    begun.erase(at);
  }

protected:
  /// Events behind what was enqueued on other streams.
  using Ends = std::vector<std::unique_ptr<CudaEvent>>;

  /// The operand by whose address executions are told apart.
  virtual const View &getKey() const = 0;
  virtual Ends begin(const DeviceBases &bases, CudaStream &stream) = 0;

  /// From here on `other` begins what it is given behind what `stream` holds.
  void fork(CudaStream &stream, CudaStream &other) {
    if (!ready)
      ready = std::make_unique<CudaEvent>();
    stream.record(*ready);
    other.wait(*ready);
  }
  std::unique_ptr<CudaEvent> recordEnd(CudaStream &stream) {
    std::unique_ptr<CudaEvent> end;
    if (spare.empty()) {
      end = std::make_unique<CudaEvent>();
    } else {
      end = std::move(spare.back());
      spare.pop_back();
    }
    stream.record(*end);
    return end;
  }

  Shared &shared;
  bool asynchronous;

private:
  /// A wait is for an event as it was recorded: it may be recorded again at once.
  void join(Ends ends, Stream &stream) {
    for (std::unique_ptr<CudaEvent> &end : ends) {
      stream.wait(*end);
      spare.push_back(std::move(end));
    }
  }

  std::unique_ptr<CudaEvent> ready;
  std::multimap<DeviceAddress, Ends> begun; ///< those of an address in their order
  Ends spare;
};

class NcclCollective : public NcclOperation {
public:
  NcclCollective(CollectiveCall given, bool asynchronous, Shared &shared)
      : NcclOperation(asynchronous, shared), call(std::move(given)) {
    if (call.kind == program::ALL_REDUCE || call.kind == program::REDUCE_SCATTER)
      reduction = getReduction(call);
    if (call.kind == program::PERMUTE) {
      to = findMember(call.to);
      from = findMember(call.from);
    }
    if (call.input.getNumElements() == 0 || call.group.size() == 1)
      return; // the result is the operand
    connection = &shared.connections.ask(
        {call.group, asynchronous ? NcclUse::AsynchronousCollectives : NcclUse::Collectives,
         asynchronous ? call.lane : 0});
    if (asynchronous)
      lane = &shared.connections.getLane(call.lane);
  }

private:
  const View &getKey() const override { return call.input; }

  int findMember(int64_t rank) const {
    auto at = std::find(call.group.begin(), call.group.end(), rank);
    if (at == call.group.end())
      throwBadInput("a permute with rank {}, which is not of its group", rank);
    return static_cast<int>(at - call.group.begin());
  }

  Ends begin(const DeviceBases &bases, CudaStream &stream) override {
    CUdeviceptr in = toPointer(call.input.getAddress(bases));
    CUdeviceptr out = toPointer(call.output.getAddress(bases));
    // Who keeps its block in a permute takes no part in it.
    if (!connection || (call.kind == program::PERMUTE && call.to == shared.rank)) {
      if (in != out && call.input.getNumElements() > 0)
        check(cuMemcpyDtoDAsync(out, in, call.input.getNumBytes(), stream.get()),
              "cuMemcpyDtoDAsync");
      return {};
    }
    Ends ends;
    if (lane)
      fork(stream, *lane);
    CudaStream &used = lane ? *lane : stream;
    shared.connections.issue(*connection, "a collective", [&](ncclComm_t comm) {
      return issue(toVoid(in), toVoid(out), comm, used.get());
    });
    if (lane)
      ends.push_back(recordEnd(*lane));
    return ends;
  }

  ncclResult_t issue(void *in, void *out, ncclComm_t comm, CUstream stream) const {
    int64_t count = call.input.getNumElements(), bytes = call.input.getNumBytes();
    switch (call.kind) {
    case program::ALL_REDUCE:
      return ncclAllReduce(in, out, count, reduction.dtype, reduction.operation, comm, stream);
    case program::ALL_GATHER:
      return ncclAllGather(in, out, bytes, ncclUint8, comm, stream);
    case program::REDUCE_SCATTER:
      return ncclReduceScatter(in, out, call.output.getNumElements(), reduction.dtype,
                               reduction.operation, comm, stream);
    case program::ALL_TO_ALL:
      return issueAllToAll(static_cast<std::byte *>(in), static_cast<std::byte *>(out), comm,
                           stream);
    default:
      return getFirstFailure(ncclSend(in, bytes, ncclUint8, to, comm, stream),
                             ncclRecv(out, bytes, ncclUint8, from, comm, stream));
    }
  }

  ncclResult_t issueAllToAll(std::byte *in, std::byte *out, ncclComm_t comm,
                             CUstream stream) const {
    auto members = static_cast<int>(call.group.size());
    int64_t block = call.input.getNumBytes() / members;
    ncclResult_t status = ncclSuccess;
    for (int i = 0; i < members && status == ncclSuccess; ++i)
      status = getFirstFailure(ncclSend(in + i * block, block, ncclUint8, i, comm, stream),
                               ncclRecv(out + i * block, block, ncclUint8, i, comm, stream));
    return status;
  }

  CollectiveCall call;
  Reduction reduction;
  int to = 0, from = 0; ///< members
  NcclConnection *connection = nullptr;
  CudaStream *lane = nullptr; ///< of an asynchronous one
};

/// Sends to, or receives from, ranks of another mesh.
class NcclMessages : public NcclOperation {
public:
  NcclMessages(MessageCall call, bool sends, bool asynchronous, Shared &shared)
      : NcclOperation(asynchronous, shared), operand(std::move(call.operand)), sends(sends) {
    std::vector<int64_t> leading(operand.shape.begin(), operand.shape.begin() + call.peerDims);
    std::vector<int64_t> strides(operand.strides.begin(), operand.strides.begin() + call.peerDims);
    bytes = getElementSize(operand.dtype);
    for (size_t dim = call.peerDims; dim < operand.shape.size(); ++dim)
      bytes *= operand.shape[dim];
    auto peer = call.peers.begin();
    forEachOffset(leading, strides, [&](int64_t offset) {
      if (peer != call.peers.end() && bytes > 0)
        add(*peer++, call.tag, offset * getElementSize(operand.dtype));
    });
  }

private:
  struct Piece {
    NcclConnection *connection;
    int64_t offset; ///< bytes from the operand's first element
  };

  const View &getKey() const override { return operand; }

  void add(int64_t peer, int64_t tag, int64_t offset) {
    if (peer == shared.rank)
      throwBadInput("a message of rank {} to itself", peer);
    std::vector<int64_t> pair = {sends ? shared.rank : peer, sends ? peer : shared.rank};
    pieces.push_back({&shared.connections.ask({std::move(pair), NcclUse::Messages, tag}), offset});
  }

  Ends begin(const DeviceBases &bases, CudaStream &stream) override {
    CUdeviceptr address = toPointer(operand.getAddress(bases));
    Ends ends;
    for (const Piece &piece : pieces) {
      CudaStream &used = *piece.connection->stream;
      fork(stream, used);
      void *data = toVoid(address + piece.offset);
      shared.connections.issue(*piece.connection, "a message", [&](ncclComm_t comm) {
        return sends ? ncclSend(data, bytes, ncclUint8, 1, comm, used.get())
                     : ncclRecv(data, bytes, ncclUint8, 0, comm, used.get());
      });
      ends.push_back(recordEnd(used));
    }
    return ends;
  }

  View operand;
  bool sends;
  uint64_t bytes; ///< of a message
  std::vector<Piece> pieces;
};

class NcclCommunicator : public Communicator {
public:
  NcclCommunicator(CudaContext &context, Transport &transport) : shared(context, transport) {}

  std::unique_ptr<Command> makeCollective(CollectiveCall call, uint32_t token) override {
    return shared.tokens.keep(std::make_unique<NcclCollective>(std::move(call), token != 0, shared),
                              token);
  }

  std::unique_ptr<Command> makeSend(MessageCall call, uint32_t token) override {
    return shared.tokens.keep(
        std::make_unique<NcclMessages>(std::move(call), true, token != 0, shared), token);
  }

  std::unique_ptr<Command> makeReceive(MessageCall call, uint32_t token) override {
    return shared.tokens.keep(
        std::make_unique<NcclMessages>(std::move(call), false, token != 0, shared), token);
  }

  std::unique_ptr<Command> makeWait(uint32_t token) override {
    return shared.tokens.makeWait(token, /*waitsForStream=*/false);
  }

private:
  Shared shared;
};

/// Whether a rank says true, as every rank learns.
bool doesAny(Transport &transport, bool mine) {
  int64_t size = transport.getSize();
  std::vector<uint8_t> all(size, 0);
  all[transport.getRank()] = mine ? 1 : 0;
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (int64_t rank = 0; rank < size; ++rank)
    if (rank != transport.getRank()) {
      sends.push_back({rank, &all[transport.getRank()], 1});
      receives.push_back({rank, &all[rank], 1});
    }
  transport.exchange(sends, receives);
  return std::find(all.begin(), all.end(), 1) != all.end();
}

} // namespace

std::unique_ptr<Communicator> makeNcclCommunicator(CudaContext &context, Transport &transport) {
  if (doesAny(transport, context.getNumSharingRanks() > 1))
    return nullptr;
  return std::make_unique<NcclCommunicator>(context, transport);
}

} // namespace weft::runtime

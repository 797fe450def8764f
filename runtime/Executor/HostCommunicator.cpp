//===- HostCommunicator.cpp - collectives done by the host ----------------===//

#include "runtime/Executor/HostCommunicator.h"

#include "runtime/Collective/CommunicationQueue.h"
#include "runtime/Device/TokenTable.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"

#include <deque>
#include <map>
#include <optional>

namespace weft::runtime {

namespace {

/// One execution of a command that is not over: all that the queue works on.
struct StartedOperation {
  std::optional<Staging::Window> in;
  std::optional<Staging::Window> out; ///< none where the result takes the operand's place
  bool inPlace = false;
  Scratch scratch;
  CommunicationQueue::Handle operation;

  const std::byte *getInput() const { return in->getData(); }
  std::byte *getOutput() const { return inPlace ? in->getData() : out->getData(); }
};

/// What a command has begun, by the address of its operand: frames tell executions apart, and those
/// of one frame are waited for in their order.
struct Outstanding {
  std::multimap<DeviceAddress, StartedOperation> begun;
  std::vector<Scratch> spare; ///< of those that are over
};

class HostOperation;

/// What outlives the commands. The queue ends first: nothing that it works on is gone before.
struct Shared {
  Shared(Transport &transport, Staging &staging)
      : rank(transport.getRank()), maxTag(transport.getMaxTag() / 2), staging(staging),
        queue(transport) {}

  int64_t rank;
  int64_t maxTag; ///< of messages
  Staging &staging;
  std::deque<Outstanding> outstanding; ///< of each command
  TokenTable<HostOperation> tokens;
  CommunicationQueue queue;
};

/// A collective or a message: begun in its place, and over there or at its wait.
class HostOperation : public Command {
public:
  HostOperation(bool asynchronous, Shared &shared)
      : shared(shared), asynchronous(asynchronous), outstanding(shared.outstanding.emplace_back()) {
  }

  bool waitsForStream() const override { return true; }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    auto at = outstanding.begun.emplace(getKey().getAddress(bases), StartedOperation());
    StartedOperation &begun = at->second;
    if (!outstanding.spare.empty()) {
      begun.scratch = std::move(outstanding.spare.back());
      outstanding.spare.pop_back();
    }
    open(begun, bases, stream);
    if (asynchronous) {
      begun.operation = begin(begun);
      return;
    }
    run(begun);
    finish(at, stream);
  }

  /// Waits for what was begun with the operands at `bases`, the oldest first.
  void wait(const DeviceBases &bases, Stream &stream) {
    DeviceAddress address = getKey().getAddress(bases);
    auto at = outstanding.begun.lower_bound(address);
    if (at == outstanding.begun.end() || at->first != address)
      throwBadInput("it waits for what was not begun");
    shared.queue.wait(at->second.operation);
    finish(at, stream);
  }

protected:
  /// The operand by whose address executions are told apart.
  virtual const View &getKey() const = 0;
  virtual void open(StartedOperation &begun, const DeviceBases &bases, Stream &stream) = 0;
  virtual CommunicationQueue::Handle begin(StartedOperation &begun) = 0;
  /// From begin to end.
  virtual void run(StartedOperation &begun) { shared.queue.wait(begin(begun)); }

  Shared &shared;

private:
  void finish(std::multimap<DeviceAddress, StartedOperation>::iterator at, Stream &stream) {
    StartedOperation &begun = at->second;
    if (begun.out || begun.inPlace)
      shared.staging.store(std::move(begun.out ? *begun.out : *begun.in), stream);
    outstanding.spare.push_back(std::move(begun.scratch));
    outstanding.begun.erase(at);
  }

  bool asynchronous;
  Outstanding &outstanding;
};

class HostCollective : public HostOperation {
public:
  HostCollective(CollectiveCall given, bool asynchronous, Shared &shared)
      : HostOperation(asynchronous, shared), call(std::move(given)), group{call.group, call.self} {}

private:
  const View &getKey() const override { return call.input; }

  void open(StartedOperation &begun, const DeviceBases &bases, Stream &stream) override {
    begun.in = shared.staging.read(call.input, bases, stream);
    begun.inPlace = call.input.getAddress(bases) == call.output.getAddress(bases);
    if (!begun.inPlace)
      begun.out = shared.staging.open(call.output, bases, stream);
  }

  CommunicationQueue::Handle begin(StartedOperation &begun) override {
    return shared.queue.beginCollective(makePhases(begun), call.lane);
  }

  void run(StartedOperation &begun) override {
    shared.queue.runCollective(makePhases(begun), call.lane);
  }

  Phases makePhases(StartedOperation &begun) {
    const std::byte *in = begun.getInput();
    std::byte *out = begun.getOutput();
    switch (call.kind) {
    case program::ALL_REDUCE:
      return allReduce(group, call.input.dtype, call.reduction, in, out,
                       call.input.getNumElements(), begun.scratch);
    case program::ALL_GATHER:
      return allGather(group, in, out, call.input.getNumBytes());
    case program::REDUCE_SCATTER:
      return reduceScatter(group, call.input.dtype, call.reduction, in, out,
                           call.output.getNumElements(), begun.scratch);
    case program::ALL_TO_ALL:
      return allToAll(group, in, out, call.input.getNumBytes() / group.getSize());
    default:
      return permute(shared.rank, call.to, call.from, in, out, call.input.getNumBytes());
    }
  }

  CollectiveCall call;
  Group group;
};

/// Sends to, or receives from, ranks of another mesh.
class HostMessages : public HostOperation {
public:
  HostMessages(MessageCall given, bool sends, bool asynchronous, Shared &shared)
      : HostOperation(asynchronous, shared), call(std::move(given)), sends(sends) {
    if (call.tag > shared.maxTag)
      throwBadInput("a message of tag {}, where ranks have tags up to {}", call.tag, shared.maxTag);
    bytes = getElementSize(call.operand.dtype);
    for (size_t dim = call.peerDims; dim < call.operand.shape.size(); ++dim)
      bytes *= call.operand.shape[dim];
  }

private:
  const View &getKey() const override { return call.operand; }

  void open(StartedOperation &begun, const DeviceBases &bases, Stream &stream) override {
    if (call.peers.empty())
      return; // another rank sends this copy
    if (sends)
      begun.in = shared.staging.read(call.operand, bases, stream);
    else
      begun.out = shared.staging.open(call.operand, bases, stream);
  }

  CommunicationQueue::Handle begin(StartedOperation &begun) override {
    std::vector<Send> sent;
    std::vector<Receive> received;
    auto peer = call.peers.begin();
    auto leading = [&](const std::vector<int64_t> &list) {
      return std::vector<int64_t>(list.begin(), list.begin() + call.peerDims);
    };
    int64_t size = getElementSize(call.operand.dtype);
    forEachOffset(leading(call.operand.shape), leading(call.operand.strides), [&](int64_t offset) {
      if (peer == call.peers.end())
        return;
      if (sends)
        sent.push_back({*peer, begun.getInput() + offset * size, bytes, call.tag});
      else
        received.push_back({*peer, begun.getOutput() + offset * size, bytes, call.tag});
      ++peer;
    });
    return shared.queue.beginMessages(std::move(sent), std::move(received));
  }

  MessageCall call;
  bool sends;
  uint64_t bytes; ///< of a message
};

class HostCommunicator : public Communicator {
public:
  HostCommunicator(Transport &transport, Staging &staging) : shared(transport, staging) {}

  std::unique_ptr<Command> makeCollective(CollectiveCall call, uint32_t token) override {
    return shared.tokens.keep(std::make_unique<HostCollective>(std::move(call), token != 0, shared),
                              token);
  }

  std::unique_ptr<Command> makeSend(MessageCall call, uint32_t token) override {
    return shared.tokens.keep(
        std::make_unique<HostMessages>(std::move(call), true, token != 0, shared), token);
  }

  std::unique_ptr<Command> makeReceive(MessageCall call, uint32_t token) override {
    return shared.tokens.keep(
        std::make_unique<HostMessages>(std::move(call), false, token != 0, shared), token);
  }

  std::unique_ptr<Command> makeWait(uint32_t token) override {
    return shared.tokens.makeWait(token, /*waitsForStream=*/true);
  }

private:
  Shared shared;
};

} // namespace

std::unique_ptr<Communicator> makeHostCommunicator(Transport &transport, Staging &staging) {
  return std::make_unique<HostCommunicator>(transport, staging);
}

} // namespace weft::runtime

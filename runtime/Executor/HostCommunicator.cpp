//===- HostCommunicator.cpp - collectives done by the host ----------------===//

#include "runtime/Executor/HostCommunicator.h"

#include "runtime/Collective/CommunicationQueue.h"
#include "runtime/Support/Error.h"

#include <deque>
#include <map>
#include <optional>

namespace weft::runtime {

namespace {

/// One execution of a command that is not over: all that the queue works on.
struct Begun {
  std::optional<Staging::Window> in;
  std::optional<Staging::Window> out; ///< none where the result takes the operand's place
  Scratch scratch;
  CommunicationQueue::Handle operation;

  const std::byte *getInput() const { return in->getData(); }
  std::byte *getOutput() const { return out ? out->getData() : in->getData(); }
};

/// What a command has begun, by the address of its operand: frames tell executions apart, and those
/// of one frame are waited for in their order.
struct Outstanding {
  std::multimap<DeviceAddress, Begun> begun;
  std::vector<Scratch> spare; ///< of those that are over
};

class HostCollective;

/// What outlives the commands. The queue ends first: nothing that it works on is gone before.
struct Shared {
  Shared(Transport &transport, Staging &staging)
      : rank(transport.getRank()), staging(staging), queue(transport) {}

  int64_t rank;
  Staging &staging;
  std::deque<Outstanding> outstanding;               ///< of each command
  std::map<uint32_t, HostCollective *> asynchronous; ///< by token
  CommunicationQueue queue;
};

class HostCollective : public Command {
public:
  HostCollective(CollectiveCall given, bool asynchronous, Shared &shared)
      : call(std::move(given)), group{call.group, call.self}, asynchronous(asynchronous),
        shared(shared), outstanding(shared.outstanding.emplace_back()) {}

  bool waitsForStream() const override { return true; }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    auto at = outstanding.begun.emplace(call.input.getAddress(bases), Begun());
    Begun &begun = at->second;
    if (!outstanding.spare.empty()) {
      begun.scratch = std::move(outstanding.spare.back());
      outstanding.spare.pop_back();
    }
    begun.in = shared.staging.read(call.input, bases, stream);
    if (call.input.getAddress(bases) != call.output.getAddress(bases))
      begun.out = shared.staging.open(call.output, bases, stream);
    if (asynchronous) {
      begun.operation = shared.queue.beginCollective(makePhases(begun));
      return;
    }
    shared.queue.runCollective(makePhases(begun));
    finish(at, stream);
  }

  /// Waits for what was begun with the operands at `bases`, the oldest first.
  void wait(const DeviceBases &bases, Stream &stream) {
    DeviceAddress address = call.input.getAddress(bases);
    auto at = outstanding.begun.lower_bound(address);
    if (at == outstanding.begun.end() || at->first != address)
      throwBadInput("it waits for what was not begun");
    shared.queue.wait(at->second.operation);
    finish(at, stream);
  }

private:
  void finish(std::multimap<DeviceAddress, Begun>::iterator at, Stream &stream) {
    Begun &begun = at->second;
    shared.staging.store(std::move(begun.out ? *begun.out : *begun.in), stream);
    outstanding.spare.push_back(std::move(begun.scratch));
    outstanding.begun.erase(at);
  }

  Phases makePhases(Begun &begun) {
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
  bool asynchronous;
  Shared &shared;
  Outstanding &outstanding;
};

class WaitCommand : public Command {
public:
  WaitCommand(uint32_t token, Shared &shared) : token(token), shared(shared) {}

  bool waitsForStream() const override { return true; }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    auto waited = shared.asynchronous.find(token);
    if (waited == shared.asynchronous.end())
      throwBadInput("it waits for token {}, which nothing begins", token);
    waited->second->wait(bases, stream);
  }

private:
  uint32_t token;
  Shared &shared;
};

class HostCommunicator : public Communicator {
public:
  HostCommunicator(Transport &transport, Staging &staging) : shared(transport, staging) {}

  std::unique_ptr<Command> makeCollective(CollectiveCall call, uint32_t token) override {
    auto command = std::make_unique<HostCollective>(std::move(call), token != 0, shared);
    if (token != 0 && !shared.asynchronous.emplace(token, command.get()).second)
      throwBadInput("two instructions begin token {}", token);
    return command;
  }

  std::unique_ptr<Command> makeWait(uint32_t token) override {
    return std::make_unique<WaitCommand>(token, shared);
  }

private:
  Shared shared;
};

} // namespace

std::unique_ptr<Communicator> makeHostCommunicator(Transport &transport, Staging &staging) {
  return std::make_unique<HostCommunicator>(transport, staging);
}

} // namespace weft::runtime

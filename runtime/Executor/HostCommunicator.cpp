//===- HostCommunicator.cpp - collectives done by the host ----------------===//

#include "runtime/Executor/HostCommunicator.h"

#include "runtime/Collective/Collectives.h"

namespace weft::runtime {

namespace {

class HostCollective : public Command {
public:
  HostCollective(CollectiveCall given, Transport &transport, Staging &staging)
      : call(std::move(given)), group{call.group, call.self}, transport(transport),
        staging(staging) {}

  bool waitsForStream() const override { return true; }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    Staging::Window in = staging.read(call.input, bases, stream);
    if (call.input.getAddress(bases) == call.output.getAddress(bases)) {
      run(in.getData(), in.getData());
      return staging.store(std::move(in), stream);
    }
    Staging::Window out = staging.open(call.output, bases, stream);
    run(in.getData(), out.getData());
    staging.store(std::move(out), stream);
  }

private:
  void run(const std::byte *in, std::byte *out) { runPhases(transport, makePhases(in, out)); }

  Phases makePhases(const std::byte *in, std::byte *out) {
    switch (call.kind) {
    case program::ALL_REDUCE:
      return allReduce(group, call.input.dtype, call.reduction, in, out,
                       call.input.getNumElements(), scratch);
    case program::ALL_GATHER:
      return allGather(group, in, out, call.input.getNumBytes());
    case program::REDUCE_SCATTER:
      return reduceScatter(group, call.input.dtype, call.reduction, in, out,
                           call.output.getNumElements(), scratch);
    case program::ALL_TO_ALL:
      return allToAll(group, in, out, call.input.getNumBytes() / group.getSize());
    default:
      return permute(transport.getRank(), call.to, call.from, in, out, call.input.getNumBytes());
    }
  }

  CollectiveCall call;
  Group group;
  Transport &transport;
  Staging &staging;
  Scratch scratch;
};

class HostCommunicator : public Communicator {
public:
  HostCommunicator(Transport &transport, Staging &staging)
      : transport(transport), staging(staging) {}

  std::unique_ptr<Command> makeCollective(CollectiveCall call) override {
    return std::make_unique<HostCollective>(std::move(call), transport, staging);
  }

private:
  Transport &transport;
  Staging &staging;
};

} // namespace

std::unique_ptr<Communicator> makeHostCommunicator(Transport &transport, Staging &staging) {
  return std::make_unique<HostCommunicator>(transport, staging);
}

} // namespace weft::runtime

#include "runtime/Executor/HostCopies.h"

#include <map>

namespace weft::runtime {

/// Frames tell executions that are under way at once apart; those of one are waited for in order.
class HostCopies::Copy : public Command {
public:
  Copy(Device &device, Stream &way, CopyCall call)
      : device(device), way(way), output(call.output), copy(device.makeCopy(std::move(call))) {}

  void initialise() override { copy->initialise(); }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    std::unique_ptr<Event> ready = takeEvent(), done = takeEvent();
    stream.record(*ready);
    way.wait(*ready);
    copy->enqueue(bases, way);
    way.record(*done);
    spare.push_back(std::move(ready));
    begun.emplace(output.getAddress(bases), std::move(done));
  }

  void wait(const DeviceBases &bases, Stream &stream) {
    auto at = begun.find(output.getAddress(bases));
    if (at == begun.end())
      throwBadInput("it waits for what was not begun");
    stream.wait(*at->second);
    spare.push_back(std::move(at->second));
    begun.erase(at);
  }

private:
  /// Waiting for an event is enqueued: it may be recorded again at once.
  std::unique_ptr<Event> takeEvent() {
    if (spare.empty())
      return device.makeEvent();
    std::unique_ptr<Event> event = std::move(spare.back());
    spare.pop_back();
    return event;
  }

  Device &device;
  Stream &way;
  View output;
  std::unique_ptr<Command> copy;
  std::multimap<DeviceAddress, std::unique_ptr<Event>> begun;
  std::vector<std::unique_ptr<Event>> spare;
};

std::unique_ptr<Command> HostCopies::makeCopy(CopyCall call, bool toHost, uint32_t token) {
  std::unique_ptr<Stream> &way = toHost ? returning : fetching;
  if (!way)
    way = device.makeStream();
  tokens.insert(token);
  return copies.keep(std::make_unique<Copy>(device, *way, std::move(call)), token);
}

std::unique_ptr<Command> HostCopies::makeWait(uint32_t token) {
  return copies.makeWait(token, /*waitsForStream=*/false);
}

} // namespace weft::runtime

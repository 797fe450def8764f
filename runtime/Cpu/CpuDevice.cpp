//===- CpuDevice.cpp - the host's cores as a device -----------------------===//

#include "runtime/Cpu/CpuDevice.h"

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/HostMachine.h"
#include "runtime/Cpu/Kernels.h"

#include <chrono>
#include <cstring>

namespace weft::runtime {

namespace {

std::byte *toPointer(DeviceAddress address) {
  return reinterpret_cast<std::byte *>(address.getValue());
}

DeviceAddress toAddress(const std::byte *pointer) {
  return DeviceAddress(reinterpret_cast<uintptr_t>(pointer));
}

/// The moment of its recording.
class CpuEvent : public Event {
public:
  using Clock = std::chrono::steady_clock;

  void pass() { time = Clock::now(); }

  bool isDone() const override { return true; }
  bool wait(double seconds) override { return true; }
  double getSecondsSince(const Event &earlier) const override {
    return std::chrono::duration<double>(time - static_cast<const CpuEvent &>(earlier).time)
        .count();
  }

private:
  Clock::time_point time;
};

class CpuStream : public Stream {
public:
  CpuStream(ThreadPool &pool, CopiedBytes &copied) : pool(pool), copied(copied) {}

  void copyToDevice(DeviceAddress to, const std::byte *from, int64_t bytes) override {
    std::memcpy(toPointer(to), from, bytes);
    copied.toDevice += bytes;
  }
  void copyToHost(std::byte *to, DeviceAddress from, int64_t bytes) override {
    std::memcpy(to, toPointer(from), bytes);
    copied.toHost += bytes;
  }
  void record(Event &event) override { static_cast<CpuEvent &>(event).pass(); }
  void wait(const Event &event) override {}

  void execute(Action &action, const DeviceBases &at) {
    bases.clear();
    for (DeviceAddress address : at)
      bases.push_back(toPointer(address));
    action.execute(bases, pool);
  }

private:
  ThreadPool &pool;
  CopiedBytes &copied;
  Bases bases; ///< of the last command; keeps its memory
};

class CpuCommand : public Command {
public:
  CpuCommand(std::unique_ptr<Action> action, const KernelLibrary &kernels)
      : action(std::move(action)), kernels(kernels) {}

  void initialise() override { action->initialise(kernels); }
  void enqueue(const DeviceBases &bases, Stream &stream) override {
    static_cast<CpuStream &>(stream).execute(*action, bases);
  }

private:
  std::unique_ptr<Action> action;
  const KernelLibrary &kernels;
};

class CpuDevice : public Device {
public:
  explicit CpuDevice(const DeviceOptions &options) : options(options), pool(options.threads) {
    limitLibraryThreads();
  }

  std::string getName() const override { return "cpu"; }
  std::string getTarget() const override { return "cpu"; }
  void checkFeatures(std::span<const std::string> features) const override {
    checkCpuFeatures(features);
  }

  int64_t getAvailableMemory() const override {
    return getAvailableHostMemory() / options.ranksOnHost;
  }
  DeviceAddress allocate(int64_t bytes) override { return toAddress(blocks.allocate(bytes)); }
  void free(DeviceAddress address) override { blocks.free(toPointer(address)); }
  bool sharesHostMemory() const override { return true; }
  std::byte *allocateHost(int64_t bytes) override { return blocks.allocate(bytes); }
  void freeHost(std::byte *memory) override { blocks.free(memory); }
  std::byte *getHostPointer(DeviceAddress address) const override { return toPointer(address); }
  int64_t getStagingBytes() const override { return 64 << 20; }
  CopiedBytes getCopiedBytes() const override { return copied; }

  std::unique_ptr<Stream> makeStream() override {
    return std::make_unique<CpuStream>(pool, copied);
  }
  std::unique_ptr<Event> makeEvent() override { return std::make_unique<CpuEvent>(); }

  void loadKernels(const std::string &folder) override { kernels.load(folder + "/cpu.so"); }
  std::unique_ptr<Command> makeLaunch(LaunchCall call) override {
    return make(makeLaunchAction(std::move(call)));
  }
  std::unique_ptr<Command> makeAttention(AttentionCall call) override {
    return make(makeAttentionAction(std::move(call)));
  }
  std::unique_ptr<Command> makeAttentionBackward(AttentionBackwardCall call) override {
    return make(makeAttentionBackwardAction(std::move(call)));
  }
  std::unique_ptr<Command> makeGemm(GemmCall call) override {
    return make(makeGemmAction(call.a, call.b, call.c, call.accumulate));
  }
  std::unique_ptr<Command> makeConv(ConvCall call) override { return make(makeConvAction(call)); }
  std::unique_ptr<Command> makeCopy(CopyCall call) override {
    return make(makeCopyAction(call.input, call.output));
  }
  std::unique_ptr<Command> makeFill(FillCall call) override {
    return make(makeFillAction(call.output, call.value));
  }

private:
  std::unique_ptr<Command> make(std::unique_ptr<Action> action) {
    return std::make_unique<CpuCommand>(std::move(action), kernels);
  }

  DeviceOptions options;
  ThreadPool pool;
  HostBlocks blocks;
  KernelLibrary kernels;
  CopiedBytes copied;
};

} // namespace

std::unique_ptr<Device> makeCpuDevice(const DeviceOptions &options) {
  return std::make_unique<CpuDevice>(options);
}

} // namespace weft::runtime

//===- GuardedDevice.cpp - a device to find the host's mistakes -----------===//
//
// Runs programs that were compiled for the CPU, with the CPU's own code, as an accelerator would:
// in memory that the host cannot reach (GuardedMemory.h), on streams that run late (LateStream.h).
// Host code that takes an address for a pointer faults; one that does not wait gets wrong numbers:
// a copy to the host fills its target with rubbish until it is done. Copies take host memory of
// allocateHost alone, and their bytes are counted as they are done.
//
// WEFT_GUARDED=late (as late as may be, the default) or random:SEED.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/Kernels.h"
#include "runtime/Support/Error.h"
#include "test/device/GuardedMemory.h"
#include "test/device/LateStream.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace weft::test {

using namespace weft::runtime;

namespace {

constexpr int rubbish = 0xa5;
constexpr int64_t stagingBytes = 16 << 10; // so small that tests of small models use several

Lateness readLateness(int64_t rank) {
  const char *given = std::getenv("WEFT_GUARDED");
  std::string text = given ? given : "late";
  if (text == "late")
    return std::nullopt;
  if (text.rfind("random:", 0) == 0)
    return static_cast<unsigned>(std::atoi(text.c_str() + 7) + rank);
  throw Error(ErrorKind::Usage,
              fmt::format("WEFT_GUARDED is 'late' or 'random:SEED', got '{}'", text));
}

/// What the device's streams and commands share.
struct State {
  explicit State(int threads) : pool(threads) {}

  GuardedMemory memory;
  HostBlocks hostBlocks;
  std::map<const std::byte *, int64_t> hostBytes; ///< of each host block
  std::mutex working;                             ///< held by the stream that uses the pool
  ThreadPool pool;
  KernelLibrary kernels;
  std::atomic<int64_t> toDevice = 0, toHost = 0;

  void checkHostMemory(const std::byte *data, int64_t bytes) const {
    auto next = hostBytes.upper_bound(data);
    if (next == hostBytes.begin() ||
        data + bytes > std::prev(next)->first + std::prev(next)->second)
      throwFailure("a copy of {} bytes between the device and memory that is not of allocateHost",
                   bytes);
  }
};

class GuardedStream : public LateStream {
public:
  GuardedStream(State &state, Lateness lateness)
      : LateStream(lateness, limitLibraryThreads), state(state) {}

  void copyToDevice(DeviceAddress to, const std::byte *from, int64_t bytes) override {
    state.checkHostMemory(from, bytes);
    enqueue([&state = state, to = state.memory.translate(to, bytes), from, bytes] {
      std::memcpy(to, from, bytes);
      state.toDevice += bytes;
    });
  }

  void copyToHost(std::byte *to, DeviceAddress from, int64_t bytes) override {
    state.checkHostMemory(to, bytes);
    std::memset(to, rubbish, bytes);
    enqueue([&state = state, to, from = state.memory.translate(from, bytes), bytes] {
      std::memcpy(to, from, bytes);
      state.toHost += bytes;
    });
  }

private:
  State &state;
};

class GuardedCommand : public Command {
public:
  GuardedCommand(std::unique_ptr<Action> action, State &state)
      : action(std::move(action)), state(state) {}

  void initialise() override { action->initialise(state.kernels); }

  void enqueue(const DeviceBases &at, Stream &stream) override {
    Bases bases;
    for (DeviceAddress address : at)
      bases.push_back(state.memory.translate(address, 0));
    static_cast<GuardedStream &>(stream).enqueue([this, bases] {
      std::lock_guard guard(state.working);
      action->execute(bases, state.pool);
    });
  }

private:
  std::unique_ptr<Action> action;
  State &state;
};

class GuardedDevice : public Device {
public:
  explicit GuardedDevice(const DeviceOptions &options)
      : options(options), lateness(readLateness(options.rankOnHost)), state(options.threads) {}

  std::string getName() const override { return "guarded"; }
  std::string getTarget() const override { return "cpu"; }
  void checkFeatures(std::span<const std::string> features) const override {
    checkCpuFeatures(features);
  }

  int64_t getAvailableMemory() const override {
    return getAvailableHostMemory() / options.ranksOnHost;
  }
  DeviceAddress allocate(int64_t bytes) override { return state.memory.allocate(bytes); }
  void free(DeviceAddress address) override { state.memory.free(address); }
  std::byte *allocateHost(int64_t bytes) override {
    std::byte *memory = state.hostBlocks.allocate(bytes);
    state.hostBytes[memory] = bytes;
    return memory;
  }
  void freeHost(std::byte *memory) override {
    state.hostBytes.erase(memory);
    state.hostBlocks.free(memory);
  }
  std::byte *getHostPointer(DeviceAddress address) const override { return nullptr; }
  int64_t getStagingBytes() const override { return stagingBytes; }
  CopiedBytes getCopiedBytes() const override { return {state.toDevice, state.toHost}; }

  std::unique_ptr<Stream> makeStream() override {
    return std::make_unique<GuardedStream>(state, lateness);
  }
  std::unique_ptr<Event> makeEvent() override { return std::make_unique<LateEvent>(); }

  void loadKernels(const std::string &folder) override { state.kernels.load(folder + "/cpu.so"); }
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
    return std::make_unique<GuardedCommand>(std::move(action), state);
  }

  DeviceOptions options;
  Lateness lateness;
  State state;
};

Device *makeGuardedDevice(const DeviceOptions &options) { return new GuardedDevice(options); }

} // namespace

} // namespace weft::test

/// What the runtime looks up in the module.
extern "C" const weft::runtime::DeviceModule weft_device_module = {
    weft::runtime::deviceInterfaceVersion, weft::test::makeGuardedDevice};

//===- Launch.cpp - calls of generated kernels ----------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/Kernels.h"
#include "runtime/Device/LaunchFailure.h"
#include "runtime/Support/Error.h"

#include <dlfcn.h>
#include <limits>

namespace weft::runtime {

void KernelLibrary::load(const std::string &file) {
  path = file;
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throwBadInput("cannot load the kernels: {}", dlerror());
}

KernelLibrary::~KernelLibrary() {
  if (handle)
    dlclose(handle);
}

Kernel KernelLibrary::find(const std::string &name) const {
  void *symbol = handle ? dlsym(handle, name.c_str()) : nullptr;
  if (!symbol)
    throwBadInput("there is no kernel '{}' in '{}'; compile again", name, path);
  return reinterpret_cast<Kernel>(symbol);
}

namespace {

class LaunchAction : public Action {
public:
  explicit LaunchAction(LaunchCall given) : call(std::move(given)) {
    if (call.tiles < 0)
      throwBadInput("a launch of {} tiles", call.tiles);
    addresses.resize(call.operands.size());
  }

  void initialise(const KernelLibrary &kernels) override { kernel = kernels.find(call.kernel); }

  void execute(const Bases &bases, ThreadPool &pool) override {
    for (size_t i = 0; i < addresses.size(); ++i)
      addresses[i] = call.operands[i].getAddress(bases);
    failedAt = std::numeric_limits<int64_t>::max();
    pool.parallelFor(call.tiles, call.grain, [this](int64_t lo, int64_t hi) {
      int64_t error[3] = {0, 0, 0};
      if (kernel(addresses.data(), call.params.data(), lo, hi, error) != 0)
        recordFailure(lo, error);
    });
    if (failedAt != std::numeric_limits<int64_t>::max())
      throwLaunchFailure(call, failure);
  }

private:
  /// Keeps the failure of the lowest tiles, so that a run's message repeats.
  void recordFailure(int64_t lo, const int64_t *error) {
    std::lock_guard guard(lock);
    if (lo >= failedAt)
      return;
    failedAt = lo;
    failure = {error[0], error[1], error[2]};
  }

  LaunchCall call;
  Kernel kernel = nullptr;
  std::vector<void *> addresses;
  std::mutex lock; ///< of the two below
  int64_t failedAt = 0;
  LaunchFailure failure;
};

} // namespace

std::unique_ptr<Action> makeLaunchAction(LaunchCall call) {
  return std::make_unique<LaunchAction>(std::move(call));
}

} // namespace weft::runtime

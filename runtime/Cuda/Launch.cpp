//===- Launch.cpp - calls of generated kernels ----------------------------===//
//
// An entry of cuda.ptx has the kernel's content key for a name and these parameters, of 8 bytes
// each:
//
//   the address of each operand, inputs first; each of LaunchCall::params; the number of tiles; the
//   address of the launch's slot (CheckSlots.h)
//
// Blocks have 256 threads and do `grain` tiles at once; no more of them are launched than keep the
// GPU busy, so that a kernel goes on with the tiles that lie a grid further.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/Commands.h"
#include "runtime/Cuda/DeviceFunctions.h"
#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {

class LaunchCommand : public Command {
public:
  LaunchCommand(CudaContext &context, LaunchCall given) : context(context), call(std::move(given)) {
    if (call.tiles < 0)
      throwBadInput("a launch of {} tiles", call.tiles);
    if (call.grain < 1)
      throwBadInput("a launch of blocks of {} tiles", call.grain);
    if (call.tiles == 0)
      return;
    launch = std::make_shared<WatchedLaunch>(context.getCheckSlots(), call);
    values.assign(call.operands.size(), 0);
    for (int64_t param : call.params)
      values.push_back(static_cast<uint64_t>(param));
    values.push_back(static_cast<uint64_t>(call.tiles));
    values.push_back(launch->getSlotAddress());
    for (uint64_t &value : values)
      arguments.push_back(&value);
  }

  void initialise() override {
    function = context.findKernel(call.kernel);
    grid = context.getGrid((call.tiles - 1) / call.grain + 1);
  }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    if (call.tiles == 0)
      return;
    for (size_t i = 0; i < call.operands.size(); ++i)
      values[i] = toPointer(call.operands[i].getAddress(bases));
    auto &own = static_cast<CudaStream &>(stream);
    CUresult result = cuLaunchKernel(function, grid, 1, 1, threadsOfBlock, 1, 1, 0, own.get(),
                                     arguments.data(), nullptr);
    if (result != CUDA_SUCCESS)
      throwFailure("cuLaunchKernel of '{}': {}", call.kernel, describe(result));
    own.watch(launch);
  }

private:
  CudaContext &context;
  LaunchCall call;
  std::shared_ptr<WatchedLaunch> launch;
  CUfunction function = nullptr;
  unsigned grid = 0;
  std::vector<uint64_t> values;
  std::vector<void *> arguments; ///< the addresses of `values`
};

} // namespace

std::unique_ptr<Command> makeLaunchCommand(CudaContext &context, LaunchCall call) {
  return std::make_unique<LaunchCommand>(context, std::move(call));
}

} // namespace weft::runtime

//===- Action.h - what the CPU does for a command ---------------*- C++ -*-===//
//
// What the CPU does for a command: work on host memory, at once, by a pool of threads. The CPU's
// device runs it from within enqueue(); a device whose streams have threads of their own, there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_ACTION_H
#define WEFT_RUNTIME_CPU_ACTION_H

#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Device/Calls.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace weft::runtime {

class KernelLibrary;

/// Where each arena's current frame begins in host memory.
using Bases = std::vector<std::byte *>;

class Action {
public:
  virtual ~Action() = default;
  virtual void initialise(const KernelLibrary &kernels) {}
  /// Throws an Error where a check of the program fails.
  virtual void execute(const Bases &bases, ThreadPool &pool) = 0;
};

// One maker a call; an Error of kind BadInput where it is malformed.
std::unique_ptr<Action> makeAttentionAction(AttentionCall call);
std::unique_ptr<Action> makeAttentionBackwardAction(AttentionBackwardCall call);
std::unique_ptr<Action> makeConvAction(const ConvCall &call);
std::unique_ptr<Action> makeCopyAction(View input, View output);
std::unique_ptr<Action> makeFillAction(View output, const std::string &value);
std::unique_ptr<Action> makeGemmAction(View a, View b, View c, bool accumulate);
std::unique_ptr<Action> makeLaunchAction(LaunchCall call);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_ACTION_H

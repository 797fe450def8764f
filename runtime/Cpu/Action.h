//===- Action.h - an instruction made ready for one rank --------*- C++ -*-===//
//
// prepare makes an Action of each instruction: everything that depends on the rank is evaluated and
// checked. initialise binds it to what is loaded (kernels). execute runs it on a frame of the
// arenas and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_ACTION_H
#define WEFT_RUNTIME_CPU_ACTION_H

#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Program/View.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace weft::runtime {

class KernelLibrary;

/// Where each arena's current frame begins.
using Bases = std::vector<std::byte *>;

class Action {
public:
  virtual ~Action() = default;
  virtual void initialise(const KernelLibrary &kernels) {}
  /// Throws an Error where a check of the program fails.
  virtual void execute(const Bases &bases, ThreadPool &pool) = 0;
};

/// Makes the Action of an instruction that runs on the CPU; null for a collective. An instruction
/// that is malformed or unknown is an Error of kind BadInput.
std::unique_ptr<Action> makeCpuAction(const program::Program &program,
                                      const program::Instruction &instruction,
                                      const Position &position);

// One maker a kind of instruction.
std::unique_ptr<Action> makeConvAction(View input, View kernel, View output,
                                       const program::Conv &conv);
std::unique_ptr<Action> makeCopyAction(View input, View output);
std::unique_ptr<Action> makeFillAction(View output, const std::string &value);
std::unique_ptr<Action> makeGemmAction(View a, View b, View c, bool accumulate);
std::unique_ptr<Action> makeLaunchAction(const program::Program &program,
                                         const program::Launch &launch, const Position &position);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_ACTION_H

//===- KernelTarget.h - the processor that kernels run on -------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_KERNELTARGET_H
#define WEFT_COMPILER_KERNEL_KERNELTARGET_H

#include "compiler/Kernel/Target.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace weft::kernel {

/// A CPU by LLVM's name, with the features of this machine if it is "native"; or the least GPU.
class KernelTarget {
public:
  static llvm::Expected<KernelTarget> create(const std::string &cpu);
  static llvm::Expected<KernelTarget> createGpu();

  /// The features that code for this CPU may use, as named in /proc/cpuinfo, sorted; the least chip
  /// of a GPU: "sm_80".
  std::vector<std::string> getFeatures() const;

  KernelMachine getMachine() const { return machine; }

  /// Whether kernels may call a function of this name: KernelMath.cpp has it.
  static bool hasFunction(llvm::StringRef name);

  /// Adds the functions that the module calls, those in `arithmetic` (ArithmeticLibrary.h) and
  /// elementary ones, optimises it, and returns its object file, for a GPU its bitcode. May be
  /// called from several threads with modules of different contexts.
  llvm::Expected<std::string> compile(std::unique_ptr<llvm::Module> module,
                                      llvm::StringRef arithmetic) const;

  /// What the runtime loads, of all that was compiled: a shared object, for a GPU PTX.
  llvm::Expected<std::string> link(llvm::ArrayRef<std::string> compiled) const;

private:
  std::unique_ptr<llvm::TargetMachine> makeMachine() const;
  llvm::Expected<std::string> makePtx(llvm::ArrayRef<std::string> compiled) const;

  llvm::Triple triple;
  std::string cpu, features;
  KernelMachine machine = KernelMachine::Cores;
};

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_KERNELTARGET_H

//===- KernelTarget.h - the CPU that kernels run on -------------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_KERNELTARGET_H
#define WEFT_COMPILER_KERNEL_KERNELTARGET_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace weft::kernel {

/// A CPU by LLVM's name, with the features of this machine if it is "native".
class KernelTarget {
public:
  static llvm::Expected<KernelTarget> create(const std::string &cpu);

  /// The features that code for this CPU may use, as named in /proc/cpuinfo, sorted.
  std::vector<std::string> getFeatures() const;

  /// Whether kernels may call a function of this name: KernelMath.cpp has it.
  static bool hasFunction(llvm::StringRef name);

  /// Adds the functions that the module calls, those in `arithmetic` (ArithmeticLibrary.h) and
  /// elementary ones, optimises it, and returns its object file. May be called from several threads
  /// with modules of different contexts.
  llvm::Expected<std::string> compile(std::unique_ptr<llvm::Module> module,
                                      llvm::StringRef arithmetic) const;

private:
  std::unique_ptr<llvm::TargetMachine> makeMachine() const;

  std::string cpu, features;
};

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_KERNELTARGET_H

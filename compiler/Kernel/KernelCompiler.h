//===- KernelCompiler.h - native code for fused groups ----------*- C++ -*-===//
//
// A kernel is a private function with the attribute `exec.kernel`, made by --weft-form-kernels:
// weft operations on static per-device tensors, none of which consists of others (decomposeAll). It
// becomes one native function over a range of tiles,
//
//   int32_t key(void *const *operands, const int64_t *params, int64_t lo, int64_t hi, int64_t
//   *error)
//
// with operands = the arguments that are not `exec.param` in order, then the results; params = the
// `exec.param` arguments in order. Tiles are independent: any partition of [0, tiles) over threads
// gives the same bits. A status other than 0 is one more than the number of a failed check
// (runtime/Program/executable.proto, Launch). Operands must not overlap, but for inputs among
// themselves, and an argument with `exec.in_place` and the result of that number, which have one
// address.
//
// For a GPU it becomes an entry of PTX (KernelEmitter.h).
//
// Arguments are contiguous in row-major order unless they carry `exec.strides` (elements); results
// are, but for those in place, which may carry them too. i1 takes one byte an element, 0 or 1.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_KERNELCOMPILER_H
#define WEFT_COMPILER_KERNEL_KERNELCOMPILER_H

#include "compiler/Kernel/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

/// An index that the kernel checks before it is used: legal values are [low, high).
struct KernelCheck {
  std::string message;
  int64_t low = 0;
  int64_t high = 0;
  std::string source; ///< source name of the operation in the first kernel of this structure
};

/// An operand of a kernel that holds an argument and is overwritten with a result: both have its
/// address. What a scatter does not write keeps its value.
struct InPlace {
  unsigned argument = 0; ///< of those that are no `exec.param`
  unsigned result = 0;
  llvm::SmallVector<int64_t, 6> strides; ///< of the result, in elements
  int64_t writtenBytes = 0;              ///< about
  bool operator==(const InPlace &other) const = default;
};

/// What is known of a kernel without generating its code.
struct KernelInfo {
  std::string key; ///< content key: the symbol in the shared object, "k" and 16 hexadecimal digits
  int64_t tiles = 1;
  int64_t grain = 1; ///< least tiles worth a thread of their own; of a GPU, those of one block
  int64_t flops = 0; ///< of a whole launch, in additions that take about as long
  llvm::SmallVector<int64_t> bytesRead; ///< about, of each argument that is no `exec.param`
  std::vector<KernelCheck> checks;
  std::vector<InPlace> inPlace;
};

/// Describes a kernel. Fails with a diagnostic at the operation that no kernel can hold.
mlir::FailureOr<KernelInfo> describeKernel(mlir::func::FuncOp kernel,
                                           KernelMachine machine = KernelMachine::Cores);

struct KernelOptions {
  KernelMachine machine = KernelMachine::Cores;
  std::string cpu = "native"; ///< "native" or a name that LLVM knows, e.g. "x86-64-v3"
  unsigned threads = 0;       ///< 0: as many as cores
};

/// Whether kernels can be compiled for this CPU (KernelOptions::cpu); the error says what could be.
llvm::Error checkKernelCpu(const std::string &cpu);

/// A shared object with one symbol a key, or PTX with one entry.
struct KernelLibrary {
  KernelMachine machine = KernelMachine::Cores;
  std::vector<std::string> keys;     ///< sorted, distinct
  std::vector<std::string> features; ///< what the code needs, as named in /proc/cpuinfo, sorted; or
                                     ///< the least GPU
  std::string bytes;                 ///< the shared object or PTX; empty if there are no kernels
};

/// The name of the file that the runtime loads kernels from: "cpu.so", "cuda.ptx".
llvm::StringRef getKernelFile(KernelMachine machine);

/// Compiles and links kernels (equal keys once). For CPUs it needs a linker (ld, ld.lld, mold or
/// cc) on the PATH.
llvm::Expected<KernelLibrary> compileKernels(llvm::ArrayRef<mlir::func::FuncOp> kernels,
                                             const KernelOptions &options = {});

/// The kernels of a module, in order.
llvm::SmallVector<mlir::func::FuncOp> getKernels(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_KERNELCOMPILER_H

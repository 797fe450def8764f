//===- LoadLibrary.h - kernels in this process ------------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNEL_LOADLIBRARY_H
#define WEFT_TEST_UNIT_KERNEL_LOADLIBRARY_H

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <fstream>
#include <string>

namespace weft {

/// The native function of a kernel (compiler/Kernel/KernelCompiler.h).
using Kernel = int32_t (*)(void *const *, const int64_t *, int64_t, int64_t, int64_t *);

/// Loads a shared object from its bytes; null, and a message, if that fails.
inline void *loadLibrary(const std::string &bytes) {
  llvm::SmallString<64> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("weft-cases", "so", path)) {
    llvm::errs() << "cannot make a temporary file: " << error.message() << '\n';
    return nullptr;
  }
  std::ofstream(path.c_str()) << bytes;
  void *library = dlopen(path.c_str(), RTLD_NOW);
  if (!library)
    llvm::errs() << dlerror() << '\n';
  llvm::sys::fs::remove(path);
  return library;
}

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNEL_LOADLIBRARY_H

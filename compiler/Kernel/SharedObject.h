//===- SharedObject.h - links kernels ---------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_SHAREDOBJECT_H
#define WEFT_COMPILER_KERNEL_SHAREDOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace weft::kernel {

/// Links object files into a shared object with the first linker found on the PATH (ld, ld.lld,
/// mold, cc). The result depends on nothing but the objects' bytes. An error says what to install,
/// or what the linker said.
llvm::Expected<std::string> linkSharedObject(llvm::ArrayRef<std::string> objects);

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_SHAREDOBJECT_H

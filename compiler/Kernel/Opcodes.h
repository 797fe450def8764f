//===- Opcodes.h - operations as kernels know them --------------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_OPCODES_H
#define WEFT_COMPILER_KERNEL_OPCODES_H

#include "compiler/Kernel/KernelGraph.h"
#include <optional>

namespace weft::kernel {

/// The opcode of an operation that is one node without numbers of its own.
std::optional<Opcode> getSimpleOpcode(mlir::Operation *op);

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_OPCODES_H

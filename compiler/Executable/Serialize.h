//===- Serialize.h - exec IR as the executable's protobuf -------*- C++ -*-===//

#ifndef WEFT_COMPILER_EXECUTABLE_SERIALIZE_H
#define WEFT_COMPILER_EXECUTABLE_SERIALIZE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program/executable.pb.h"

namespace weft {

/// Writes meshes, programs, ranks and the weights that programs read. `weights` gets the operation
/// of each Executable.weights entry, whose file, offset and length are still to be set. The module
/// must verify.
void serializeProgram(mlir::ModuleOp module, program::Executable &executable,
                      llvm::SmallVectorImpl<exec::WeightOp> &weights);

/// Writes one instruction but for what names others of its program: a gradient's port, a segment.
void serializeInstruction(exec::InstructionOpInterface op, program::Instruction &instruction);

/// The proto's name of an element type that arenas hold (getDType), as the exec dialect verifies.
program::DType toProto(mlir::Type dtype);

/// One element of a splat, little endian; i1 takes one byte.
std::string getElementBytes(mlir::Attribute value);

} // namespace weft

#endif // WEFT_COMPILER_EXECUTABLE_SERIALIZE_H

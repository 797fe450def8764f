//===- InstructionShapes.h - what instructions of a program do --*- C++ -*-===//

#ifndef WEFT_COMPILER_EXECUTABLE_INSTRUCTIONSHAPES_H
#define WEFT_COMPILER_EXECUTABLE_INSTRUCTIONSHAPES_H

#include "compiler/Cost/Instruction.h"
#include "runtime/Program/executable.pb.h"
#include <optional>

namespace weft {

/// What an instruction computes or moves on its own device, for getInstructionSeconds; none of
/// communication and of what takes no time.
std::optional<InstructionWork> describeWork(const program::Instruction &instruction);

} // namespace weft

#endif // WEFT_COMPILER_EXECUTABLE_INSTRUCTIONSHAPES_H

//===- MakeCommand.h - instructions made ready for one rank -----*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_MAKECOMMAND_H
#define WEFT_RUNTIME_EXECUTOR_MAKECOMMAND_H

#include "runtime/Executor/HostCopies.h"
#include "runtime/Program/Collectives.h"

namespace weft::runtime {

/// What commands of a rank's program are made from.
struct CommandContext {
  const program::Executable &executable;
  const program::Program &program;
  const Position &position;
  const CollectiveLanes &lanes;
  int64_t numRanks;
  Device &device;
  Communicator &communicator;
  HostCopies &hostCopies;
};

/// Evaluates an instruction for the rank and lets its device, or the communicator, make a command
/// of it. An Error of kind BadInput where it is malformed or unknown.
std::unique_ptr<Command> makeCommand(const CommandContext &context,
                                     const program::Instruction &instruction);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_MAKECOMMAND_H

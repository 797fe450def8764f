//===- Collectives.h - what people are told about collectives ---*- C++ -*-===//
//
// The compiler's inspection counts the collectives of a program, the runtime those it executes;
// both speak of them in the same words and bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_COLLECTIVES_H
#define WEFT_RUNTIME_PROGRAM_COLLECTIVES_H

#include "runtime/Program/executable.pb.h"

#include <string>
#include <vector>

namespace weft::runtime {

/// One kind of collective of a step.
struct CollectiveRecord {
  std::string kind;              ///< "all_reduce" …
  std::vector<std::string> axes; ///< "model", or "model:(1)2" for a sub-axis
  std::string reduction;         ///< "sum" …; empty where nothing is reduced
  std::string dtype;
  int64_t bytes = 0; ///< full logical buffer of one group
  int64_t count = 0; ///< executions
  std::string source;
};

/// Describes one collective among `groupSize` ranks, with count 0. The logical buffer of a group is
/// the tensor that is whole before or after: the operand of all_reduce and reduce_scatter, the
/// result of all_gather, and all members' operands together for all_to_all and permute.
CollectiveRecord describeCollective(const program::Instruction &instruction, int64_t groupSize);

/// "all_reduce", "all_gather" …
std::string getName(program::CollectiveKind kind);
std::string getName(plan::Reduction reduction);
std::string getName(const plan::AxisRef &axis);

/// The instruction's opcode: "GEMM", "LAUNCH" …; "?" where it holds none this runtime knows.
std::string getOpcode(const program::Instruction &instruction);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_COLLECTIVES_H

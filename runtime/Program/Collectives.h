//===- Collectives.h - what is known of a program's collectives -*- C++ -*-===//
//
// The compiler's inspection counts the collectives of a program, the runtime those it executes;
// both speak of them in the same words and bytes. Which of them wait for which the runtime and the
// simulator know from here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_COLLECTIVES_H
#define WEFT_RUNTIME_PROGRAM_COLLECTIVES_H

#include "runtime/Program/Position.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::runtime {

/// One kind of collective of a step, or of transfer between meshes.
struct CollectiveRecord {
  std::string kind;              ///< "all_reduce" …, "transfer"
  std::vector<std::string> axes; ///< "model", or "model:(1)2" for a sub-axis
  std::string reduction;         ///< "sum" …; empty where nothing is reduced
  std::string dtype;
  int64_t bytes = 0; ///< full logical buffer of one group; of a transfer what all ranks send
  int64_t count = 0; ///< executions
  std::string source;
  std::string mesh;     ///< of the ranks that take part, where there are several; of a transfer
                        ///< where it comes from
  std::string to;       ///< of a transfer: the mesh that it goes to
  int64_t messages = 0; ///< of a transfer: of all ranks

  bool isTransfer() const { return !to.empty(); }
};

/// Describes a collective, or a transfer where it is sent, with count 0; none for other
/// instructions. The logical buffer of a group is the tensor that is whole before or after: the
/// operand of all_reduce and reduce_scatter, the result of all_gather, and all members' operands
/// together for all_to_all and permute.
std::optional<CollectiveRecord> describeCommunication(const program::Instruction &instruction,
                                                      const Position &position);

/// Adds executions to the record of their kind, a new one where there is none.
class CollectiveCounts {
public:
  void add(const CollectiveRecord &record);
  const std::vector<CollectiveRecord> &get() const { return records; }

private:
  std::vector<CollectiveRecord> records; ///< in the order in which they came
  std::map<std::string, size_t> known;
};

/// The lanes of a program: collectives over the same axes are done one after the other, in the
/// order in which they are begun, those over others beside them. All programs of a mesh have the
/// same, in the same order.
class CollectiveLanes {
public:
  explicit CollectiveLanes(const program::Program &program);

  /// A collective of the program's: the number of its lane, from 0.
  int32_t get(const program::Collective &collective) const;
  /// What collectives of each lane go over, by getAxesName().
  const std::vector<std::string> &getNames() const { return names; }

private:
  std::vector<std::string> names; ///< sorted
};

/// A record as text, for other ranks.
std::string toText(const CollectiveRecord &record);
CollectiveRecord parseRecord(const std::string &text);

/// "all_reduce", "all_gather" …
std::string getName(program::CollectiveKind kind);
std::string getName(plan::Reduction reduction);
std::string getName(const plan::AxisRef &axis);
/// The axes of its group: "expert, model".
std::string getAxesName(const program::Collective &collective);

/// The instruction's opcode: "GEMM", "LAUNCH" …; "?" where it holds none this runtime knows.
std::string getOpcode(const program::Instruction &instruction);

/// The opcode, of collectives with their kind: "COLLECTIVE all_reduce".
std::string getOperation(const program::Instruction &instruction);

/// What a timeline calls it: "GEMM of 'h.0.mlp'".
std::string getLabel(const program::Instruction &instruction);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_COLLECTIVES_H

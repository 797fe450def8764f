//===- Checks.h - the parts of the verifier ---------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_VERIFY_CHECKS_H
#define WEFT_RUNTIME_VERIFY_CHECKS_H

#include "runtime/Program/executable.pb.h"
#include "runtime/Verify/Reasons.h"

#include <utility>

namespace weft::runtime {

/// What a check of one program needs to know.
struct ProgramContext {
  const program::Executable &executable;
  const program::Program &program;
  const plan::Mesh *mesh; ///< that the program's ranks stand in; null where there is none
  Reasons &reasons;
};

/// The mesh in which a rank stands; null where there is none.
const plan::Mesh *findMeshOf(const program::Executable &executable, int64_t rank);

/// Coordinates along axes: how many there are; 0 where the mesh lacks one of the axes, or is not
/// the program's. An empty name stands for the program's.
int64_t countCoordinates(const ProgramContext &context, const std::string &mesh,
                         const google::protobuf::RepeatedPtrField<plan::AxisRef> &axes);

/// The least and greatest value over all coordinates; false where an axis is unknown or a number
/// overflows.
bool getExtremes(const ProgramContext &context, const program::Affine &affine, int64_t &least,
                 int64_t &greatest);

/// Well-formed, and inside its arena on every rank.
void checkOperand(ProgramContext &context, const program::Operand &operand, const char *role);

/// Shapes, element types, groups and names of one instruction; its operands are checked too.
void checkInstruction(ProgramContext &context, const program::Instruction &instruction);

/// Operands in the order of their fields.
struct Accesses {
  std::vector<const program::Operand *> reads, writes;
};
Accesses getAccesses(const program::Instruction &instruction);

/// What each read finds, on one rank. Operands must have passed checkOperand.
void checkLifetimes(ProgramContext &context, int64_t rank);

/// Every message that is sent is received, by the rank that it is sent to, with the same tag, of
/// the same value and size, and ranks that wait for one another's messages come to an end.
void checkMessages(const program::Executable &executable, Reasons &reasons);

/// Whether programs that meet in collectives do so in the same order with the same sizes.
void checkRendezvous(const program::Executable &executable, Reasons &reasons);

/// "forward[12] (h.0.mlp)".
std::string describePlace(const program::Segment &segment, int index);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_CHECKS_H

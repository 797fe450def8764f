//===- Schedule.h - in which order instructions are begun -------*- C++ -*-===//
//
// List scheduling of one segment: communication begins as soon as its operands are there, copies
// from the host a little before what they are fetched for, and what needs their results is put off
// while there is other work, as long as memory allows it. A clock for computation and one for each
// lane of what runs beside it (InstructionClock.h) tell what that hides, and which of a few ways to
// choose communication is the fastest.
//
//   0: gemm x, w → a              0: gemm x, w → a
//   1: all_reduce a → b           1: all_reduce a → b, begun
//   2: launch b → c        →      3: gemm x, v → d
//   3: gemm x, v → d                 1 waited for
//   4: launch c, d → e            2: launch b → c
//                                 4: launch c, d → e
//
// Collectives may overtake one another, where all ranks begin them alike: they run one program.
// Results are the same bit for bit in any order that respects Dependences.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_SCHEDULE_H
#define WEFT_COMPILER_LOWERING_SCHEDULE_H

#include "compiler/Lowering/InstructionClock.h"

#include <vector>

namespace weft {

/// One instruction in its new place.
struct ScheduledInstruction {
  unsigned number;                      ///< in the old order
  bool async = false;                   ///< begun here, waited for later
  llvm::SmallVector<unsigned, 2> waits; ///< asynchronous ones that are waited for before this one
};

struct SegmentSchedule {
  std::vector<ScheduledInstruction> order;
  llvm::SmallVector<unsigned, 4> waitsAtEnd;
  double seconds = 0;         ///< on the clock
  double secondsOneByOne = 0; ///< of the old order, each instruction done before the next
};

/// Schedules the instructions of a segment. Of `ownBuffers`, those that no other segment names,
/// there are at no time more bytes, by kind of arena, than at most in the old order: what is begun
/// early finds room beside all that stands before it, and what has no room waits for collectives.
/// What collectives gave and nothing uses yet is held to little. Messages begin as soon as they
/// can, in their order, which no collective overtakes. Another program may send one only once it
/// has what stands before the first use of it here: so only the oldest instruction waits for one.
SegmentSchedule scheduleSegment(llvm::ArrayRef<exec::InstructionOpInterface> instructions,
                                llvm::ArrayRef<exec::BufferOp> ownBuffers, InstructionClock &clock);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_SCHEDULE_H

//===- Schedule.h - in which order instructions are begun -------*- C++ -*-===//
//
// List scheduling of one segment: communication begins as soon as its operands are there, and what
// needs its result is put off while there is other work, as long as memory allows it. A clock for
// computation and one for communication, moved by the target's estimates, tell what that hides.
//
//   0: gemm x, w → a              0: gemm x, w → a
//   1: all_reduce a → b           1: all_reduce a → b, begun
//   2: launch b → c        →      3: gemm x, v → d
//   3: gemm x, v → d                 1 waited for
//   4: launch c, d → e            2: launch b → c
//                                 4: launch c, d → e
//
// Communication keeps the order in which it stands: all ranks begin it alike. Results are the same
// bit for bit in any order that respects Dependences.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_SCHEDULE_H
#define WEFT_COMPILER_LOWERING_SCHEDULE_H

#include "compiler/Kernel/Target.h"
#include "dialects/Exec/IR/ExecDialect.h"
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
  double seconds = 0;         ///< by the target's estimates
  double secondsOneByOne = 0; ///< of the old order, each instruction done before the next
};

/// Schedules the instructions of a segment. Of `ownBuffers`, those that no other segment names,
/// there are at no time more bytes, by kind of arena, than at most in the old order: what is begun
/// early finds room beside all that stands before it, and what has no room waits for collectives.
/// Messages begin as soon as they can, and beside them computation keeps its order: what it waits
/// for may come of what is sent behind it here.
SegmentSchedule scheduleSegment(llvm::ArrayRef<exec::InstructionOpInterface> instructions,
                                llvm::ArrayRef<exec::BufferOp> ownBuffers, const Target &target);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_SCHEDULE_H

//===- Lifetimes.h - when the buffers of a program are in use ---*- C++ -*-===//
//
// Time is counted in instructions, the segments one after another in the order in which the
// schedule first names them. A buffer is kept
//
//   live uses   from the first to the last instruction that names it
//   live end    from the first one to the end
//   live step   all the time
//
// What an asynchronous instruction names is in use until it is waited for.
//
// A value that a segment reads without having written it must be there when the segment begins:
// it is kept over the whole of every segment that may be executed between its first use and the
// last such reading.
//
//   init: write %a       executed once
//   loop: read %a, …     repeated: %a is kept to the loop's end, not to its last reading there
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_LIFETIMES_H
#define WEFT_COMPILER_LOWERING_LIFETIMES_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace weft {

/// A buffer, and the instructions from and to which it is kept; -1 where nothing needs it.
struct BufferUse {
  exec::BufferOp buffer;
  int64_t first = -1, last = -1;
};

class Lifetimes {
public:
  /// Of a program over buffers that verifies.
  explicit Lifetimes(exec::ProgramOp program);

  std::vector<exec::InstructionOpInterface> instructions; ///< by time
  std::vector<BufferUse> buffers;                         ///< in the program's order

  /// The place in `buffers` of a buffer's number, which is an operand's value.
  unsigned getIndex(int64_t number) const { return index.lookup(number); }

private:
  struct Segment {
    int64_t begin = 0, end = 0; ///< times
    /// Buffers that the segment names → whether it reads them before it writes them.
    llvm::DenseMap<unsigned, bool> exposed;
  };

  void addSegments(exec::ProgramOp program);
  void addSegment(exec::SegmentOp op);
  void touch(Segment &segment, exec::OperandAttr operand, bool reads);
  void keepBetweenExecutions();
  void applyKept();

  llvm::DenseMap<int64_t, unsigned> index;
  llvm::DenseMap<int64_t, exec::InstructionOpInterface> asynchronous; ///< by token
  std::vector<Segment> segments;
  std::vector<unsigned> executions; ///< of segments, in the order of the schedule
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_LIFETIMES_H

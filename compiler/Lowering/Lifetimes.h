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
// it is kept from where another segment left it, over the whole of all that are executed in
// between. Of an arena with several frames that is so of each frame by itself.
//
// Segments that go through frames of their own have arenas of their own for them.
//
//   init: write %a       executed once
//   loop: read %a, …     repeated: %a is kept to the loop's end, not to its last reading there
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_LIFETIMES_H
#define WEFT_COMPILER_LOWERING_LIFETIMES_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <set>
#include <vector>

namespace weft {

/// A buffer, and the instructions from and to which it is kept; -1 where nothing needs it.
struct BufferUse {
  exec::BufferOp buffer;
  int64_t first = -1, last = -1;
  int64_t begin = 0; ///< the first of the frames in which it lies
};

class Lifetimes {
public:
  /// Of a program over buffers that verifies.
  explicit Lifetimes(exec::ProgramOp program);

  std::vector<exec::InstructionOpInterface> instructions; ///< by time
  std::vector<BufferUse> buffers;                         ///< in the program's order

  /// The arenas of a kind: the first of its frames, and what is behind the last.
  llvm::ArrayRef<std::pair<int64_t, int64_t>> getArenas(exec::ArenaKind kind) const {
    return arenas[static_cast<unsigned>(kind)];
  }

  /// The place in `buffers` of a buffer's number, which is an operand's value.
  unsigned getIndex(int64_t number) const { return index.lookup(number); }

private:
  /// What a segment does to a buffer.
  struct Touch {
    bool exposed = false; ///< it reads it before it writes it
    int64_t first = 0, last = 0;
  };
  struct Segment {
    int64_t begin = 0, end = 0;              ///< times
    llvm::DenseMap<unsigned, Touch> touched; ///< by buffer
    llvm::DenseSet<unsigned> before, behind; ///< buffers whose values are there
  };
  /// Which segments may follow which, in one frame of an arena.
  using Successors = std::set<std::pair<unsigned, unsigned>>;

  void addSegments(exec::ProgramOp program);
  void addSegment(exec::SegmentOp op);
  void touch(Segment &segment, exec::OperandAttr operand, bool reads);
  Successors findSuccessors(exec::ProgramOp program, exec::ArenaKind kind) const;
  void spreadValues(const Successors &successors, exec::ArenaKind kind);
  void findArenas(exec::ProgramOp program, exec::ArenaKind kind);
  void setUses();
  void applyKept();

  llvm::SmallVector<std::pair<int64_t, int64_t>, 1> arenas[exec::getMaxEnumValForArenaKind() + 1];
  llvm::DenseMap<int64_t, unsigned> index;
  llvm::DenseMap<int64_t, exec::InstructionOpInterface> asynchronous; ///< by token
  std::vector<Segment> segments;
  llvm::DenseMap<mlir::StringAttr, unsigned> numbers; ///< of segments
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_LIFETIMES_H

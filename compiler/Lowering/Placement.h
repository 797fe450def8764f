//===- Placement.h - where buffers lie in their arenas ----------*- C++ -*-===//
//
// From a program over buffers to offsets: buffers that are kept at the same time (Lifetimes.h) lie
// apart. A buffer that an instruction may write in the place of what it reads takes that place,
// where the other ends there.
//
// Worked example (test/passes/Lowering/place-buffers.mlir), buffers of 16 bytes, aligned to 64:
//
//   fill → 1                    1 at 0
//   all_reduce 1 → 2            2 in the place of 1, which ends here: at 0
//   all_reduce 2 → 3            3 at 64: 2 is read once more
//   launch 2, 3
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_PLACEMENT_H
#define WEFT_COMPILER_LOWERING_PLACEMENT_H

#include "compiler/Lowering/Arena.h"
#include "compiler/Lowering/Lifetimes.h"

namespace weft {

class Placement {
public:
  /// Places the buffers of a program that verifies.
  explicit Placement(exec::ProgramOp program);

  struct Arena {
    int64_t bytes = 0;
    int64_t alignment = 1;
    int64_t begin = 0, frames = 1; ///< of those of its kind
  };
  /// The arenas of a kind; none where no buffer is of that kind.
  llvm::ArrayRef<Arena> getArenas(exec::ArenaKind kind) const {
    return arenas[static_cast<unsigned>(kind)];
  }

  /// The operand in its arena.
  exec::OperandAttr place(exec::OperandAttr operand) const;

private:
  struct Place {
    unsigned root;      ///< the buffer whose place this one takes; itself if none
    bool toEnd;         ///< of roots: one of those in this place is kept to the end
    int64_t offset = 0; ///< bytes in the arena, of roots
  };

  unsigned findRoot(unsigned buffer) const;
  std::vector<int64_t> getEnds() const;
  void shareInPlace();
  /// The buffers of an arena that have places of their own, and when they live.
  struct Members {
    std::vector<unsigned> buffers;
    std::vector<BufferLifetime> lifetimes;
  };
  Members listMembers(exec::ArenaKind kind, Arena &arena);
  void placeKind(exec::ArenaKind kind);

  Lifetimes lifetimes;
  std::vector<Place> places; ///< by buffer
  llvm::SmallVector<Arena, 1> arenas[exec::getMaxEnumValForArenaKind() + 1];
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_PLACEMENT_H

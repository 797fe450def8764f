//===- ScheduleMemory.h - what an order of instructions holds ---*- C++ -*-===//
//
// Memory as scheduling sees it (Schedule.h): the bytes that are live at the instruction that is
// begun next, and the room that the old order leaves for what is begun before its turn.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_SCHEDULEMEMORY_H
#define WEFT_COMPILER_LOWERING_SCHEDULEMEMORY_H

#include "compiler/Support/SlackTree.h"
#include "dialects/Exec/IR/ExecDialect.h"

#include <array>
#include <vector>

namespace weft {

/// B by exec::ArenaKind.
using ArenaBytes = std::array<int64_t, exec::getMaxEnumValForArenaKind() + 1>;

/// The bytes of buffers that are live while instructions are begun and ended.
class LiveBytes {
public:
  LiveBytes(llvm::ArrayRef<exec::InstructionOpInterface> instructions,
            llvm::ArrayRef<exec::BufferOp> ownBuffers);

  /// Bytes that the instruction adds where it begins now.
  ArenaBytes getNeed(unsigned number);
  /// Those of them that are there until something else ends.
  ArenaBytes getLasting(unsigned number);

  void begin(unsigned number);
  void end(unsigned number);

  const ArenaBytes &get() const { return live; }

private:
  struct Buffer {
    int64_t bytes = 0;
    unsigned kind = 0;
    bool kept = false; ///< after its last use
    int64_t uses = 0;  ///< by instructions that have not ended
    bool begun = false;
  };

  void forEach(exec::InstructionOpInterface op, llvm::function_ref<void(Buffer &)> visit);
  Buffer *findTakenOver(unsigned number);

  llvm::ArrayRef<exec::InstructionOpInterface> instructions;
  llvm::DenseMap<int64_t, Buffer> buffers;
  ArenaBytes live{};
};

/// What is left, at each place of the old order, of the most bytes that are live in it, while
/// instructions that stand behind that place are begun before.
class Room {
public:
  Room(llvm::ArrayRef<exec::InstructionOpInterface> instructions,
       llvm::ArrayRef<exec::BufferOp> ownBuffers);

  /// Whether so many bytes more have room from one place up to another.
  bool has(const ArenaBytes &bytes, unsigned begin, unsigned end) const;
  void take(const ArenaBytes &bytes, unsigned begin, unsigned end);

  /// Live at any place of the old order.
  const ArenaBytes &getMost() const { return most; }

private:
  ArenaBytes most{};
  std::vector<SlackTree> slack; ///< by kind
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_SCHEDULEMEMORY_H

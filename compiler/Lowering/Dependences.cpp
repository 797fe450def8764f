#include "compiler/Lowering/Dependences.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft;

Dependences::Dependences(ArrayRef<exec::InstructionOpInterface> instructions)
    : before(instructions.size()), after(instructions.size()) {
  struct Accesses {
    int64_t writer = -1;              ///< the last one
    SmallVector<unsigned, 4> readers; ///< since then
  };
  llvm::DenseMap<int64_t, Accesses> buffers;
  for (unsigned number = 0; number < instructions.size(); ++number) {
    exec::InstructionOpInterface op = instructions[number];
    SmallVector<unsigned, 4> &mine = before[number];
    for (exec::OperandAttr read : op.getReads()) {
      Accesses &accesses = buffers[read.getValue()];
      if (accesses.writer >= 0)
        mine.push_back(accesses.writer);
      accesses.readers.push_back(number);
    }
    for (exec::OperandAttr write : op.getWrites()) {
      Accesses &accesses = buffers[write.getValue()];
      if (accesses.writer >= 0)
        mine.push_back(accesses.writer);
      llvm::append_range(mine, accesses.readers);
      accesses.readers.clear();
      accesses.writer = number;
    }
    llvm::sort(mine);
    mine.erase(llvm::unique(mine), mine.end());
    llvm::erase(mine, number); // it reads what it writes
    for (unsigned other : mine)
      after[other].push_back(number);
  }
}

//===- Shorten.h - a model with fewer of its layers -------------*- C++ -*-===//
//
// A deep model is a few distinct blocks repeated (Blocks.h). What is to be learnt of it by trying
// many things may be learnt of one with fewer repetitions: what is behind the blocks that are left
// out takes what the block before them hands on.
//
//   embedding, layer 0 … layer 79, head   with 3 of 80:   embedding, layers 0, 1, 79, head
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_GRAPH_SHORTEN_H
#define WEFT_COMPILER_GRAPH_SHORTEN_H

#include "compiler/Graph/Blocks.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"

namespace weft {

/// Blocks of one kind, one behind another.
struct BlockRun {
  uint32_t first = 0, count = 0;
};

class Shortener {
public:
  /// Finds the runs of at least `least` blocks in @main of a module, which must outlive this.
  Shortener(mlir::ModuleOp module, uint32_t least);

  const std::vector<BlockRun> &getRuns() const { return runs; }

  /// A copy of the module whose run number i has lengths[i] blocks, from 1 to as many as it has:
  /// the first half and the last of them. Weights that only the others read are gone. Null where
  /// something but the next block uses what a block that is left out makes.
  mlir::OwningOpRef<mlir::ModuleOp> shorten(llvm::ArrayRef<uint32_t> lengths) const;

private:
  mlir::ModuleOp module;
  ModelBlocks blocks;
  std::vector<BlockRun> runs;
};

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_SHORTEN_H

//===- BlockRanges.h - some blocks of a model by themselves ------*- C++ -*-===//
//
// Blocks that follow each other (Blocks.h) as a model of their own: what they take of blocks before
// them, and of inputs, are arguments, what blocks behind them or whoever calls the model take of
// them are results. What depends on no input, a transposed weight or a constant, is made anew.
//
//   embedding, layer 0, layer 1, head      [1, 3):  @main(%stream, %mask) { layer 0, layer 1 }
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_GRAPH_BLOCKRANGES_H
#define WEFT_COMPILER_GRAPH_BLOCKRANGES_H

#include "compiler/Graph/Blocks.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// A range of blocks as @main of a module that has the weights it loads.
struct ExtractedRange {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// By argument and by result, what that is in the whole model.
  std::vector<mlir::Value> arguments, results;
};

class BlockRanges {
public:
  /// Of a function with a body of one block, which must outlive this and stay as it is.
  explicit BlockRanges(mlir::func::FuncOp main);

  size_t size() const { return model.blocks.size(); }
  const ModelBlocks &getBlocks() const { return model; }

  /// A number that ranges [begin, end) have in common whose functions are equal but for names and
  /// the values of weights. Time: linear in the range.
  uint64_t classify(size_t begin, size_t end) const;
  ExtractedRange extract(size_t begin, size_t end) const;

private:
  std::vector<mlir::Operation *> list(size_t begin, size_t end) const;
  bool isHandedOn(mlir::Value value, const llvm::DenseSet<mlir::Operation *> &inside) const;

  mlir::func::FuncOp main;
  ModelBlocks model;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseSet<mlir::Operation *> varying; ///< operations that depend on inputs

  friend class RangeCloner;
  friend class RangeHasher;
};

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_BLOCKRANGES_H

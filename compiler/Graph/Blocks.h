//===- Blocks.h - the blocks of a model -------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_GRAPH_BLOCKS_H
#define WEFT_COMPILER_GRAPH_BLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A part of a model that a person would name: a layer, an embedding, a head.
struct ModelBlock {
  /// In order, without loads and constants. What a layer alone uses is the layer's; what several
  /// blocks use belongs to the block before them that is no repetition.
  std::vector<mlir::Operation *> operations;
  mlir::Operation *last = nullptr; ///< that hands on what the block makes; null of an empty model
  std::string name;                ///< of its result in the source
  uint32_t kind = 0; ///< blocks of equal structure have the same, numbered by first appearance
  /// Weights of floats. Each counts at the block that reads it first, whatever gradients and
  /// updates follow; one that layers share, at the block before them that is no repetition.
  std::vector<llvm::StringRef> weights;
  int64_t parameters = 0; ///< elements of `weights`
  int64_t flops = 0;
};

struct ModelBlocks {
  std::vector<ModelBlock> blocks;
  /// B behind each block but the last: what later blocks use of what was computed so far. Inputs,
  /// weights, and what follows from weights alone are not among it.
  std::vector<int64_t> liveBytes;
};

/// The blocks of a function, found from its structure alone (BlockBounds.h); no weight is read.
ModelBlocks findBlocks(mlir::func::FuncOp function);

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_BLOCKS_H

//===- WeightBlocks.h - which blocks of weights a rank holds ----*- C++ -*-===//
//
// Every load of a weight reads a strided block of its file. Loads of the same elements share one
// block in the weights arena, whatever their order of dimensions: a tied embedding, read by a
// lookup as [vocabulary, width] and by a product as [width, vocabulary], lies there once.
//
// A block lies in the order of the file, so that it is read in long runs, unless a reader needs
// row-major order (kernels, convolutions, collectives). Products take any strides.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_WEIGHTBLOCKS_H
#define WEFT_COMPILER_LOWERING_WEIGHTBLOCKS_H

#include "compiler/Lowering/SegmentBuilder.h"
#include <map>

namespace weft {

/// What a load reads: element start + Σ index·strides of the weight, for indices within `shape`.
struct WeightRead {
  mlir::FlatSymbolRefAttr weight;
  exec::AffineAttr start;
  mlir::Type dtype;
  Extents shape;
  Extents strides;
  bool rowMajor = false; ///< the reader needs row-major order
  /// Of padded blocks what is the weight's (exec.weight_block); else null.
  mlir::ArrayAttr valid;
};

class WeightBlocks {
public:
  explicit WeightBlocks(SegmentBuilder &segment) : segment(segment) {}

  /// The view of the block that holds these elements, made where there is none. Blocks are shared
  /// best when reads that need row-major order come first.
  View get(const WeightRead &read);

  /// Creates one exec.weight_block per block at the builder's place.
  void emit(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  /// Loops are those of the block, outermost first; strides are in the file and in the arena.
  struct Block {
    mlir::FlatSymbolRefAttr weight;
    exec::AffineAttr start;
    llvm::SmallVector<LoopDim> loops;
    View local;
    mlir::ArrayAttr valid; ///< one a loop; null where nothing is padded
  };
  enum Place : unsigned { InFile, InArena };

  static std::optional<View> findView(const Block &block, const WeightRead &read);
  static void addValid(Block &block, const WeightRead &read);
  Block makeBlock(const WeightRead &read);

  SegmentBuilder &segment;
  std::vector<Block> blocks;
  /// Weight, start, and the set of elements (merged loops) → blocks that hold it.
  std::map<std::tuple<const void *, const void *, std::vector<int64_t>>, std::vector<unsigned>>
      index;
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_WEIGHTBLOCKS_H

//===- ChannelPaths.h - what parts hand to one another ----------*- C++ -*-===//
//
// Partitioning a model in parts: before the parts are partitioned, says in which shardings each
// channel leaves the one and arrives at the other (Transfer.h); behind it, gives @main the parts'
// local types and a dist.transfer for each channel between unlike meshes. Parts on one mesh hand
// values over as they lie, or what of their block the reader wants.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PARTITION_CHANNELPATHS_H
#define WEFT_PASSES_PARTITION_CHANNELPATHS_H

#include "compiler/Sharding/Axes.h"
#include "compiler/Sharding/Parts.h"

namespace weft {

class ChannelPaths {
public:
  explicit ChannelPaths(Parts &parts) : parts(parts) {}

  /// Annotates the result and the argument of every channel.
  void annotate();
  /// Gives @main its new body, once the parts are partitioned.
  void rewriteMain();

private:
  void annotate(const Channel &channel);
  void annotateInputs();
  /// What is passed to an argument of a part: an argument of @main, or a channel's value.
  mlir::Value getOperand(mlir::OpBuilder &builder, mlir::Block &body, unsigned part,
                         unsigned argument);

  Parts &parts;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> incoming; ///< (part, argument) → channel
  llvm::SmallVector<mlir::Location> places;                         ///< of channels: their values
  llvm::SmallVector<mlir::func::CallOp> calls;                      ///< the new ones
  llvm::SmallVector<mlir::DictionaryAttr> attributes;               ///< of @main's new arguments
};

} // namespace weft

#endif // WEFT_PASSES_PARTITION_CHANNELPATHS_H

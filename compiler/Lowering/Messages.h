//===- Messages.h - the two sides of a transfer -----------------*- C++ -*-===//
//
// A dist.transfer becomes a send in the program of the one mesh and a receive in that of the other.
// The digits in which both shardings are read (Sharding/Transfer.h) say for each rank of one side
// who its peers are: digits of both sides give a position that is affine in the rank's coordinates,
// digits of the other side alone a grid of peers from there on, each with a piece of the block.
//
//   {data=2} → {model=4}, split alike:   send     peer 2·data, steps [1], [2, n/4] of n/2
//                                        receive  peer major half of model, steps []
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_MESSAGES_H
#define WEFT_COMPILER_LOWERING_MESSAGES_H

#include "compiler/Lowering/SegmentBuilder.h"
#include "dialects/Dist/IR/DistDialect.h"

namespace weft {

/// One side of a transfer, for all ranks of its mesh.
struct MessageSide {
  mlir::FlatSymbolRefAttr mesh; ///< the other side's
  exec::AffineAttr peer;        ///< a position there
  mlir::SmallVector<int64_t, 2> steps;
  mlir::ArrayAttr leaders; ///< of exec::AxisAttr, of the source's side
  Extents shape;           ///< a rank's block as [peers…, piece…]
  /// By peers' dimension the dimension of the block that its pieces divide; none: all get the same.
  mlir::SmallVector<std::optional<unsigned>, 2> dividedDims;

  int64_t getNumPeers() const;
};

/// The sides of a transfer: the source's, the target's. Fails with a diagnostic where the shardings
/// do not pair.
mlir::FailureOr<std::pair<MessageSide, MessageSide>> getMessageSides(dist::TransferOp op);

/// Sends a rank's block; `until` as in exec.send, null where it may be waited for at once.
void addSend(SegmentBuilder &segment, mlir::Location loc, const View &block,
             const MessageSide &side, int64_t tag, mlir::FlatSymbolRefAttr until);
/// Receives a rank's block; the view is in row-major order.
View addReceive(SegmentBuilder &segment, mlir::Location loc, mlir::RankedTensorType block,
                const MessageSide &side, int64_t tag);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_MESSAGES_H

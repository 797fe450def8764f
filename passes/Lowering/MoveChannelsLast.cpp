//===- MoveChannelsLast.cpp - images as convolutions read them best -------===//

#include "compiler/Kernel/Target.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Lowering/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace weft {
#define GEN_PASS_DEF_MOVECHANNELSLAST
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Where each dimension of [n, s…, c] comes from in [n, c, s…].
static SmallVector<int64_t> getLastOrder(int64_t rank) {
  SmallVector<int64_t> order{0};
  llvm::append_range(order, llvm::seq<int64_t>(2, rank));
  order.push_back(1);
  return order;
}

/// And back.
static SmallVector<int64_t> getFirstOrder(int64_t rank) {
  SmallVector<int64_t> order{0, rank - 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
  return order;
}

/// Where dimension `dim` of [n, c, s…] goes.
static int64_t moveDim(int64_t dim, int64_t rank) {
  return dim == 0 ? 0 : dim == 1 ? rank - 1 : dim - 1;
}

/// What describes [n, c, s…] by dimension, for [n, s…, c].
static SmallVector<int64_t> moveList(ArrayRef<int64_t> list) {
  return llvm::map_to_vector(getLastOrder(list.size()), [&](int64_t dim) { return list[dim]; });
}

static RankedTensorType moveType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(moveList(tensor.getShape()));
}

namespace {

/// Makes again, on images whose channels are last, what is computed of the results of convolutions.
class ChannelMover {
public:
  explicit ChannelMover(Block &block) : block(block), builder(block.getParentOp()->getContext()) {}

  void run();

private:
  bool isMoved(Value value) const { return moved.contains(value); }
  bool canMove(Value value) const;
  Value getMoved(Value value);
  Value moveBroadcast(BroadcastOp op);
  void replace(Operation *op, Value last);
  void moveConv(ConvOp op);
  void moveElementwise(Operation *op);
  void moveWindows(ReduceWindowOp op);
  void moveReduction(ReduceOp op);
  void moveConcat(ConcatOp op);
  template <typename Op> void moveExchange(Op op, llvm::function_ref<void(Op)> moveDims);

  Block &block;
  OpBuilder builder; ///< before the operation at hand
  llvm::DenseMap<Value, Value> moved;
};

} // namespace

/// Whether the value with its channels last costs no copy.
bool ChannelMover::canMove(Value value) const {
  return isMoved(value) || value.getDefiningOp<BroadcastOp>() || splatNumber(value);
}

Value ChannelMover::moveBroadcast(BroadcastOp op) {
  int64_t rank = rankOf(op.getResult());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, op.getDims().size()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return moveDim(op.getDims()[a], rank) < moveDim(op.getDims()[b], rank);
  });
  Value input = op.getInput();
  if (!llvm::is_sorted(order))
    input = TransposeOp::create(builder, op.getLoc(), input, order);
  auto dims =
      llvm::map_to_vector(order, [&](int64_t index) { return moveDim(op.getDims()[index], rank); });
  return BroadcastOp::create(builder, op.getLoc(), moveType(op.getType()), input, dims);
}

/// The value with its channels last.
Value ChannelMover::getMoved(Value value) {
  if (Value known = moved.lookup(value))
    return known;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return moveBroadcast(broadcast);
  return TransposeOp::create(builder, value.getLoc(), value, getLastOrder(rankOf(value)));
}

/// Replaces an operation by what computes the same with channels last.
void ChannelMover::replace(Operation *op, Value last) {
  Value first = TransposeOp::create(builder, op->getLoc(), last, getFirstOrder(rankOf(last)));
  moved[first] = last;
  op->getResult(0).replaceAllUsesWith(first);
  op->erase();
}

void ChannelMover::moveConv(ConvOp op) {
  int64_t rank = rankOf(op.getInput());
  Value input = getMoved(op.getInput());
  op.getInputMutable().assign(
      TransposeOp::create(builder, op.getLoc(), input, getFirstOrder(rank)));
  builder.setInsertionPointAfter(op);
  auto last = TransposeOp::create(builder, op.getLoc(), op.getResult(), getLastOrder(rank));
  Value first = TransposeOp::create(builder, op.getLoc(), last, getFirstOrder(rank));
  op.getResult().replaceAllUsesExcept(first, last);
  moved[first] = last;
}

void ChannelMover::moveElementwise(Operation *op) {
  if (llvm::none_of(op->getOperands(), [&](Value value) { return isMoved(value); }) ||
      !llvm::all_of(op->getOperands(), [&](Value value) { return canMove(value); }))
    return;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getMoved(operand));
  Operation *last = builder.clone(*op, mapping);
  last->getResult(0).setType(moveType(op->getResult(0).getType()));
  replace(op, last->getResult(0));
}

void ChannelMover::moveWindows(ReduceWindowOp op) {
  if (!isMoved(op.getInput()))
    return;
  DenseI64ArrayAttr dilations = op.getInputDilationsAttr();
  if (dilations)
    dilations = builder.getDenseI64ArrayAttr(moveList(dilations));
  replace(op, ReduceWindowOp::create(builder, op.getLoc(), moveType(op.getType()), op.getKind(),
                                     getMoved(op.getInput()), moveList(op.getWindow()),
                                     moveList(op.getStrides()), moveList(op.getDilations()),
                                     moveList(op.getLow()), moveList(op.getHigh()), dilations));
}

/// Where the dimensions that stay are in one order either way: those of a mean of images.
void ChannelMover::moveReduction(ReduceOp op) {
  int64_t rank = rankOf(op.getInput());
  SmallVector<int64_t> dims, kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    (llvm::is_contained(op.getDims(), dim) ? dims : kept).push_back(moveDim(dim, rank));
  if (!isMoved(op.getInput()) || !llvm::is_sorted(kept))
    return;
  llvm::sort(dims);
  Value result =
      ReduceOp::create(builder, op.getLoc(), op.getKind(), getMoved(op.getInput()), dims);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

void ChannelMover::moveConcat(ConcatOp op) {
  if (!llvm::all_of(op.getInputs(), [&](Value value) { return isMoved(value); }))
    return;
  auto inputs = llvm::map_to_vector(op.getInputs(), [&](Value value) { return getMoved(value); });
  replace(op, ConcatOp::create(builder, op.getLoc(), moveType(op.getType()), inputs,
                               moveDim(op.getAxis(), rankOf(op.getResult()))));
}

/// What ranks exchange, or a rank takes or masks of its own: `moveDims` says along which
/// dimensions.
template <typename Op>
void ChannelMover::moveExchange(Op op, llvm::function_ref<void(Op)> moveDims) {
  if (!isMoved(op.getInput()))
    return;
  IRMapping mapping;
  mapping.map(op.getInput(), getMoved(op.getInput()));
  auto last = cast<Op>(builder.clone(*op, mapping));
  last.getResult().setType(moveType(op.getType()));
  moveDims(last);
  replace(op, last.getResult());
}

void ChannelMover::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    builder.setInsertionPoint(&op);
    if (isa<ElementwiseOpInterface>(op) && op.getNumResults() == 1)
      moveElementwise(&op);
    else
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](ConvOp conv) { moveConv(conv); })
          .Case([&](ReduceWindowOp windows) { moveWindows(windows); })
          .Case([&](ReduceOp reduce) { moveReduction(reduce); })
          .Case([&](ConcatOp concat) { moveConcat(concat); })
          .Case<dist::AllReduceOp, dist::PermuteOp>(
              [&](auto whole) { moveExchange<decltype(whole)>(whole, [](auto) {}); })
          .Case<dist::AllGatherOp, dist::ReduceScatterOp, dist::SliceOp, dist::MaskPaddingOp>(
              [&](auto along) {
                moveExchange<decltype(along)>(along, [](auto last) {
                  last.setDim(moveDim(last.getDim(), rankOf(last.getResult())));
                });
              })
          .Case([&](dist::AllToAllOp exchange) {
            moveExchange<dist::AllToAllOp>(exchange, [](dist::AllToAllOp last) {
              int64_t rank = rankOf(last.getResult());
              last.setSplitDim(moveDim(last.getSplitDim(), rank));
              last.setConcatDim(moveDim(last.getConcatDim(), rank));
            });
          });
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<TransposeOp>(op) && op.use_empty())
      op.erase();
}

namespace {
struct MoveChannelsLast : weft::impl::MoveChannelsLastBase<MoveChannelsLast> {
  using MoveChannelsLastBase::MoveChannelsLastBase;

  void runOnOperation() override {
    const Target *chosen = findTarget(target, getOperation());
    if (!chosen)
      return signalPassFailure();
    bool hasConvolutions = false, isWanted = true;
    getOperation().walk([&](Operation *op) {
      hasConvolutions |= isa<ConvOp>(op);
      isWanted &= !needsLibrary(op) || chosen->wantsChannelsLast(op);
    });
    if (hasConvolutions && isWanted)
      ChannelMover(getOperation().getBody().front()).run();
  }
};
} // namespace

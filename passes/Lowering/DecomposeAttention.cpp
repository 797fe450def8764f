//===- DecomposeAttention.cpp - attention as products and a softmax -------===//

#include "compiler/Kernel/Target.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Lowering/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// So many parts are enough: more of them would hold less, but programs grow with them.
static constexpr int64_t mostParts = 8;

namespace {

/// Computes an attention, or its gradients, for some key heads after the other, where the scores of
/// all would be more than `limit` bytes. Parts are whole batches, or key heads of one, so that each
/// is one block of the result's memory. Gradients make such scores again: those of the attention
/// itself, were they taken for the same, would all be held from one to the other.
class HeadSplitter {
public:
  HeadSplitter(Operation *op, int64_t limit) : op(op), builder(op->getLoc(), op), b(builder) {
    ArrayRef<int64_t> query = shapeOf(op->getOperand(0)), key = shapeOf(op->getOperand(1));
    batches = query[0];
    groups = key[1];
    int64_t scores = ShapedType::getNumElements(query.drop_back()) * key[2] *
                     std::max<int64_t>(elementOf(op->getOperand(0)).getIntOrFloatBitWidth() / 8, 4);
    int64_t parts =
        std::min<int64_t>({int64_t(llvm::divideCeil(scores, limit)), mostParts, batches * groups});
    if (scores == 0 || parts < 2)
      return;
    partBatches = std::max<int64_t>(batches / parts, 1);
    partGroups = batches >= parts ? groups : groups / llvm::divideCeil(parts, batches);
  }

  void run() {
    if (partBatches == 0)
      return;
    if (isa<AttentionBackwardOp>(op))
      op->setOperand(0, b.make<BarrierOp>(op->getOperand(0)));
    SmallVector<SmallVector<Value>> results(op->getNumResults());
    for (int64_t batch = 0; batch < batches; batch += partBatches)
      for (int64_t group = 0; group < groups; group += partGroups)
        for (auto [list, result] : llvm::zip_equal(results, makePart(batch, group)->getResults()))
          list.push_back(result);
    for (auto [result, parts] : llvm::zip_equal(op->getResults(), results))
      result.replaceAllUsesWith(join(parts, shapeOf(result)));
    op->erase();
  }

private:
  /// The part of `shape`, whose batches and heads may be broadcast, that belongs to some.
  SmallVector<int64_t> partOf(ArrayRef<int64_t> shape, int64_t batch, int64_t group,
                              SmallVectorImpl<int64_t> &starts) {
    SmallVector<int64_t> part(shape);
    starts.assign(shape.size(), 0);
    if (shape[0] == batches) {
      starts[0] = batch;
      part[0] = std::min(partBatches, batches - batch);
    }
    if (int64_t perGroup = shape[1] / groups) {
      starts[1] = group * perGroup;
      part[1] = std::min(partGroups, groups - group) * perGroup;
    }
    return part;
  }

  Operation *makePart(int64_t batch, int64_t group) {
    IRMapping mapping;
    SmallVector<int64_t> starts;
    for (Value operand : op->getOperands()) {
      ArrayRef<int64_t> shape = shapeOf(operand);
      SmallVector<int64_t> part = partOf(shape, batch, group, starts);
      if (part != shape && !mapping.contains(operand))
        mapping.map(operand, b.slice(operand, starts, part, SmallVector<int64_t>(part.size(), 1)));
    }
    Operation *made = builder.clone(*op, mapping);
    for (Value result : made->getResults())
      result.setType(
          RankedTensorType::get(partOf(shapeOf(result), batch, group, starts), elementOf(result)));
    return made;
  }

  /// Parts of one batch lie behind each other like batches do.
  Value join(MutableArrayRef<Value> parts, ArrayRef<int64_t> shape) {
    if (partGroups == groups)
      return b.make<ConcatOp>(ValueRange(parts), 0);
    for (Value &part : parts)
      part = b.reshape(part, shapeOf(part).drop_front());
    return b.reshape(b.make<ConcatOp>(ValueRange(parts), 0), shape);
  }

  Operation *op;
  ImplicitLocOpBuilder builder;
  TensorBuilder b;
  int64_t batches, groups;
  int64_t partBatches = 0, partGroups = 0; ///< 0: it is not split
};

struct DecomposeAttention : weft::impl::DecomposeAttentionBase<DecomposeAttention> {
  using DecomposeAttentionBase::DecomposeAttentionBase;

  void runOnOperation() override {
    const Target *chosen = findTarget(target, getOperation());
    if (!chosen)
      return signalPassFailure();
    auto isAttention = [&](Operation *op) {
      return isa<AttentionOp, AttentionBackwardOp>(op) && !chosen->callsLibrary(op);
    };
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isAttention(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      HeadSplitter(op, scoreBytes > 0 ? scoreBytes : chosen->getScoreBytes()).run();
    decomposeAll(getOperation(), isAttention);
  }
};

} // namespace

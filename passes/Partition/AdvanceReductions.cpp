#include "compiler/Kernel/Buckets.h"
#include "compiler/Sharding/Axes.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Sharding.h"
#include "passes/Partition/Passes.h"

namespace weft {
#define GEN_PASS_DEF_ADVANCEREDUCTIONS
#include "passes/Partition/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct AdvanceReductions : weft::impl::AdvanceReductionsBase<AdvanceReductions> {
  void runOnOperation() override;
};
} // namespace

/// Whether an operation joins what the devices of the batch's axes have, or microbatches, or leaves
/// each device less than its operand is, or makes the operand of one that does longer.
static bool isReduction(Operation *op) {
  if (isa<PadOp>(op))
    return op->hasOneUse() && isa<dist::ReduceScatterOp>(*op->user_begin());
  if (isa<dist::AccumulateOp, dist::ReduceScatterOp>(op))
    return true;
  auto reduce = dyn_cast<dist::AllReduceOp>(op);
  return reduce && llvm::any_of(dist::getAxisRefs(reduce.getAxes()),
                                [](dist::AxisRefAttr axis) { return isBatchAxis(axis.getName()); });
}

/// Moves an operation right behind another one. To splice it there, as moveAfter() does, drops the
/// order of the whole block, which is asked for again before the next one is moved.
static void moveBehind(Operation *op, Operation *other) {
  op->remove();
  other->getBlock()->getOperations().insertAfter(other->getIterator(), op);
}

/// Moves an operation right behind what makes its operands; with it arithmetic on them that nothing
/// else reads, where it does so much as that.
static void advance(Operation *op, bool withArithmetic) {
  Operation *last = nullptr; // of what makes its operands
  for (Value operand : op->getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (!maker)
      continue;
    if (withArithmetic && maker->hasTrait<OpTrait::Elementwise>() && maker->hasOneUse())
      advance(maker, withArithmetic);
    if (!last || last->isBeforeInBlock(maker))
      last = maker;
  }
  if (last)
    moveBehind(op, last);
}

void AdvanceReductions::runOnOperation() {
  for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
    bool gathers = isSmallGather(&op);
    if (gathers || isReduction(&op))
      advance(&op, /*withArithmetic=*/gathers);
  }
}

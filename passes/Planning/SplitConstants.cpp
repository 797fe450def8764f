#include "passes/Planning/Passes.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace weft {
#define GEN_PASS_DEF_SPLITCONSTANTS
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct SplitConstants : weft::impl::SplitConstantsBase<SplitConstants> {
  void runOnOperation() override;
};
} // namespace

/// Whether the operation reads a weight, or looks at a part of one.
static bool isWeightRead(Operation *op) {
  return op && (isa<LoadOp>(op) || (isa<ReshapeOp, SliceOp, TransposeOp>(op) &&
                                    isWeightRead(op->getOperand(0).getDefiningOp())));
}

static bool isScalar(Value value) { return cast<ShapedType>(value.getType()).getRank() == 0; }

/// Whether copies of the operation cost nothing and should not couple their users.
static bool isSource(Operation *op) {
  return op && (isa<ConstantOp, IotaOp>(op) || isWeightRead(op) ||
                (isa<BroadcastOp>(op) &&
                 (isScalar(op->getOperand(0)) || isSource(op->getOperand(0).getDefiningOp()))));
}

/// Leaves the first user with `op` and gives every other user a copy.
static void splitUses(Operation *op) {
  SmallPtrSet<Operation *, 4> seen;
  SmallVector<Operation *> others;
  for (Operation *user : op->getUsers())
    if (seen.insert(user).second && seen.size() > 1)
      others.push_back(user);
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  for (Operation *user : others)
    user->replaceUsesOfWith(op->getResult(0), builder.clone(*op)->getResult(0));
}

void SplitConstants::runOnOperation() {
  SmallVector<Operation *> sources;
  getOperation().walk([&](Operation *op) {
    if (isSource(op))
      sources.push_back(op);
  });
  // Users first, so that the copies of a broadcast ask for copies of its operand.
  for (Operation *op : llvm::reverse(sources))
    splitUses(op);
}

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_DROPSTOPGRADIENTS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct DropStopGradients : weft::impl::DropStopGradientsBase<DropStopGradients> {
  using DropStopGradientsBase::DropStopGradientsBase;
  void runOnOperation() override;

private:
  bool isConstant(Operation *op) const;

  llvm::DenseSet<StringRef> parameters;
  llvm::DenseSet<Operation *> dependent; ///< on parameters, as differentiation sees it
};
} // namespace

/// Whether no result of an operation, those before which are known, changes with a parameter.
bool DropStopGradients::isConstant(Operation *op) const {
  if (auto load = dyn_cast<LoadOp>(op))
    return !parameters.contains(load.getWeight());
  return llvm::none_of(op->getOperands(),
                       [&](Value operand) { return dependent.contains(operand.getDefiningOp()); });
}

/// A choice between a value and itself is that value, which takes the choice's name.
static void dropChoice(SelectOp select) {
  Operation *made = select.getOnTrue().getDefiningOp();
  if (select.getOnTrue() != select.getOnFalse() || !made)
    return;
  made->setLoc(select.getLoc());
  select.replaceAllUsesWith(select.getOnTrue());
  select.erase();
}

void DropStopGradients::runOnOperation() {
  llvm::SetVector<Operation *> choices; ///< that read what is dropped
  parameters.clear();
  dependent.clear();
  for (auto weight : getOperation().getOps<WeightOp>())
    if (weight.getKind() == WeightKind::Parameter || weight.getKind() == WeightKind::Trained)
      parameters.insert(weight.getSymName());
  getOperation().walk([&](Operation *op) {
    bool isHeld = isa<StopGradientOp>(op);
    if (isHeld && (all || isConstant(op))) {
      for (Operation *user : op->getUsers())
        if (isa<SelectOp>(user))
          choices.insert(user);
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    } else if (!isHeld && !isConstant(op)) {
      dependent.insert(op);
    }
  });
  for (Operation *choice : choices)
    dropChoice(cast<SelectOp>(choice));
}

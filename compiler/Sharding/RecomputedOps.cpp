#include "compiler/Sharding/RecomputedOps.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

static constexpr OperationEquivalence::Flags ignored =
    OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs;

RecomputedOps::RecomputedOps(Block &body, Operation *loss) {
  for (BlockArgument argument : body.getArguments())
    equal[argument] = argument;
  bool isForward = true;
  for (Operation &op : body) {
    if (isForward)
      addForward(&op);
    else if (op.getNumResults() > 0)
      addBackward(&op);
    isForward &= &op != loss;
  }
}

size_t RecomputedOps::hash(Operation *op) const {
  return OperationEquivalence::computeHash(
      op, [&](Value operand) { return hash_value(equal.lookup(operand)); },
      OperationEquivalence::ignoreHashValue, ignored);
}

/// Of several that make the same, as loads of one weight do, the first stands for all.
void RecomputedOps::addForward(Operation *op) {
  Operation *like = op->getNumResults() > 0 ? findEqual(op) : nullptr;
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    equal[result] = like ? equal.lookup(like->getResult(index)) : result;
  if (!like)
    forward[hash(op)].push_back(op);
}

Operation *RecomputedOps::findEqual(Operation *op) const {
  auto found = forward.find(hash(op));
  if (found == forward.end())
    return nullptr;
  auto isSame = [&](Value a, Value b) { return success(equal.lookup(a) == equal.lookup(b)); };
  auto like = llvm::find_if(found->second, [&](Operation *other) {
    return OperationEquivalence::isEquivalentTo(op, other, isSame, nullptr, ignored);
  });
  return like == found->second.end() ? nullptr : *like;
}

void RecomputedOps::addBackward(Operation *op) {
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return equal.contains(operand); }))
    return;
  bool isBarrier = isa<BarrierOp>(op);
  Operation *like = isBarrier ? nullptr : findEqual(op);
  if (!isBarrier && !like)
    return;
  again.insert(op);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    equal[result] = equal.lookup(isBarrier ? op->getOperand(index) : like->getResult(index));
}

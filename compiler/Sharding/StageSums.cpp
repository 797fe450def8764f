#include "compiler/Sharding/StageSums.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace weft;

static constexpr unsigned none = PartAssignment::none;

namespace {
class StageSums {
public:
  StageSums(Block &body, const llvm::DenseSet<Operation *> &forward, PartAssignment &result)
      : body(body), forward(forward), result(result) {}

  void run();

private:
  void sumByStage(AddOp root);
  void accumulateByStage(dist::AccumulateOp sum);
  bool joinsStages(ArrayRef<Value> leaves) const;
  SmallVector<Value> findLeaves(AddOp root) const;
  bool isInner(AddOp op) const;

  Block &body;
  const llvm::DenseSet<Operation *> &forward;
  PartAssignment &result;
};
} // namespace

/// Whether a sum is a term of another one alone.
bool StageSums::isInner(AddOp op) const {
  if (!op->hasOneUse() || forward.contains(op) || !result.parts.contains(op))
    return false;
  auto outer = dyn_cast<AddOp>(*op->user_begin());
  return outer && outer.getType() == op.getType() && !forward.contains(outer);
}

SmallVector<Value> StageSums::findLeaves(AddOp root) const {
  SmallVector<Value> leaves, stack{root.getResult()};
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    auto add = value.getDefiningOp<AddOp>();
    if (!add || (add != root && !isInner(add))) {
      leaves.push_back(value);
      continue;
    }
    llvm::append_range(stack, llvm::reverse(add->getOperands()));
  }
  return leaves;
}

bool StageSums::joinsStages(ArrayRef<Value> leaves) const {
  return llvm::any_of(leaves,
                      [&](Value leaf) { return result.get(leaf) != result.get(leaves.front()); });
}

/// Adds up what each stage has before it is handed on: a sum of one number of each weight is one
/// number of each stage.
void StageSums::sumByStage(AddOp root) {
  SmallVector<Value> leaves = findLeaves(root);
  if (leaves.size() < 3 || !joinsStages(leaves))
    return;
  OpBuilder builder(root);
  auto add = [&](Value left, Value right, unsigned stage) {
    auto sum = AddOp::create(builder, root.getLoc(), left, right);
    result.parts[sum] = stage;
    return sum.getResult();
  };
  std::map<unsigned, Value> sums; // by stage
  for (Value leaf : leaves) {
    unsigned stage = result.get(leaf);
    Value &sum = sums[stage == none ? result.get(root.getOperation()) : stage];
    sum = sum ? add(sum, leaf, stage == none ? result.get(root.getOperation()) : stage) : leaf;
  }
  unsigned first = sums.begin()->first;
  Value total;
  for (auto [stage, sum] : sums)
    total = total ? add(total, sum, first) : sum;
  root.replaceAllUsesWith(total);
}

/// Gradients of one weight from several stages are summed over microbatches where they are made,
/// and handed on once.
void StageSums::accumulateByStage(dist::AccumulateOp sum) {
  auto add = sum.getInput().getDefiningOp<AddOp>();
  if (!add || !add->hasOneUse() || !joinsStages({add.getOperand(0), add.getOperand(1)}))
    return;
  OpBuilder builder(sum);
  auto place = [&](Operation *op, unsigned stage) {
    result.parts[op] = stage;
    return op->getResult(0);
  };
  unsigned first = result.get(sum.getOperation());
  SmallVector<Value, 2> terms;
  for (Value term : add->getOperands()) {
    auto stage = result.get(term) == none ? first : result.get(term);
    terms.push_back(
        place(dist::AccumulateOp::create(builder, sum.getLoc(), sum.getType(), term), stage));
  }
  Value total = place(AddOp::create(builder, sum.getLoc(), terms.front(), terms.back()), first);
  sum.replaceAllUsesWith(total);
  result.parts.erase(sum);
  sum.erase();
  result.parts.erase(add);
  add.erase();
  for (Value term : terms)
    accumulateByStage(term.getDefiningOp<dist::AccumulateOp>());
}

void StageSums::run() {
  SmallVector<AddOp> roots;
  for (auto add : body.getOps<AddOp>())
    if (result.parts.contains(add) && !forward.contains(add) && !isInner(add))
      roots.push_back(add);
  for (AddOp root : roots)
    sumByStage(root);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (op.use_empty() && isa<AddOp>(op) && result.parts.contains(&op)) { // of sums as they were
      result.parts.erase(&op);
      op.erase();
    }
  for (auto sum : llvm::make_early_inc_range(body.getOps<dist::AccumulateOp>()))
    if (result.parts.contains(sum))
      accumulateByStage(sum);
}

void weft::sumByStage(Block &body, const llvm::DenseSet<Operation *> &forward,
                      PartAssignment &assignment) {
  StageSums(body, forward, assignment).run();
}

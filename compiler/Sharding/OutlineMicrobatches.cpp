#include "compiler/Sharding/OutlineMicrobatches.h"

#include "compiler/Sharding/PhaseBuilder.h"

using namespace mlir;
using namespace weft;

namespace {
class MicrobatchOutliner : PhaseBuilder {
public:
  using PhaseBuilder::PhaseBuilder;

  void run();

private:
  void makeBegin();
  void makePrepare();
  void makeRepeated(StringRef name, ArrayRef<Operation *> roots, const Ops &slice, int64_t times,
                    std::optional<int64_t> counter);
  void makeUpdate();
  void callPhases();

  std::optional<int64_t> counter; ///< of the microbatches whose sums are late
  std::vector<std::unique_ptr<PhaseFunction>> made;
};
} // namespace

void MicrobatchOutliner::makeBegin() {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = "begin";
  phase.times = 0;
  begin(phase);
  fillBegin(phase);
  finish(phase, {});
}

/// What every microbatch needs alike.
void MicrobatchOutliner::makePrepare() {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = "prepare";
  phase.times = 0;
  begin(phase);
  Ops members;
  SmallVector<Value> stack(hoisted.begin(), hoisted.end());
  while (!stack.empty())
    if (Operation *op = stack.pop_back_val().getDefiningOp();
        op && members.insert(op).second && !isa<dist::AccumulateOp>(op))
      llvm::append_range(stack, op->getOperands());
  cloneInto(phase, [&](Operation *op) { return members.contains(op); });
  finish(phase, llvm::map_to_vector(hoisted, [&](Value v) { return phase.values.lookup(v); }));
}

/// What adds to sums and changes states with each microbatch: these are the roots.
void MicrobatchOutliner::makeRepeated(StringRef name, ArrayRef<Operation *> roots, const Ops &slice,
                                      int64_t times, std::optional<int64_t> counter) {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = name.str();
  phase.times = times;
  phase.added.insert_range(roots);
  phase.counter = counter;
  begin(phase);
  Ops needed;
  SmallVector<Value> stack;
  for (Operation *root : roots)
    llvm::append_range(stack, root->getOperands());
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || hoisted.contains(value) || !needed.insert(op).second || isa<dist::AccumulateOp>(op))
      continue;
    llvm::append_range(stack, op->getOperands());
  }
  cloneInto(phase, [&](Operation *op) {
    return phase.added.contains(op) || (slice.contains(op) && needed.contains(op));
  });
  if (counter)
    countOn(phase);
  finish(phase, {});
}

void MicrobatchOutliner::makeUpdate() {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = "update";
  phase.first = count - 1;
  phase.isLast = true;
  phase.added.insert_range(phases.sums);
  phase.counter = counter;
  begin(phase);
  Ops needed = findNeeded([&](Value value) { return hoisted.contains(value); });
  Operation *end = body.getTerminator();
  cloneInto(phase, [&](Operation *op) { return op != end && needed.contains(op); });
  addArguments(phase, end->getOperands());
  finish(phase,
         llvm::map_to_vector(end->getOperands(), [&](Value v) { return phase.values.lookup(v); }));
}

/// @main calls the parts.
void MicrobatchOutliner::callPhases() {
  auto *block = new Block();
  main.getBody().push_back(block);
  IRMapping outer;
  for (BlockArgument argument : body.getArguments())
    outer.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToEnd(block);
  for (std::unique_ptr<PhaseFunction> &phase : made) {
    SmallVector<Value> operands =
        llvm::map_to_vector(phase->arguments, [&](Value v) { return outer.lookup(v); });
    phase->call = func::CallOp::create(builder, main.getLoc(), phase->function, operands);
    if (phase->times > 0)
      phase->call->setAttr(kMicrobatchesOfCallAttr,
                           builder.getDenseI64ArrayAttr({phase->first, phase->times}));
    if (phase->call.getNumResults() == hoisted.size() && phase != made.back())
      for (auto [value, result] : llvm::zip_equal(hoisted, phase->call.getResults()))
        outer.map(value, result);
  }
  func::ReturnOp::create(builder, main.getLoc(), made.back()->call.getResults());
  body.erase();
}

void MicrobatchOutliner::run() {
  SmallVector<Operation *> early(phases.early.begin(), phases.early.end()),
      roots(phases.sums.begin(), phases.sums.end());
  for (Operation &op : body)
    if (isCarriedStore(op))
      roots.push_back(&op);
  Ops all = sliceOf(roots), counted = sliceOf(early);
  std::optional<int64_t> first = keepCounter(counted);
  counter = keepCounter(all);
  findHoisted(all);
  makeBegin();
  if (!early.empty())
    makeRepeated("count", early, counted, count, first);
  if (!hoisted.empty())
    makePrepare();
  makeRepeated("microbatch", roots, all, count - 1, counter);
  makeUpdate();
  callPhases();
}

LogicalResult weft::checkResults(func::FuncOp main) {
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (main.getResultAttr(index, dist::kMicrobatchDimAttr))
      return main.emitError() << "expected results that are sums over the batch, got rows of it as "
                                 "result "
                              << index << ": a step without microbatches (--accumulate) gives them";
  return success();
}

LogicalResult weft::outlineMicrobatches(const Part &part) {
  func::FuncOp main = part.function;
  if (!main->hasAttr(dist::kMicrobatchesAttr))
    return success();
  if (failed(checkResults(main)))
    return failure();
  MicrobatchOutliner(part).run();
  return success();
}

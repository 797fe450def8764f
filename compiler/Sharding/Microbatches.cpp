#include "compiler/Sharding/Microbatches.h"

#include "dialects/Weft/IR/SourceName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

MicrobatchPhases::MicrobatchPhases(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments())
    addArgument(main, argument);
  for (auto weight : cast<ModuleOp>(main->getParentOp()).getOps<WeightOp>())
    if (weight->hasAttr(kEachMicrobatchAttr))
      carried.insert(weight.getSymNameAttr());
  for (Operation &op : main.getBody().front())
    visit(op);
}

void MicrobatchPhases::addArgument(func::FuncOp main, BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto handed = main.getArgAttrOfType<StringAttr>(number, kHandedAttr);
  bool ofMicrobatch = main.getArgAttr(number, dist::kMicrobatchDimAttr) != nullptr;
  bool isEach = handed && handed.getValue() == "each", isLateOne = handed && !isEach;
  if (ofMicrobatch || isEach)
    varying.insert(argument);
  if (isLateOne) {
    late.insert(argument);
    summed.insert(argument);
  }
  if (!ofMicrobatch)
    weighted.insert(argument);
}

StringAttr MicrobatchPhases::getCarried(Operation &op) const {
  auto symbol = llvm::TypeSwitch<Operation *, StringAttr>(&op)
                    .Case<LoadOp, StoreOp, dist::LoadShardOp, dist::StoreShardOp>(
                        [](auto access) { return access.getWeightAttr().getAttr(); })
                    .Default(StringAttr());
  return symbol && carried.contains(symbol) ? symbol : StringAttr();
}

void MicrobatchPhases::visit(Operation &op) {
  auto reads = [&](const DenseSet<Value> &set) {
    return llvm::any_of(op.getOperands(), [&](Value value) { return set.contains(value); });
  };
  auto add = [&](DenseSet<Value> &set, bool condition) {
    if (condition)
      set.insert(op.result_begin(), op.result_end());
  };
  add(summed, reads(summed) || isa<dist::AccumulateOp>(op));
  if (auto sum = dyn_cast<dist::AccumulateOp>(op)) {
    bool isEarly = !weighted.contains(sum.getInput()) && !summed.contains(sum.getInput());
    (isEarly ? early : sums).push_back(sum);
    add(late, !isEarly);
    return;
  }
  add(varying, reads(varying) || isa<dist::MicrobatchOp>(op) || getCarried(op));
  add(late, reads(late));
  add(weighted, reads(weighted) || isa<LoadOp, dist::LoadShardOp>(op));
}

/// The sum that a value comes of, for messages.
static dist::AccumulateOp findSum(Value value, const MicrobatchPhases &phases) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto sum = dyn_cast<dist::AccumulateOp>(op))
      return sum;
    auto from = llvm::find_if(op->getOperands(), [&](Value v) { return phases.isLate(v); });
    if (from == op->operand_end())
      break;
    value = *from;
  }
  return {};
}

LogicalResult weft::checkSums(func::FuncOp main) {
  MicrobatchPhases phases(main);
  for (Operation &op : main.getBody().front()) {
    auto late = llvm::find_if(op.getOperands(), [&](Value v) { return phases.isLate(v); });
    if (isa<func::ReturnOp>(op) || late == op.operand_end() ||
        llvm::none_of(op.getOperands(), [&](Value v) { return phases.varies(v); }))
      continue;
    dist::AccumulateOp sum = findSum(*late, phases);
    StringRef name = sum ? getSourceName(sum.getLoc()) : StringRef();
    return op.emitError() << "'" << name
                          << "' is a sum over the whole batch that is used with each row of "
                          << "it, by '" << getSourceName(op.getLoc()) << "': " << kWholeBatchHint;
  }
  return success();
}

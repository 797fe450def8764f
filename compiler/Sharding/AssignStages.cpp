#include "compiler/Sharding/AssignStages.h"

#include "compiler/Sharding/StageSums.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

static constexpr unsigned none = PartAssignment::none;

/// Whether a value is a single number: it decides nothing, and is handed to whom it may concern.
static bool isNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() == 1;
}

namespace {
class StageAssigner {
public:
  StageAssigner(func::FuncOp main, Operation *loss, PartAssignment &result)
      : body(main.getBody().front()), loss(loss), result(result) {
    for (auto store : body.getOps<StoreOp>())
      uses[getSymbol(store)].push_back(store);
    for (auto load : body.getOps<LoadOp>())
      if (auto found = uses.find(getSymbol(load)); found != uses.end())
        found->second.push_back(load); // in their order
    for (Operation &op : body)
      classify(&op);
  }

  LogicalResult assign(ArrayRef<Value> ends);

private:
  static StringAttr getSymbol(LoadOp op) { return op.getWeightAttr().getAttr(); }
  static StringAttr getSymbol(StoreOp op) { return op.getWeightAttr().getAttr(); }
  /// The symbol of a state that the step changes, which an operation loads or stores; else null.
  StringAttr getState(Operation *op) const;

  void classify(Operation *op);
  LogicalResult checkEnd(Value end, ArrayRef<Value> ends) const;
  void takeForward(Operation *op, unsigned stage);
  void findLastReaders();
  void findGradients();
  void markGradient(Value gradient, unsigned stage);
  void put(Operation *op, unsigned stage);
  void putDeferred(Value value, unsigned stage);
  unsigned getPlace(Value value, bool asState) const;
  unsigned getFirstPlace(Operation *op) const;
  void putBackward(Operation *op);
  void shareLoads();

  Block &body;
  Operation *loss;
  PartAssignment &result;
  llvm::MapVector<StringAttr, SmallVector<Operation *, 4>> uses; ///< of states that are stored
  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Value, unsigned> lastReaders; ///< of the forward pass, by what it makes
  /// Of what makes the gradient of a weight: the weight's stage.
  llvm::DenseMap<Operation *, unsigned> wanted;
  /// Of what is made anew: whether it depends on inputs, on weights.
  llvm::DenseMap<Operation *, std::pair<bool, bool>> anew;
};
} // namespace

StringAttr StageAssigner::getState(Operation *op) const {
  StringAttr symbol;
  if (auto load = dyn_cast<LoadOp>(op))
    symbol = getSymbol(load);
  else if (auto store = dyn_cast<StoreOp>(op))
    symbol = getSymbol(store);
  return symbol && uses.contains(symbol) ? symbol : StringAttr();
}

//===----------------------------------------------------------------------===//
// The forward pass
//===----------------------------------------------------------------------===//

/// Decides whether an operation is made anew where it is read: one that costs little, since no
/// weight meets an input in it, or that spreads single numbers.
void StageAssigner::classify(Operation *op) {
  bool isInput = isa<dist::MicrobatchOp>(op), isWeight = isa<LoadOp>(op);
  bool readsStages = getState(op) || isa<StoreOp, func::ReturnOp>(op), readsNumbers = false;
  for (Value operand : op->getOperands()) {
    Operation *maker = operand.getDefiningOp();
    auto made = anew.find(maker);
    isInput |= !maker || (made != anew.end() && made->second.first);
    isWeight |= made != anew.end() && made->second.second;
    bool isHanded = maker && made == anew.end();
    readsNumbers |= isHanded && isNumber(operand);
    readsStages |= isHanded && !isNumber(operand);
  }
  bool spreads = llvm::none_of(op->getResults(), isNumber);
  if (readsStages || (isInput && isWeight) || (readsNumbers && !spreads))
    result.parts[op] = none;
  else
    anew[op] = {isInput, isWeight};
}

LogicalResult StageAssigner::checkEnd(Value end, ArrayRef<Value> ends) const {
  if (failed(checkCut(end, ends, result)))
    return failure();
  if (forward.contains(end.getDefiningOp()))
    return success();
  return refuseCut(end) << "the loss does not depend on it; a stage of a training step ends behind "
                           "a value of the forward pass, and has its backward pass besides";
}

/// Gives a stage what its end needs and no stage has.
void StageAssigner::takeForward(Operation *op, unsigned stage) {
  SmallVector<Operation *> worklist{op};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    bool isOther = result.parts.contains(next) && result.get(next) != none;
    if (isOther || !seen.insert(next).second)
      continue;
    put(next, stage);
    for (Value operand : next->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        worklist.push_back(maker);
  }
}

/// A state is read by whoever reads one of its loads.
void StageAssigner::findLastReaders() {
  auto note = [&](Value value, unsigned stage) {
    auto [found, isNew] = lastReaders.try_emplace(value, stage);
    found->second = std::max(found->second, stage);
  };
  for (Operation *op : forward)
    if (unsigned stage = result.get(op); stage != none)
      for (Value operand : op->getOperands())
        note(operand, stage);
  for (const auto &[state, all] : uses) {
    unsigned last = 0;
    for (Operation *use : all)
      if (isa<LoadOp>(use))
        last = std::max(last, lastReaders.lookup(use->getResult(0)));
    for (Operation *use : all)
      if (isa<LoadOp>(use))
        note(use->getResult(0), last);
  }
}

/// Gradients of weights are results of the step by their names.
void StageAssigner::findGradients() {
  auto main = cast<func::FuncOp>(body.getParentOp());
  for (OpOperand &end : body.getTerminator()->getOpOperands()) {
    unsigned number = end.getOperandNumber();
    auto role = main.getResultAttrOfType<StringAttr>(number, "weft.role");
    auto name = main.getResultAttrOfType<StringAttr>(number, "weft.name");
    if (!role || role.getValue() != "gradient" || !name)
      continue;
    StringRef symbol = name.getValue();
    symbol.consume_front("grad:");
    auto weight = uses.find(StringAttr::get(main.getContext(), symbol));
    if (weight == uses.end() || weight->second.empty())
      continue;
    if (unsigned stage = result.get(weight->second.back()); stage != none)
      markGradient(end.get(), stage);
  }
}

/// Marks what makes a gradient, from behind: up to the products and sums over the batch of which it
/// comes, through what adds, moves or scales them. What others read too is no part of it: of a
/// batch of one row the gradient of a table of positions is that of its rows.
void StageAssigner::markGradient(Value gradient, unsigned stage) {
  SmallVector<Value> stack{gradient};
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op || !result.parts.contains(op) || forward.contains(op) ||
        !wanted.try_emplace(op, stage).second)
      continue;
    SmallVector<Value> read;
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp() && result.isHanded(operand) && !isNumber(operand))
        read.push_back(operand);
    auto isOwn = [&](Value value) {
      return llvm::all_of(value.getUsers(), [&](Operation *user) { return wanted.contains(user); });
    };
    auto interface = dyn_cast<FactorRuleOpInterface>(op);
    bool sums = interface && llvm::any_of(interface.getFactorRule().factors, [](const Factor &f) {
                  return f.kind == FactorKind::Reduction;
                });
    if (!sums && (read.size() == 1 || isa<AddOp>(op)))
      llvm::append_range(stack, llvm::make_filter_range(read, isOwn));
  }
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

/// A state and all that loads or stores it are in one stage.
void StageAssigner::put(Operation *op, unsigned stage) {
  auto found = result.parts.find(op);
  if (found == result.parts.end() || found->second != none)
    return;
  found->second = stage;
  if (StringAttr state = getState(op))
    for (Operation *use : uses.lookup(state))
      result.parts[use] = stage;
}

/// Puts what had no place yet, of which a value is made, where it is read.
void StageAssigner::putDeferred(Value value, unsigned stage) {
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !result.parts.contains(op) || result.get(op) != none)
      continue;
    put(op, stage);
    for (Value operand : op->getOperands())
      if (!isNumber(operand))
        worklist.push_back(operand);
  }
}

/// Where what is read with a value is computed; states by themselves are changed where they are.
unsigned StageAssigner::getPlace(Value value, bool asState) const {
  unsigned stage = result.get(value);
  auto last = lastReaders.find(value);
  if (asState || stage == none || last == lastReaders.end())
    return stage;
  return std::max(stage, last->second);
}

/// Whether an operation makes a gradient, as its name says (compiler/Training/Differentiate.h), and
/// not a value of the forward pass, or one of these again.
static bool makesGradient(Operation *op) {
  return getSourceName(op->getLoc()).starts_with("grad:");
}

/// The first stage that has all that an operation reads of the forward pass: gradients are handed
/// to any before.
unsigned StageAssigner::getFirstPlace(Operation *op) const {
  unsigned first = 0;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp();
        maker && !makesGradient(maker) && !isNumber(operand))
      if (unsigned stage = result.get(maker); stage != none)
        first = std::max(first, stage);
  return first;
}

void StageAssigner::putBackward(Operation *op) {
  if (!result.parts.contains(op) || result.get(op) != none || isa<func::ReturnOp>(op))
    return;
  SmallVector<Value> read, numbers;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp(); maker && result.parts.contains(maker))
      (isNumber(operand) ? numbers : read).push_back(operand);
  bool asState = llvm::all_of(read, [](Value value) { return value.getDefiningOp<LoadOp>(); });
  unsigned stage = none; // the greatest of all numbers
  for (Value value : read)
    stage = std::min(stage, getPlace(value, asState));
  if (read.empty())
    for (Value value : numbers)
      stage = std::min(stage, getPlace(value, /*asState=*/true));
  if (stage == none)
    return;
  if (auto found = wanted.find(op); found != wanted.end())
    stage = std::min(stage, std::max(found->second, getFirstPlace(op)));
  put(op, stage);
  for (Value value : read)
    putDeferred(value, stage);
}

LogicalResult StageAssigner::assign(ArrayRef<Value> ends) {
  SmallVector<Operation *> stack{loss};
  while (!stack.empty())
    if (Operation *op = stack.pop_back_val(); forward.insert(op).second)
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          stack.push_back(maker);
  for (auto [stage, end] : llvm::enumerate(ends)) {
    if (failed(checkEnd(end, ends)))
      return failure();
    takeForward(end.getDefiningOp(), stage);
  }
  result.count = ends.size() + 1;
  if (result.get(loss) != none)
    return refuseCut(ends.back()) << "nothing is left to compute behind it";
  takeForward(loss, ends.size());
  findLastReaders();
  findGradients();
  for (Operation &op : body)
    putBackward(&op);
  for (auto &[op, stage] : result.parts) // numbers that nothing but numbers comes of
    if (stage == none && !isa<func::ReturnOp>(op))
      stage = 0;
  result.parts.erase(body.getTerminator());
  shareLoads();
  sumByStage(body, forward, result);
  return success();
}

/// A stage is handed a state once, however often it is loaded where it lies.
void StageAssigner::shareLoads() {
  for (const auto &[state, all] : uses) {
    auto loads = llvm::make_filter_range(all, [](Operation *use) { return isa<LoadOp>(use); });
    if (loads.empty())
      continue;
    Operation *first = *loads.begin();
    for (Operation *load : loads)
      load->getResult(0).replaceUsesWithIf(first->getResult(0), [&](OpOperand &operand) {
        return result.get(operand.getOwner()) != result.get(first);
      });
  }
}

LogicalResult weft::assignStages(func::FuncOp main, Operation *loss, ArrayRef<Value> ends,
                                 PartAssignment &result) {
  return StageAssigner(main, loss, result).assign(ends);
}

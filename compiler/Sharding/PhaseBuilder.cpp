#include "compiler/Sharding/PhaseBuilder.h"

#include "compiler/Sharding/SliceTokens.h"
#include "dialects/Weft/IR/TensorBuilder.h"

using namespace mlir;
using namespace weft;

PhaseBuilder::PhaseBuilder(const Part &part, int64_t firstNumber)
    : main(part.function), mesh(part.mesh), body(main.getBody().front()), phases(main),
      builder(main.getContext()), firstNumber(firstNumber) {
  auto microbatches = main->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr);
  count = microbatches ? microbatches.getInt() : 1;
  for (Operation &op : body) {
    StringAttr state = phases.getCarried(op);
    if (auto sum = dyn_cast<dist::AccumulateOp>(op))
      numbers[&op] = sum.getOnto() ? numbers.at(sum.getOnto().getDefiningOp()) : keep(op);
    else if (state && op.getNumResults() > 0 && !states.contains(state)) {
      states[state] = keep(op);
      kept.back().load = &op;
    }
  }
}

int64_t PhaseBuilder::keep(Operation &op) {
  kept.push_back({cast<RankedTensorType>(op.getResult(0).getType()), op.getLoc()});
  return getEnd() - 1;
}

std::optional<int64_t> PhaseBuilder::keepCounter(const Ops &slice) {
  for (auto op : body.getOps<dist::MicrobatchOp>())
    if (slice.contains(op))
      return keep(*op);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What belongs where
//===----------------------------------------------------------------------===//

Ops PhaseBuilder::sliceOf(ArrayRef<Operation *> roots) const {
  Ops slice;
  SmallVector<Value> stack;
  for (Operation *root : roots)
    llvm::append_range(stack, root->getOperands());
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op || !slice.insert(op).second || isa<dist::AccumulateOp>(op))
      continue;
    llvm::append_range(stack, op->getOperands());
  }
  return slice;
}

Ops PhaseBuilder::findNeeded(function_ref<bool(Value)> isThere) const {
  Ops needed;
  SmallVector<Operation *> stack;
  for (Operation &op : body)
    if (op.getNumResults() == 0)
      stack.push_back(&op);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    auto sum = dyn_cast<dist::AccumulateOp>(op);
    if (!needed.insert(op).second || (sum && llvm::is_contained(phases.early, sum)))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && !isThere(operand))
        stack.push_back(maker);
  }
  return needed;
}

/// Whether the operation computes something that every microbatch needs alike, and that is worth to
/// be kept: it reads weights as they are stored, or joins ranks' sums. What is only brought from
/// other ranks would take the memory that it was split to save.
bool PhaseBuilder::isHoistable(Operation *op) const {
  if (op->getNumResults() == 0 || phases.isLate(op->getResult(0)) ||
      isa<BarrierOp, BroadcastOp, ReshapeOp, SliceOp, TransposeOp, dist::SliceOp,
          dist::AccumulateOp>(op))
    return false;
  bool isWorthwhile = false;
  SmallVector<Operation *> stack{op};
  Ops seen{op};
  while (!stack.empty()) {
    Operation *next = stack.pop_back_val();
    if (isa<dist::AllGatherOp, dist::AllToAllOp, dist::PermuteOp>(next))
      return false;
    isWorthwhile |=
        isa<dist::AllReduceOp>(next) || (isa<LoadOp, dist::LoadShardOp>(next) && next != op);
    if (isa<dist::AccumulateOp>(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        if (seen.insert(maker).second)
          stack.push_back(maker);
  }
  return isWorthwhile;
}

/// What is hoisted is what a microbatch reads of the rest, behind views.
void PhaseBuilder::findHoisted(const Ops &slice) {
  SmallVector<Value> stack;
  for (Operation &op : body)
    if (slice.contains(&op) && op.getNumResults() > 0 && phases.varies(op.getResult(0)))
      llvm::append_range(stack, op.getOperands());
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || phases.varies(value) || !seen.insert(value).second)
      continue;
    if (isHoistable(op))
      hoisted.insert(value);
    else
      llvm::append_range(stack, op->getOperands());
  }
}

//===----------------------------------------------------------------------===//
// Building a part
//===----------------------------------------------------------------------===//

void PhaseBuilder::begin(PhaseFunction &phase) {
  builder.setInsertionPoint(main);
  while (SymbolTable::lookupSymbolIn(main->getParentOp(), phase.name))
    phase.name += "_";
  phase.function =
      func::FuncOp::create(builder, main.getLoc(), phase.name, builder.getFunctionType({}, {}));
  phase.function->setAttr(dist::kMeshAttr, FlatSymbolRefAttr::get(mesh.getSymNameAttr()));
  builder.setInsertionPointToStart(phase.function.addEntryBlock());
}

void PhaseBuilder::addArguments(PhaseFunction &phase, ValueRange operands) {
  for (Value operand : operands) {
    if (phase.values.contains(operand))
      continue;
    phase.values.map(
        operand, phase.function.getBody().front().addArgument(operand.getType(), operand.getLoc()));
    phase.arguments.push_back(operand);
  }
}

/// What reads or changes something that is kept does so where the part knows it. Whether it is
/// that.
bool PhaseBuilder::cloneKept(PhaseFunction &phase, Operation &op) {
  auto sum = dyn_cast<dist::AccumulateOp>(op);
  auto state = states.find(phases.getCarried(op));
  if (sum) {
    phase.values.map(sum.getResult(),
                     phase.added.contains(sum) ? addTo(phase, sum) : load(phase, numbers.at(sum)));
  } else if (isa<dist::MicrobatchOp>(op)) {
    phase.values.map(op.getResult(0), load(phase, *phase.counter));
  } else if (state == states.end() || (phase.isLast && op.getNumResults() == 0)) {
    return false; // the step's last store is the state's own
  } else if (op.getNumResults() > 0) {
    phase.values.map(op.getResult(0), load(phase, state->second));
  } else {
    addArguments(phase, op.getOperands());
    store(phase, state->second, phase.values.lookup(op.getOperand(0)));
  }
  return true;
}

void PhaseBuilder::cloneInto(PhaseFunction &phase, function_ref<bool(Operation *)> isMember) {
  for (Operation &op : body) {
    if (!isMember(&op))
      continue;
    if (cloneKept(phase, op))
      continue;
    addArguments(phase, op.getOperands());
    builder.clone(op, phase.values)->removeAttr(kLevelAttr); // slices may share kernels
  }
}

void PhaseBuilder::finish(PhaseFunction &phase, ValueRange results) {
  func::ReturnOp::create(builder, main.getLoc(), results);
  Block &block = phase.function.getBody().front();
  phase.function.setType(builder.getFunctionType(block.getArgumentTypes(), results.getTypes()));
}

/// The part's own symbol of the memory of what is kept.
FlatSymbolRefAttr PhaseBuilder::getSymbol(PhaseFunction &phase, int64_t number) {
  FlatSymbolRefAttr &symbol = phase.symbols[number];
  if (symbol)
    return symbol;
  const auto &[type, loc, state] = getKept(number);
  std::string name = "accumulate." + std::to_string(number) + "." + phase.name;
  OpBuilder members(main);
  auto zero = cast<ElementsAttr>(builder.getZeroAttr(type));
  auto weight = WeightOp::create(members, loc, name, type, zero, WeightKind::State);
  weight->setAttr(kAccumulatorAttr, builder.getI64IntegerAttr(number));
  return symbol = FlatSymbolRefAttr::get(weight.getSymNameAttr());
}

Value PhaseBuilder::load(PhaseFunction &phase, int64_t number) {
  return LoadOp::create(builder, getKept(number).loc, getKept(number).type,
                        getSymbol(phase, number));
}

void PhaseBuilder::store(PhaseFunction &phase, int64_t number, Value value) {
  StoreOp::create(builder, getKept(number).loc, getSymbol(phase, number), value);
}

/// Adds the operand of this microbatch to what is there, where it is kept. Of several that go onto
/// each other in one phase the last one keeps the sum.
Value PhaseBuilder::addTo(PhaseFunction &phase, dist::AccumulateOp sum) {
  addArguments(phase, sum.getInput());
  int64_t number = numbers.at(sum);
  auto isAdded = [&](Operation *op) { return op && phase.added.contains(op); };
  bool isFirst = !sum.getOnto() || !isAdded(sum.getOnto().getDefiningOp());
  Value before = isFirst ? load(phase, number) : phase.values.lookup(sum.getOnto());
  ImplicitLocOpBuilder located(sum.getLoc(), builder);
  TensorBuilder tensors(located);
  Value more =
      tensors.castTo(phase.values.lookup(sum.getInput()), getElementTypeOrSelf(sum.getType()));
  Value after = tensors.add(before, more);
  bool isLast = llvm::none_of(sum->getUsers(), [&](Operation *user) {
    auto next = dyn_cast<dist::AccumulateOp>(user);
    return next && next.getOnto() == sum.getResult() && isAdded(next);
  });
  if (isLast)
    store(phase, number, after);
  return after;
}

/// Leaves the next microbatch its number.
void PhaseBuilder::countOn(PhaseFunction &phase) {
  ImplicitLocOpBuilder located(getKept(*phase.counter).loc, builder);
  TensorBuilder tensors(located);
  Value number = load(phase, *phase.counter);
  auto one = DenseElementsAttr::get(getKept(*phase.counter).type, builder.getI64IntegerAttr(1));
  store(phase, *phase.counter, tensors.add(number, tensors.make<ConstantOp>(one)));
}

void PhaseBuilder::fillBegin(PhaseFunction &phase) {
  for (auto [index, what] : llvm::enumerate(kept)) {
    Operation *first = what.load;
    if (first)
      first = builder.clone(*first);
    else
      first =
          ConstantOp::create(builder, what.loc, cast<ElementsAttr>(builder.getZeroAttr(what.type)));
    store(phase, firstNumber + static_cast<int64_t>(index), first->getResult(0));
  }
}

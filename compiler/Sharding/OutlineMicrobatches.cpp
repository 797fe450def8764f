#include "compiler/Sharding/OutlineMicrobatches.h"

#include "compiler/Sharding/Microbatches.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

using Ops = llvm::DenseSet<Operation *>;

/// A part while it is built.
namespace {
struct PhaseFunction {
  std::string name;
  func::FuncOp function;
  IRMapping values;
  SmallVector<Value>
      arguments; ///< what @main hands to it: arguments of @main, and what @prepare made
  int64_t first = 0, times = 1;   ///< microbatches
  bool isLast = false;            ///< what follows the last microbatch is its own
  Ops added;                      ///< sums that it adds to
  std::optional<int64_t> counter; ///< what keeps the microbatch's number
  llvm::DenseMap<int64_t, FlatSymbolRefAttr> symbols; ///< of what is kept
  func::CallOp call;
};

/// What is kept from one microbatch to the next. It begins with zeros, or with a state's value.
struct Kept {
  RankedTensorType type;
  Location loc;
  Operation *load = nullptr; ///< of that state
};

class MicrobatchOutliner {
public:
  explicit MicrobatchOutliner(const Part &part)
      : main(part.function), mesh(part.mesh), body(main.getBody().front()), phases(main),
        builder(main.getContext()),
        count(main->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr).getInt()) {
    for (Operation &op : body) {
      StringAttr state = phases.getCarried(op);
      if (isa<dist::AccumulateOp>(op))
        numbers[&op] = keep(op);
      else if (state && op.getNumResults() > 0 && !states.contains(state))
        kept[states[state] = keep(op)].load = &op;
    }
  }

  void run();

private:
  int64_t keep(Operation &op) {
    kept.push_back({cast<RankedTensorType>(op.getResult(0).getType()), op.getLoc()});
    return static_cast<int64_t>(kept.size()) - 1;
  }
  std::optional<int64_t> keepCounter(const Ops &slice);
  bool isCarriedStore(Operation &op) const {
    return op.getNumResults() == 0 && states.contains(phases.getCarried(op));
  }
  Ops sliceOf(ArrayRef<Operation *> roots) const;
  void findHoisted(const Ops &slice);
  bool isHoistable(Operation *op) const;
  void begin(PhaseFunction &phase);
  void cloneInto(PhaseFunction &phase, function_ref<bool(Operation *)> isMember);
  void addArguments(PhaseFunction &phase, Operation *op);
  void finish(PhaseFunction &phase, ValueRange results);
  bool cloneKept(PhaseFunction &phase, Operation &op);
  Value load(PhaseFunction &phase, int64_t number);
  void store(PhaseFunction &phase, int64_t number, Value value);
  Value addTo(PhaseFunction &phase, dist::AccumulateOp sum);
  void countOn(PhaseFunction &phase);
  FlatSymbolRefAttr getSymbol(PhaseFunction &phase, int64_t number);
  void makeBegin();
  void makePrepare();
  void makeRepeated(StringRef name, ArrayRef<Operation *> roots, const Ops &slice, int64_t times,
                    std::optional<int64_t> counter);
  void makeUpdate();
  void callPhases();

  func::FuncOp main;
  dist::MeshOp mesh;
  Block &body;
  MicrobatchPhases phases;
  OpBuilder builder;
  int64_t count;
  std::vector<Kept> kept;
  llvm::DenseMap<Operation *, int64_t> numbers; ///< of sums, in what is kept
  llvm::DenseMap<StringAttr, int64_t> states;   ///< of states that every microbatch changes
  std::optional<int64_t> counter;               ///< of the microbatches whose sums are late
  llvm::SetVector<Value> hoisted;               ///< what @prepare computes and hands on
  std::vector<std::unique_ptr<PhaseFunction>> made;
};
} // namespace

//===----------------------------------------------------------------------===//
// What belongs where
//===----------------------------------------------------------------------===//

/// What the roots' operands are computed from, up to sums.
Ops MicrobatchOutliner::sliceOf(ArrayRef<Operation *> roots) const {
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

/// Where the number of the microbatch is kept, if what it computes asks for it.
std::optional<int64_t> MicrobatchOutliner::keepCounter(const Ops &slice) {
  for (auto op : body.getOps<dist::MicrobatchOp>())
    if (slice.contains(op))
      return keep(*op);
  return std::nullopt;
}

/// Whether the operation computes something that every microbatch needs alike, and that is worth to
/// be kept: it reads weights as they are stored, or joins ranks' sums. What is only brought from
/// other ranks would take the memory that it was split to save.
bool MicrobatchOutliner::isHoistable(Operation *op) const {
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
void MicrobatchOutliner::findHoisted(const Ops &slice) {
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

void MicrobatchOutliner::begin(PhaseFunction &phase) {
  builder.setInsertionPoint(main);
  while (SymbolTable::lookupSymbolIn(main->getParentOp(), phase.name))
    phase.name += "_";
  phase.function =
      func::FuncOp::create(builder, main.getLoc(), phase.name, builder.getFunctionType({}, {}));
  phase.function->setAttr(dist::kMeshAttr, FlatSymbolRefAttr::get(mesh.getSymNameAttr()));
  builder.setInsertionPointToStart(phase.function.addEntryBlock());
}

/// Operands that come from outside the part become arguments of it.
void MicrobatchOutliner::addArguments(PhaseFunction &phase, Operation *op) {
  for (Value operand : op->getOperands()) {
    if (phase.values.contains(operand))
      continue;
    phase.values.map(
        operand, phase.function.getBody().front().addArgument(operand.getType(), operand.getLoc()));
    phase.arguments.push_back(operand);
  }
}

/// What reads or changes something that is kept does so where the part knows it. Whether it is
/// that.
bool MicrobatchOutliner::cloneKept(PhaseFunction &phase, Operation &op) {
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
    addArguments(phase, &op);
    store(phase, state->second, phase.values.lookup(op.getOperand(0)));
  }
  return true;
}

void MicrobatchOutliner::cloneInto(PhaseFunction &phase, function_ref<bool(Operation *)> isMember) {
  for (Operation &op : body) {
    if (!isMember(&op))
      continue;
    if (cloneKept(phase, op))
      continue;
    addArguments(phase, &op);
    builder.clone(op, phase.values);
  }
}

void MicrobatchOutliner::finish(PhaseFunction &phase, ValueRange results) {
  func::ReturnOp::create(builder, main.getLoc(), results);
  Block &block = phase.function.getBody().front();
  phase.function.setType(builder.getFunctionType(block.getArgumentTypes(), results.getTypes()));
}

/// The part's own symbol of the memory of what is kept.
FlatSymbolRefAttr MicrobatchOutliner::getSymbol(PhaseFunction &phase, int64_t number) {
  FlatSymbolRefAttr &symbol = phase.symbols[number];
  if (symbol)
    return symbol;
  const auto &[type, loc, state] = kept[number];
  std::string name = "accumulate." + std::to_string(number) + "." + phase.name;
  OpBuilder members(main);
  auto zero = cast<ElementsAttr>(builder.getZeroAttr(type));
  auto weight = WeightOp::create(members, loc, name, type, zero, WeightKind::State);
  weight->setAttr(kAccumulatorAttr, builder.getI64IntegerAttr(number));
  return symbol = FlatSymbolRefAttr::get(weight.getSymNameAttr());
}

Value MicrobatchOutliner::load(PhaseFunction &phase, int64_t number) {
  return LoadOp::create(builder, kept[number].loc, kept[number].type, getSymbol(phase, number));
}

void MicrobatchOutliner::store(PhaseFunction &phase, int64_t number, Value value) {
  StoreOp::create(builder, kept[number].loc, getSymbol(phase, number), value);
}

/// Adds the operand of this microbatch to what is there, where it is kept.
Value MicrobatchOutliner::addTo(PhaseFunction &phase, dist::AccumulateOp sum) {
  addArguments(phase, sum);
  int64_t number = numbers.at(sum);
  Value before = load(phase, number);
  ImplicitLocOpBuilder located(sum.getLoc(), builder);
  TensorBuilder tensors(located);
  Value more =
      tensors.castTo(phase.values.lookup(sum.getInput()), getElementTypeOrSelf(sum.getType()));
  Value after = tensors.add(before, more);
  store(phase, number, after);
  return after;
}

/// Leaves the next microbatch its number.
void MicrobatchOutliner::countOn(PhaseFunction &phase) {
  ImplicitLocOpBuilder located(kept[*phase.counter].loc, builder);
  TensorBuilder tensors(located);
  Value number = load(phase, *phase.counter);
  auto one = DenseElementsAttr::get(kept[*phase.counter].type, builder.getI64IntegerAttr(1));
  store(phase, *phase.counter, tensors.add(number, tensors.make<ConstantOp>(one)));
}

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

void MicrobatchOutliner::makeBegin() {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = "begin";
  phase.times = 0;
  begin(phase);
  for (auto [number, what] : llvm::enumerate(kept)) {
    Operation *first = what.load;
    if (first)
      first = builder.clone(*first);
    else
      first =
          ConstantOp::create(builder, what.loc, cast<ElementsAttr>(builder.getZeroAttr(what.type)));
    store(phase, number, first->getResult(0));
  }
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
  Ops needed; // what only early sums need is done
  SmallVector<Operation *> stack;
  for (Operation &op : body)
    if (op.getNumResults() == 0)
      stack.push_back(&op);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    bool isDone = isa<dist::AccumulateOp>(op) &&
                  llvm::is_contained(phases.early, cast<dist::AccumulateOp>(op));
    for (Value operand :
         isDone ? OperandRange(op->operand_end(), op->operand_end()) : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        if (!hoisted.contains(operand) && needed.insert(maker).second)
          stack.push_back(maker);
  }
  Operation *end = body.getTerminator();
  cloneInto(phase, [&](Operation *op) {
    return op != end && (op->getNumResults() == 0 || needed.contains(op));
  });
  addArguments(phase, end);
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

LogicalResult weft::outlineMicrobatches(const Part &part) {
  func::FuncOp main = part.function;
  if (!main->hasAttr(dist::kMicrobatchesAttr))
    return success();
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (main.getResultAttr(index, dist::kMicrobatchDimAttr))
      return main.emitError() << "expected results that are sums over the batch, got rows of it as "
                                 "result "
                              << index << ": a step without microbatches (--accumulate) gives them";
  MicrobatchOutliner(part).run();
  return success();
}

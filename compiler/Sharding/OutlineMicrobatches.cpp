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
  int64_t first = 0, times = 1; ///< microbatches
  Ops added;                    ///< sums that it adds to
  func::CallOp call;
};

class MicrobatchOutliner {
public:
  explicit MicrobatchOutliner(const Part &part)
      : main(part.function), mesh(part.mesh), body(main.getBody().front()), phases(main),
        builder(main.getContext()),
        count(main->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr).getInt()) {
    for (auto sum : body.getOps<dist::AccumulateOp>())
      numbers[sum] = numbers.size();
  }

  void run();

private:
  Ops sliceOf(ArrayRef<dist::AccumulateOp> sums) const;
  void findHoisted(const Ops &slice);
  bool isHoistable(Operation *op) const;
  void begin(PhaseFunction &phase);
  void cloneInto(PhaseFunction &phase, function_ref<bool(Operation *)> isMember);
  void addArguments(PhaseFunction &phase, Operation *op);
  void finish(PhaseFunction &phase, ValueRange results);
  Value loadSum(dist::AccumulateOp sum, FlatSymbolRefAttr symbol);
  void addTo(PhaseFunction &phase, dist::AccumulateOp sum);
  FlatSymbolRefAttr getSymbol(PhaseFunction &phase, dist::AccumulateOp sum);
  void makeBegin();
  void makePrepare();
  void makeSums(StringRef name, ArrayRef<dist::AccumulateOp> sums, const Ops &slice, int64_t times);
  void makeUpdate();
  void callPhases();

  func::FuncOp main;
  dist::MeshOp mesh;
  Block &body;
  MicrobatchPhases phases;
  OpBuilder builder;
  int64_t count;
  llvm::DenseMap<Operation *, int64_t> numbers; ///< of sums
  llvm::SetVector<Value> hoisted;               ///< what @prepare computes and hands on
  std::vector<std::unique_ptr<PhaseFunction>> made;
};
} // namespace

//===----------------------------------------------------------------------===//
// What belongs where
//===----------------------------------------------------------------------===//

/// What the sums' operands are computed from, up to other sums.
Ops MicrobatchOutliner::sliceOf(ArrayRef<dist::AccumulateOp> sums) const {
  Ops slice;
  SmallVector<Value> stack;
  for (dist::AccumulateOp sum : sums)
    stack.push_back(sum.getInput());
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op || !slice.insert(op).second || isa<dist::AccumulateOp>(op))
      continue;
    llvm::append_range(stack, op->getOperands());
  }
  return slice;
}

/// Whether the operation computes something that every microbatch needs alike, and that is worth to
/// be kept: it reads weights as they are stored, or joins ranks.
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
    if (isa<dist::AllGatherOp>(next))
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

void MicrobatchOutliner::cloneInto(PhaseFunction &phase, function_ref<bool(Operation *)> isMember) {
  for (Operation &op : body) {
    if (!isMember(&op))
      continue;
    if (auto sum = dyn_cast<dist::AccumulateOp>(op)) {
      if (phase.added.contains(sum))
        addTo(phase, sum);
      else
        phase.values.map(sum.getResult(), loadSum(sum, getSymbol(phase, sum)));
      continue;
    }
    addArguments(phase, &op);
    builder.clone(op, phase.values);
  }
}

void MicrobatchOutliner::finish(PhaseFunction &phase, ValueRange results) {
  func::ReturnOp::create(builder, main.getLoc(), results);
  Block &block = phase.function.getBody().front();
  phase.function.setType(builder.getFunctionType(block.getArgumentTypes(), results.getTypes()));
}

/// The part's own symbol of a sum's memory.
FlatSymbolRefAttr MicrobatchOutliner::getSymbol(PhaseFunction &phase, dist::AccumulateOp sum) {
  int64_t number = numbers.lookup(sum);
  std::string name = "accumulate." + std::to_string(number) + "." + phase.name;
  auto type = cast<RankedTensorType>(sum.getType());
  OpBuilder members(main);
  auto zero = cast<ElementsAttr>(builder.getZeroAttr(type));
  auto weight = WeightOp::create(members, sum.getLoc(), name, type, zero, WeightKind::State);
  weight->setAttr(kAccumulatorAttr, builder.getI64IntegerAttr(number));
  return FlatSymbolRefAttr::get(weight.getSymNameAttr());
}

Value MicrobatchOutliner::loadSum(dist::AccumulateOp sum, FlatSymbolRefAttr symbol) {
  return LoadOp::create(builder, sum.getLoc(), sum.getType(), symbol);
}

/// Adds the operand of this microbatch to what is there, where it is kept.
void MicrobatchOutliner::addTo(PhaseFunction &phase, dist::AccumulateOp sum) {
  addArguments(phase, sum);
  FlatSymbolRefAttr symbol = getSymbol(phase, sum);
  Value before = loadSum(sum, symbol);
  ImplicitLocOpBuilder located(sum.getLoc(), builder);
  TensorBuilder tensors(located);
  Value more =
      tensors.castTo(phase.values.lookup(sum.getInput()), getElementTypeOrSelf(sum.getType()));
  Value after = tensors.add(before, more);
  StoreOp::create(located, symbol, after);
  phase.values.map(sum.getResult(), after);
}

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

void MicrobatchOutliner::makeBegin() {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = "begin";
  phase.times = 0;
  begin(phase);
  for (auto sum : body.getOps<dist::AccumulateOp>()) {
    auto zero = cast<ElementsAttr>(builder.getZeroAttr(cast<ShapedType>(sum.getType())));
    Value value = ConstantOp::create(builder, sum.getLoc(), zero);
    StoreOp::create(builder, sum.getLoc(), getSymbol(phase, sum), value);
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

void MicrobatchOutliner::makeSums(StringRef name, ArrayRef<dist::AccumulateOp> sums,
                                  const Ops &slice, int64_t times) {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = name.str();
  phase.times = times;
  phase.added.insert_range(sums);
  begin(phase);
  Ops needed;
  SmallVector<Value> stack;
  for (dist::AccumulateOp sum : sums)
    stack.push_back(sum.getInput());
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
  finish(phase, {});
}

void MicrobatchOutliner::makeUpdate() {
  PhaseFunction &phase = *made.emplace_back(std::make_unique<PhaseFunction>());
  phase.name = "update";
  phase.first = count - 1;
  phase.added.insert_range(phases.sums);
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
  Ops all = sliceOf(phases.sums), counted = sliceOf(phases.early);
  findHoisted(all);
  makeBegin();
  if (!phases.early.empty())
    makeSums("count", phases.early, counted, count);
  if (!hoisted.empty())
    makePrepare();
  makeSums("microbatch", phases.sums, all, count - 1);
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

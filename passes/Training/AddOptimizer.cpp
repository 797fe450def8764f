#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Sharding/Microbatches.h"
#include "compiler/Training/Differentiate.h"
#include "compiler/Training/Losses.h"
#include "compiler/Training/MapBuilder.h"
#include "compiler/Training/Moments.h"
#include "compiler/Training/Random.h"
#include "compiler/Training/StepControl.h"
#include "compiler/Training/UpdateRule.h"
#include "passes/Training/Passes.h"
#include "passes/Training/Request.h"

namespace weft {
#define GEN_PASS_DEF_ADDOPTIMIZER
#include "passes/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct AddOptimizer : weft::impl::AddOptimizerBase<AddOptimizer> {
  using AddOptimizerBase::AddOptimizerBase;
  explicit AddOptimizer(const plan::Training &training) : request(training) {}
  void runOnOperation() override;

private:
  std::optional<plan::Training> request;
};

/// A weight to be trained and its gradient, of f32 where the weight is narrower.
struct Trained {
  WeightOp weight;
  unsigned result; ///< of @main
  Value gradient;
};

/// What a parameter's update reads and, but for the gradient, gives the next values of.
struct UpdatedValues {
  Value own, gradient;
  Value master; ///< the wide copy of a narrow weight; null: none
  ValueRange states;
};

/// Builds the optimizer of a request at the end of @main.
class OptimizerBuilder {
public:
  OptimizerBuilder(func::FuncOp main, const plan::Training &request)
      : main(main), module(main->getParentOfType<ModuleOp>()), request(request), symbols(module),
        located(NameLoc::get(StringAttr::get(main.getContext(), "optimizer")),
                OpBuilder(main.getBody().front().getTerminator())),
        b(located), rule(makeUpdateRule(request.optimizer())), maps(located, symbols) {}

  LogicalResult build();

private:
  void joinBatches();
  void findTrained();
  FailureOr<Value> loadState(const Twine &name, RankedTensorType type);
  void storeState(const Twine &name, Value value) { store(("optimizer." + name).str(), value); }
  void store(StringRef symbol, Value value);
  Value keep(Value next, Value old);

  Value unscale();
  LogicalResult adaptScale(WeightOp scale);
  void clip();
  LogicalResult beginStep();
  LogicalResult update(const Trained &trained);
  SmallVector<Value> computeNext(const UpdatedValues &old, bool decays);
  void setSeed();
  void describe();

  void setName(const Twine &name) {
    located.setLoc(NameLoc::get(StringAttr::get(main.getContext(), name)));
  }

  func::FuncOp main;
  ModuleOp module;
  const plan::Training &request;
  SymbolTable symbols;
  ImplicitLocOpBuilder located;
  TensorBuilder b;
  std::unique_ptr<UpdateRule> rule;
  MapBuilder maps;
  SmallVector<Trained> trained; ///< in the order of their results
  Value isGood;                 ///< whether the step counts; null: it does
  Value isFirst;                ///< whether no step was done before this one
};
} // namespace

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Where a step takes several batches of the model: its loss and gradients are sums over them, and
/// the model's own states, which are all that is stored yet, go from one batch to the next.
void OptimizerBuilder::joinBatches() {
  for (auto store : main.getBody().front().getOps<StoreOp>())
    if (auto weight = symbols.lookup<WeightOp>(store.getWeight()))
      weight->setAttr(kEachMicrobatchAttr, located.getUnitAttr());
  Operation *end = main.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    OpBuilder behind(main.getContext());
    behind.setInsertionPointAfterValue(value);
    ImplicitLocOpBuilder there(value.getLoc(), behind);
    Value wide = TensorBuilder(there).widen(value);
    operand.set(dist::AccumulateOp::create(there, wide.getType(), wide));
  }
  main.setType(
      FunctionType::get(main.getContext(), main.getArgumentTypes(), end->getOperandTypes()));
}

void OptimizerBuilder::findTrained() {
  Operation *end = main.getBody().front().getTerminator();
  for (unsigned index = 0; index < main.getNumResults(); ++index) {
    auto role = main.getResultAttrOfType<StringAttr>(index, "weft.role");
    auto name = main.getResultAttrOfType<StringAttr>(index, "weft.name");
    if (!role || role.getValue() != "gradient" || !name)
      continue;
    StringRef symbol = name.getValue();
    symbol.consume_front(gradientPrefix);
    if (auto weight = symbols.lookup<WeightOp>(symbol))
      trained.push_back({weight, index, b.widen(end->getOperand(index))});
  }
}

/// A state that is zero at first, and its value at the step's start.
FailureOr<Value> OptimizerBuilder::loadState(const Twine &name, RankedTensorType type) {
  std::string symbol = ("optimizer." + name).str();
  if (symbols.lookup(symbol)) {
    module.emitError() << "the model has a weight '" << symbol
                       << "' already, which a state of the optimizer is called";
    return failure();
  }
  OpBuilder before(main);
  auto loc = NameLoc::get(before.getStringAttr(symbol));
  auto zero = DenseElementsAttr::get(type, before.getZeroAttr(type.getElementType()));
  bool isOffloaded =
      request.offload() == plan::Training::OFFLOAD_OPTIMIZER && type.getNumElements() > 1;
  symbols.insert(WeightOp::create(before, loc, symbol, type, zero, WeightKind::State,
                                  isOffloaded ? MemorySpace::Host : MemorySpace::Device));
  return LoadOp::create(located, loc, type, symbol).getResult();
}

void OptimizerBuilder::store(StringRef symbol, Value value) {
  StoreOp::create(located, symbol, value);
}

/// The next value of a state or weight where the step counts, else the old one.
Value OptimizerBuilder::keep(Value next, Value old) {
  return isGood ? selectWhole(b, isGood, next, old) : next;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Divides gradients by what the loss was multiplied by; returns whether all were finite.
Value OptimizerBuilder::unscale() {
  auto f32 = RankedTensorType::get({}, located.getF32Type());
  Value scale = b.make<LoadOp>(f32, lossScaleName);
  Value inverse = invert(b, scale), strays;
  for (Trained &one : trained) {
    setName(gradientPrefix + one.weight.getSymName());
    Value found = countStrays(b, one.gradient);
    strays = strays ? b.add(strays, found) : found;
    one.gradient = scaleBy(b, one.gradient, inverse);
  }
  return isZero(b, strays);
}

LogicalResult OptimizerBuilder::adaptScale(WeightOp scale) {
  setName(lossScaleName);
  Value value = b.make<LoadOp>(scale.getType(), scale.getSymName());
  FailureOr<Value> steps =
      loadState("scale_steps", RankedTensorType::get({}, located.getI64Type()));
  if (failed(steps))
    return failure();
  LossScaleState next = adaptLossScale(b, {value, *steps}, isGood);
  storeState("scale_steps", next.steps);
  store(scale.getSymName(), next.scale);
  return success();
}

/// Bounds the norm of all gradients together.
void OptimizerBuilder::clip() {
  setName("optimizer.norm");
  Value total;
  for (const Trained &one : trained) {
    Value sum = b.castTo(buildSum(b, b.mul(one.gradient, one.gradient)), located.getF32Type());
    total = total ? b.add(total, sum) : sum;
  }
  Value factor = buildClipFactor(b, total, request.optimizer().clip_norm());
  for (Trained &one : trained)
    one.gradient = scaleBy(b, one.gradient, factor);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Counts the step, and builds what all parameters share.
LogicalResult OptimizerBuilder::beginStep() {
  setName("optimizer.step");
  FailureOr<Value> state = loadState("step", RankedTensorType::get({}, located.getI64Type()));
  if (failed(state))
    return failure();
  Value done = *state;
  isFirst = isZero(b, done);
  Value step = b.add(done, buildCount(b, main.getContext(), 1));
  storeState("step", keep(step, done));
  Value rate = buildLearningRate(b, request.optimizer(), b.castTo(done, located.getF64Type()));
  rule->beginStep(b, b.castTo(step, located.getF64Type()), rate);
  return success();
}

/// The next values of a parameter's wide copy, if there is one, which is the weight itself before
/// the first step, of its states, and last, so that it goes by the update's name, its own.
SmallVector<Value> OptimizerBuilder::computeNext(const UpdatedValues &old, bool decays) {
  Value x = old.master ? selectWhole(b, isFirst, b.widen(old.own), old.master) : old.own;
  SmallVector<Value> next =
      rule->update(b, {x, old.gradient, decays}, SmallVector<Value>(old.states));
  Value kept = keep(next.front(), x);
  SmallVector<Value> values;
  if (old.master)
    values.push_back(kept);
  for (auto [value, state] : llvm::zip_equal(ArrayRef(next).drop_front(), old.states))
    values.push_back(keep(value, state));
  values.push_back(b.castTo(kept, elementOf(old.own)));
  return values;
}

LogicalResult OptimizerBuilder::update(const Trained &one) {
  StringRef name = WeightOp(one.weight).getSymName();
  setName("optimizer:" + name);
  SmallVector<Value> values{b.make<LoadOp>(WeightOp(one.weight).getType(), name), one.gradient};
  SmallVector<std::string> stored;
  bool isNarrow = elementOf(values.front()) != elementOf(one.gradient);
  auto wide = cast<RankedTensorType>(one.gradient.getType());
  auto specs = rule->listStates(wide);
  if (isNarrow)
    specs.insert(specs.begin(), {"master", wide});
  for (const UpdateRule::State &spec : specs) {
    FailureOr<Value> state = loadState(spec.name + ":" + name, spec.type);
    if (failed(state))
      return failure();
    values.push_back(*state);
    stored.push_back(("optimizer." + spec.name + ":" + name).str());
  }
  stored.push_back(name.str());
  bool decays = !isFoundIn(request.optimizer().no_decay(), name.str());
  auto compute = [&](ValueRange old) {
    UpdatedValues named{old[0], old[1], isNarrow ? old[2] : Value(), old.drop_front(2 + isNarrow)};
    return computeNext(named, decays);
  };
  SmallVector<Value> next = rule->isElementwise()
                                ? maps.map(decays ? "update" : "update_undecayed", values, compute)
                                : compute(values);
  for (auto [symbol, value] : llvm::zip_equal(stored, next))
    store(symbol, value);
  return success();
}

/// Begins a model's random numbers with the request's seed.
void OptimizerBuilder::setSeed() {
  auto seed = symbols.lookup<WeightOp>(randomSeedName);
  auto type = seed ? cast<RankedTensorType>(seed.getType()) : RankedTensorType();
  if (type && type.getElementType().isUnsignedInteger(64))
    seed.setStorageAttr(DenseElementsAttr::get(type, APInt(64, request.seed())));
}

/// What later phases and the runtime know of the step.
void OptimizerBuilder::describe() {
  SmallVector<Attribute> names;
  for (const Trained &one : trained)
    names.push_back(located.getStringAttr(WeightOp(one.weight).getSymName()));
  describeStep(module, request, located.getArrayAttr(names));
}

/// Shows gradients as the optimizer has them: wide, and of the loss itself.
static void showGradients(func::FuncOp main, ArrayRef<Trained> trained) {
  Operation *end = main.getBody().front().getTerminator();
  for (const Trained &one : trained)
    end->setOperand(one.result, one.gradient);
  main.setType(
      FunctionType::get(main.getContext(), main.getArgumentTypes(), end->getOperandTypes()));
}

LogicalResult OptimizerBuilder::build() {
  if (request.accumulate_batches() > 1)
    joinBatches();
  findTrained();
  if (trained.empty())
    return main.emitError() << "expected gradients to train by, the loss depends on no parameter";
  auto scale = symbols.lookup<WeightOp>(lossScaleName);
  if (scale) {
    Value allFinite = unscale();
    if (scale.getKind() == WeightKind::State)
      isGood = allFinite;
  }
  showGradients(main, trained);
  if (isGood && failed(adaptScale(scale)))
    return failure();
  if (request.optimizer().clip_norm() > 0)
    clip();
  if (failed(beginStep()))
    return failure();
  for (const Trained &one : trained)
    if (failed(update(one)))
      return failure();
  setSeed();
  describe();
  return success();
}

void AddOptimizer::runOnOperation() {
  func::FuncOp main = findMain(getOperation());
  if (main && !request)
    request = readTraining(&getContext(), training);
  if (!main || !request || failed(OptimizerBuilder(main, *request).build()))
    signalPassFailure();
}

std::unique_ptr<Pass> weft::createAddOptimizer(const plan::Training &training) {
  return std::make_unique<AddOptimizer>(training);
}

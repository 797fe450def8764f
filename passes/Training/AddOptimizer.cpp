#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Training/Differentiate.h"
#include "compiler/Training/Losses.h"
#include "compiler/Training/Moments.h"
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

/// A weight to be trained and its gradient.
struct Trained {
  WeightOp weight;
  unsigned result; ///< of @main, its gradient
};

/// Builds the optimizer of a request at the end of @main.
class OptimizerBuilder {
public:
  OptimizerBuilder(func::FuncOp main, const plan::Training &request)
      : main(main), module(main->getParentOfType<ModuleOp>()), request(request), symbols(module),
        located(NameLoc::get(StringAttr::get(main.getContext(), "optimizer")),
                OpBuilder(main.getBody().front().getTerminator())),
        b(located), rule(makeUpdateRule(request.optimizer())) {}

  LogicalResult build();

private:
  SmallVector<Trained> findTrained();
  FailureOr<Value> loadState(const Twine &name, RankedTensorType type);
  void storeState(const Twine &name, Value value);
  LogicalResult beginStep();
  void clip(ArrayRef<Trained> trained, MutableArrayRef<Value> gradients);
  LogicalResult update(const Trained &trained, Value gradient);
  void describe(ArrayRef<Trained> trained);
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
};
} // namespace

/// The trained weights that have a gradient, in the order of their results.
SmallVector<Trained> OptimizerBuilder::findTrained() {
  SmallVector<Trained> trained;
  for (unsigned index = 0; index < main.getNumResults(); ++index) {
    auto role = main.getResultAttrOfType<StringAttr>(index, "weft.role");
    auto name = main.getResultAttrOfType<StringAttr>(index, "weft.name");
    if (!role || role.getValue() != "gradient" || !name)
      continue;
    StringRef symbol = name.getValue();
    symbol.consume_front(gradientPrefix);
    if (auto weight = symbols.lookup<WeightOp>(symbol))
      trained.push_back({weight, index});
  }
  return trained;
}

/// A state that is zero at first, and its value at the step's start.
FailureOr<Value> OptimizerBuilder::loadState(const Twine &name, RankedTensorType type) {
  std::string symbol = ("optimizer." + name).str();
  if (symbols.lookup(symbol)) {
    module.emitError() << "the model has a weight '" << symbol
                       << "' already, which the optimizer's state is called";
    return failure();
  }
  auto loc = NameLoc::get(located.getStringAttr(symbol));
  OpBuilder before(main);
  auto zero = DenseElementsAttr::get(type, before.getZeroAttr(type.getElementType()));
  auto state = WeightOp::create(before, loc, symbol, type, zero, WeightKind::State);
  symbols.insert(state);
  return LoadOp::create(located, loc, type, symbol).getResult();
}

void OptimizerBuilder::storeState(const Twine &name, Value value) {
  StoreOp::create(located, ("optimizer." + name).str(), value);
}

/// Counts the step, and builds what all parameters share.
LogicalResult OptimizerBuilder::beginStep() {
  auto counter = RankedTensorType::get({}, located.getI64Type());
  FailureOr<Value> done = loadState("step", counter);
  if (failed(done))
    return failure();
  Value one = b.make<ConstantOp>(DenseElementsAttr::get(counter, int64_t(1)));
  Value step = b.add(*done, one);
  storeState("step", step);
  Value rate = buildLearningRate(b, request.optimizer(), b.castTo(*done, located.getF64Type()));
  rule->beginStep(b, b.castTo(step, located.getF64Type()), rate);
  return success();
}

LogicalResult OptimizerBuilder::update(const Trained &trained, Value gradient) {
  StringRef name = WeightOp(trained.weight).getSymName();
  auto type = cast<RankedTensorType>(WeightOp(trained.weight).getType());
  setName("optimizer:" + name);
  Value x = b.make<LoadOp>(type, name);
  SmallVector<Value> states;
  auto specs = rule->listStates(cast<RankedTensorType>(gradient.getType()));
  for (const UpdateRule::State &spec : specs) {
    FailureOr<Value> state = loadState(spec.name + ":" + name, spec.type);
    if (failed(state))
      return failure();
    states.push_back(*state);
  }
  bool decays = !isFoundIn(request.optimizer().no_decay(), name.str());
  SmallVector<Value> next = rule->update(b, {x, gradient, decays}, states);
  StoreOp::create(located, name, next.front());
  for (auto [spec, value] : llvm::zip_equal(specs, ArrayRef(next).drop_front()))
    storeState(spec.name + ":" + name, value);
  return success();
}

/// What later phases and the runtime know of the step.
void OptimizerBuilder::describe(ArrayRef<Trained> trained) {
  SmallVector<Attribute> names;
  for (const Trained &one : trained)
    names.push_back(located.getStringAttr(WeightOp(one.weight).getSymName()));
  const std::string &recompute = plan::Training::Recompute_Name(request.recompute());
  SmallVector<NamedAttribute> attrs{
      located.getNamedAttr("loss", located.getStringAttr("loss")),
      located.getNamedAttr("microbatches", located.getI64IntegerAttr(request.accumulate())),
      located.getNamedAttr("optimizer_sharding",
                           located.getI64IntegerAttr(request.optimizer_sharding())),
      located.getNamedAttr("parameters", located.getArrayAttr(names)),
      located.getNamedAttr("recompute", located.getStringAttr(StringRef(recompute).lower()))};
  module->setAttr("weft.training", located.getDictionaryAttr(attrs));
}

LogicalResult OptimizerBuilder::build() {
  SmallVector<Trained> trained = findTrained();
  if (trained.empty())
    return main.emitError() << "expected gradients to train by, the loss depends on no parameter";
  Operation *end = main.getBody().front().getTerminator();
  SmallVector<Value> gradients;
  for (const Trained &one : trained)
    gradients.push_back(end->getOperand(one.result));
  if (failed(beginStep()))
    return failure();
  for (auto [one, gradient] : llvm::zip_equal(trained, gradients))
    if (failed(update(one, gradient)))
      return failure();
  describe(trained);
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

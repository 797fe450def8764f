#include "compiler/Training/Differentiate.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Training/Passes.h"
#include "passes/Training/Request.h"

namespace weft {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// The trained weights of a module, each with the values that it is loaded as.
using Trained = llvm::MapVector<WeightOp, SmallVector<Value, 1>>;

struct Differentiate : weft::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override;

private:
  LogicalResult differentiateFunction();
  LogicalResult differentiateLoss();
};
} // namespace

static Trained findTrained(ModuleOp module, Block &body) {
  Trained trained;
  llvm::StringMap<WeightOp> names;
  for (auto weight : module.getOps<WeightOp>())
    if (weight.getKind() == WeightKind::Trained) {
      names[weight.getSymName()] = weight;
      trained[weight];
    }
  for (auto load : body.getOps<LoadOp>())
    if (auto weight = names.find(load.getWeight()); weight != names.end())
      trained[weight->second].push_back(load);
  return trained;
}

/// A loss is one number.
static LogicalResult checkLoss(func::FuncOp main, std::optional<unsigned> index) {
  if (!index)
    return main.emitError() << "expected a result of @main with weft.role = \"loss\"";
  auto type = dyn_cast<RankedTensorType>(main.getResultTypes()[*index]);
  if (type && type.getRank() == 0 && isa<FloatType>(type.getElementType()))
    return success();
  return main.emitError() << "expected a loss of one float, got: " << main.getResultTypes()[*index];
}

/// @main returns its loss alone.
static void keepLoss(func::FuncOp main, unsigned index) {
  llvm::BitVector others(main.getNumResults(), true);
  others.reset(index);
  main.getBody().front().getTerminator()->eraseOperands(others);
  (void)main.eraseResults(others);
}

/// The loss's own gradient: 1, or the loss's scale.
static Value buildSeed(OpBuilder &builder, ModuleOp module, Value loss) {
  auto type = cast<RankedTensorType>(loss.getType());
  auto scale = module.lookupSymbol<WeightOp>(lossScaleName);
  if (scale && scale.getType() == type)
    return LoadOp::create(builder, scale.getLoc(), type, lossScaleName);
  auto one = DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), 1.0));
  return ConstantOp::create(builder, loss.getLoc(), one);
}

/// A function beside the one that is asked for has its gradients, too.
LogicalResult Differentiate::differentiateFunction() {
  auto from = getOperation().lookupSymbol<func::FuncOp>(function);
  if (!from || !from.getBody().hasOneBlock())
    return getOperation().emitError()
           << "expected a function @" << function << " with a body of one block";
  std::string name = (gradientPrefix + from.getSymName()).str();
  if (getOperation().lookupSymbol(name))
    return from.emitError() << "has been differentiated: there is a '" << name << "'";
  SmallVector<Variable> variables;
  for (StringRef text : wrt) {
    unsigned number = 0;
    if (text.getAsInteger(10, number))
      variables.emplace_back(text);
    else
      variables.emplace_back(number);
  }
  return success(succeeded(differentiate(from, variables, name)));
}

LogicalResult Differentiate::differentiateLoss() {
  func::FuncOp main = findMain(getOperation());
  if (!main)
    return failure();
  std::optional<unsigned> index = findRole(main, "loss");
  if (failed(checkLoss(main, index)))
    return failure();
  keepLoss(main, *index);
  Block &body = main.getBody().front();
  Trained trained = findTrained(getOperation(), body);
  SmallVector<Value> variables;
  for (auto &[weight, loads] : trained)
    llvm::append_range(variables, loads);
  OpBuilder builder(body.getTerminator());
  Value loss = body.getTerminator()->getOperand(0);
  Value seed = buildSeed(builder, getOperation(), loss);
  auto gradients = buildGradients(builder, Seed{loss, seed}, variables);
  if (failed(gradients))
    return failure();
  ArrayRef<Value> rest = *gradients;
  for (auto &[weight, loads] : trained) {
    Value gradient = sumGradients(builder, rest.take_front(loads.size()));
    rest = rest.drop_front(loads.size());
    if (gradient) {
      appendResult(main, gradient, (gradientPrefix + weight.getSymName()).str(), "gradient");
      continue;
    }
    weight.emitWarning() << "the loss does not depend on '" << weight.getSymName()
                         << "', which is not trained";
    WeightOp(weight).setKind(WeightKind::Parameter);
  }
  return success();
}

void Differentiate::runOnOperation() {
  if (failed(function.empty() ? differentiateLoss() : differentiateFunction()))
    signalPassFailure();
}

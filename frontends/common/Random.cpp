#include "frontends/common/Random.h"

#include "compiler/Training/Random.h"
#include "dialects/Weft/IR/AttentionWeights.h"
#include "frontends/common/ImportError.h"
#include "frontends/common/NodeBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// A scalar state of ui64 that is zero at first.
static void addState(func::FuncOp main, StringRef name, RankedTensorType type) {
  OpBuilder builder(main);
  WeightOp::create(builder, NameLoc::get(builder.getStringAttr(name)), name, type,
                   DenseElementsAttr::get(type, APInt(64, 0)), WeightKind::State);
}

static Value loadState(ImplicitLocOpBuilder &located, StringRef name, RankedTensorType type) {
  auto loc = NameLoc::get(located.getStringAttr(name));
  return LoadOp::create(located, loc, type, name);
}

/// Adds the states, and counts steps.
static void begin(func::FuncOp main, ImplicitLocOpBuilder &located, RankedTensorType type) {
  addState(main, randomSeedName, type);
  addState(main, randomStepName, type);
  Value one = ConstantOp::create(located, DenseElementsAttr::get(type, APInt(64, 1)));
  Value next = AddOp::create(located, loadState(located, randomStepName, type), one);
  StoreOp::create(located, randomStepName, next);
}

/// The key of the model's next random tensor.
static Value nextKey(NodeBuilder &builder) {
  ImplicitLocOpBuilder &located = builder.located;
  auto main = cast<func::FuncOp>(located.getBlock()->getParentOp());
  auto type = RankedTensorType::get({}, located.getIntegerType(64, /*isSigned=*/false));
  if (!main->getParentOfType<ModuleOp>().lookupSymbol(randomStepName))
    begin(main, located, type);
  uint64_t number = llvm::count_if(main.getOps<LoadOp>(),
                                   [](LoadOp load) { return load.getWeight() == randomSeedName; });
  Value seed = loadState(located, randomSeedName, type);
  return buildRandomKey(builder.b, seed, loadState(located, randomStepName, type), number);
}

Dropped weft::frontend::emitDropout(Emitter &emit, Value x, double p, ArrayRef<int64_t> together) {
  expectFloat(x);
  if (!(p >= 0 && p <= 1))
    throw ImportError("expected a probability, got: " + std::to_string(p));
  if (p == 0)
    return {x, emit.splat(typeOf(x).clone(emit.builder.getI1Type()), 1)};
  NodeBuilder builder(emit, "kept");
  Shape shape(frontend::shapeOf(x));
  for (int64_t dim : together)
    shape[dim] = 1;
  Value kept = buildBernoulli(builder.b, shape, nextKey(builder), 1 - p);
  kept = emit.broadcast(kept, frontend::shapeOf(x));
  double scale = p < 1 ? 1 / (1 - p) : 0;
  Value scaled = emit.binary<MulOp>(x, emit.like(x, scale));
  return {emit.select(kept, scaled, emit.like(x, 0)), kept};
}

Value weft::frontend::emitDropout(Emitter &emit, AttentionOp attention, double p) {
  NodeBuilder builder(emit, "attention");
  auto drop = [&](Value weights) { return emitDropout(emit, weights, p).result; };
  Value result = decomposeAttention(builder.located, attention, drop).front();
  attention.erase();
  return result;
}

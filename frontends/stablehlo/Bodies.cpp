#include "frontends/stablehlo/Bodies.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Identity.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// The only operation of a region that joins its two arguments and returns the result; null where
/// the region is something else.
static Operation *findJoin(Region &body) {
  if (!body.hasOneBlock() || body.getNumArguments() != 2)
    return nullptr;
  Block &block = body.front();
  if (block.empty() || &block.front() == &block.back() ||
      block.front().getNextNode() != &block.back())
    return nullptr;
  Operation &join = block.front(), &end = block.back();
  bool returnsIt = join.getNumResults() == 1 && end.getNumOperands() == 1 &&
                   end.getOperand(0) == join.getResult(0);
  if (!returnsIt || join.getNumOperands() != 2)
    return nullptr;
  Value x = block.getArgument(0), y = block.getArgument(1);
  bool joinsThem = (join.getOperand(0) == x && join.getOperand(1) == y) ||
                   (join.getOperand(0) == y && join.getOperand(1) == x);
  return joinsThem ? &join : nullptr;
}

static bool isBool(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && tensor.getElementType().isInteger(1);
}

std::optional<ReduceKind> stablehlo::reduceKindOf(Region &body) {
  Operation *join = findJoin(body);
  if (!join)
    return std::nullopt;
  StringRef name = join->getName().getStringRef();
  using Kind = std::optional<ReduceKind>;
  if (isBool(join->getResult(0)))
    return llvm::StringSwitch<Kind>(name)
        .Cases({"stablehlo.add", "stablehlo.maximum", "stablehlo.or"}, ReduceKind::Max)
        .Cases({"stablehlo.and", "stablehlo.minimum", "stablehlo.multiply"}, ReduceKind::Min)
        .Default(std::nullopt);
  return llvm::StringSwitch<Kind>(name)
      .Case("stablehlo.add", ReduceKind::Sum)
      .Case("stablehlo.maximum", ReduceKind::Max)
      .Case("stablehlo.minimum", ReduceKind::Min)
      .Case("stablehlo.multiply", ReduceKind::Prod)
      .Default(std::nullopt);
}

std::optional<ScatterKind> stablehlo::scatterKindOf(Region &body) {
  if (body.hasOneBlock() && body.getNumArguments() == 2 &&
      body.front().getOperations().size() == 1 && body.front().back().getNumOperands() == 1 &&
      body.front().back().getOperand(0) == body.getArgument(1))
    return ScatterKind::Set;
  std::optional<ReduceKind> kind = reduceKindOf(body);
  if (!kind)
    return std::nullopt;
  switch (*kind) {
  case ReduceKind::Sum:
    return ScatterKind::Add;
  case ReduceKind::Prod:
    return ScatterKind::Mul;
  case ReduceKind::Max:
    return ScatterKind::Max;
  case ReduceKind::Min:
    return ScatterKind::Min;
  }
  return std::nullopt;
}

Value stablehlo::emitJoin(Emitter &emit, ReduceKind kind, Value x, Value y) {
  switch (kind) {
  case ReduceKind::Sum:
    return emit.binary<AddOp>(x, y);
  case ReduceKind::Prod:
    return emit.binary<MulOp>(x, y);
  case ReduceKind::Max:
    return elementOf(x).isInteger(1) ? emit.binary<OrOp>(x, y) : emit.binary<MaxOp>(x, y);
  case ReduceKind::Min:
    return elementOf(x).isInteger(1) ? emit.binary<AndOp>(x, y) : emit.binary<MinOp>(x, y);
  }
  return x;
}

Value stablehlo::emitJoinInit(Emitter &emit, ReduceKind kind, Value x, Value init) {
  Type element = elementOf(x);
  const Tensor *known = emit.valueOf(init);
  if (known && known->isSplat()) {
    Tensor value = *known; // the next constant may move it
    double number = identityOf(kind, element);
    bool isAnyZero = kind == ReduceKind::Sum && storedNumbersOf<double>(value).front() == 0;
    if (isAnyZero || emit.valueOf(emit.like(init, number))->raw() == value.raw())
      return x;
  }
  return emitJoin(emit, kind, emit.broadcast(init, shapeOf(x)), x);
}

// Operations written out (WeftSemantic.td), one case an operation, alphabetical. Attention has a
// file of its own.

#include "dialects/Weft/IR/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

#include "dialects/Weft/IR/DecompositionInterface.cpp.inc"

void weft::decomposeAll(Operation *root, llvm::function_ref<bool(Operation *)> filter) {
  SmallVector<DecomposableOpInterface> found;
  root->walk([&](DecomposableOpInterface op) {
    if (filter(op))
      found.push_back(op);
  });
  for (DecomposableOpInterface op : found) {
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    op->replaceAllUsesWith(op.decompose(builder));
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> dimsFrom(int64_t axis, Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rankOf(value)));
}

/// `x` divided by the root of its mean square, then scaled and shifted where these are given.
static Value normalise(TensorBuilder &b, Value x, Value scale, Value bias, int64_t axis,
                       double epsilon, Type element) {
  SmallVector<int64_t> dims = dimsFrom(axis, x);
  Value result = b.mul(x, b.spread(b.inverseRoot(x, dims, epsilon), x, dims));
  auto type = cast<RankedTensorType>(x.getType());
  if (scale)
    result = b.mul(result, b.broadcast(b.widen(scale), type, dims));
  if (bias)
    result = b.add(result, b.broadcast(b.widen(bias), type, dims));
  return b.castTo(result, element);
}

SmallVector<Value> LayerNormOp::decompose(ImplicitLocOpBuilder &builder) {
  TensorBuilder b(builder);
  Value x = b.widen(getInput());
  SmallVector<int64_t> dims = getNormalisedDims();
  Value centered = b.sub(x, b.spread(b.mean(x, dims), x, dims));
  return {normalise(b, centered, getScale(), getBias(), getAxis(), getEpsilon().convertToDouble(),
                    elementOf(getInput()))};
}

SmallVector<int64_t> LayerNormOp::getNormalisedDims() { return dimsFrom(getAxis(), getInput()); }

SmallVector<Value> RmsNormOp::decompose(ImplicitLocOpBuilder &builder) {
  TensorBuilder b(builder);
  return {normalise(b, b.widen(getInput()), getScale(), Value(), getAxis(),
                    getEpsilon().convertToDouble(), elementOf(getInput()))};
}

SmallVector<int64_t> RmsNormOp::getNormalisedDims() { return dimsFrom(getAxis(), getInput()); }

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &builder) {
  TensorBuilder b(builder);
  Value x = b.widen(getInput());
  SmallVector<int64_t> dims = getNormalisedDims();
  Value top = b.reduce(ReduceKind::Max, x, dims);
  Value exponential = b.make<ExpOp>(b.sub(x, b.spread(top, x, dims)));
  Value inverse = b.make<ReciprocalOp>(b.reduce(ReduceKind::Sum, exponential, dims));
  Value result = b.mul(exponential, b.spread(inverse, x, dims));
  return {b.castTo(result, elementOf(getInput()))};
}

SmallVector<int64_t> SoftmaxOp::getNormalisedDims() { return {static_cast<int64_t>(getAxis())}; }

//===----------------------------------------------------------------------===//
// Functions of scalars
//===----------------------------------------------------------------------===//

namespace {
/// Values that stand for those of a function of scalars: of the whole shape, or scalars where they
/// come of nothing but these.
class ElementMap {
public:
  ElementMap(ImplicitLocOpBuilder &builder, ArrayRef<int64_t> shape) : b(builder), shape(shape) {}

  void set(Value scalar, Value value) { values[scalar] = value; }

  Value getWhole(Value scalar) {
    Value &value = values[scalar];
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return value = ConstantOp::create(b, constant.resizeSplat(type.clone(shape)));
    return value = TensorBuilder(b).broadcast(value, type.clone(shape), {});
  }

  void add(Operation &op) {
    bool isWhole = llvm::any_of(op.getOperands(), [&](Value operand) {
      return cast<ShapedType>(values[operand].getType()).getShape() == shape;
    });
    auto operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) {
      return isWhole ? getWhole(operand) : values[operand];
    });
    auto types = llvm::map_to_vector(op.getResultTypes(), [&](Type type) -> Type {
      return isWhole ? cast<RankedTensorType>(type).clone(shape) : type;
    });
    OperationState state(b.getLoc(), op.getName(), operands, types,
                         op.getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    for (auto [result, made] : llvm::zip_equal(op.getResults(), b.create(state)->getResults()))
      set(result, made);
  }

private:
  ImplicitLocOpBuilder &b;
  ArrayRef<int64_t> shape;
  llvm::DenseMap<Value, Value> values;
};
} // namespace

SmallVector<Value> weft::mapElements(ImplicitLocOpBuilder &builder, func::FuncOp function,
                                     ValueRange operands, ArrayRef<int64_t> shape) {
  ElementMap map(builder, shape);
  Block &body = function.front();
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), operands))
    map.set(argument, operand);
  for (Operation &op : body.without_terminator())
    map.add(op);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value result) { return map.getWhole(result); });
}

SmallVector<Value> MapOp::decompose(ImplicitLocOpBuilder &builder) {
  return mapElements(builder, lookupFunction(), getInputs(), shapeOf(getResult(0)));
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Joins the halves of pairs: element by element, or one half behind the other.
static SmallVector<Value> joinPairs(TensorBuilder &b, Value low, Value high, bool interleaved) {
  if (!interleaved)
    return {low, high};
  SmallVector<int64_t> single(shapeOf(low)), joined(shapeOf(low));
  single.push_back(1);
  joined.back() *= 2;
  Value parts[] = {b.reshape(low, single), b.reshape(high, single)};
  return {b.reshape(b.make<ConcatOp>(ValueRange(parts), 4), joined)};
}

/// Slices the pairs apart, rotates them, and joins them again.
SmallVector<Value> RotaryOp::decompose(ImplicitLocOpBuilder &builder) {
  TensorBuilder b(builder);
  Value x = b.widen(getInput());
  SmallVector<int64_t> shape(shapeOf(x)), part(shape), ones(4, 1), steps(4, 1), zero(4, 0);
  int64_t half = shapeOf(getCos()).back(), rest = shape[3] - 2 * half;
  bool interleaved = getInterleaved();
  SmallVector<int64_t> second(4, 0);
  part[3] = half;
  steps[3] = interleaved ? 2 : 1;
  second[3] = interleaved ? 1 : half;
  Value first = b.slice(x, zero, part, steps), other = b.slice(x, second, part, steps);
  auto table = [&](Value of) {
    return b.broadcast(b.widen(of), RankedTensorType::get(part, elementOf(x)), {0, 2, 3});
  };
  Value cosine = table(getCos()), sine = table(getSin());
  Value low = b.sub(b.mul(first, cosine), b.mul(other, sine));
  Value high = b.add(b.mul(other, cosine), b.mul(first, sine));
  SmallVector<Value> parts = joinPairs(b, low, high, interleaved);
  if (rest > 0) {
    part[3] = rest;
    zero[3] = 2 * half;
    parts.push_back(b.slice(x, zero, part, ones));
  }
  Value result = parts.size() == 1 ? parts[0] : b.make<ConcatOp>(parts, 3);
  return {b.castTo(result, elementOf(getInput()))};
}

// Gradients of WeftSemantic.td, one case an operation, alphabetical; convolutions are in
// GradientsWindows.cpp. What narrow floats would round away is computed in f32.

#include "dialects/Weft/IR/GradientBuilder.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The same attention with the logarithms of its sums, which are f32 at least.
static AttentionOp withLogSums(AttentionOp op) {
  OpBuilder builder(op);
  Type element = elementOf(op.getQuery());
  if (isNarrowFloat(element))
    element = builder.getF32Type();
  auto type = RankedTensorType::get(shapeOf(op.getResult()).drop_back(), element);
  return AttentionOp::create(builder, op.getLoc(), TypeRange{op.getResult().getType(), type},
                             op->getOperands(), op->getAttrs());
}

/// A gradient of the bias or of the logarithms is left to what attention consists of.
LogicalResult AttentionOp::buildGradients(GradientBuilder &b) {
  bool hasBiasGradient = llvm::any_of(getBiasMutable(), [&](OpOperand &o) { return b.wants(o); });
  if (hasBiasGradient || (getLse() && b.has(1)))
    return failure();
  AttentionOp op = *this;
  if (!getLse()) {
    op = withLogSums(op);
    b.replaceWith(op.getResult());
  }
  auto backward = b.makeOp<AttentionBackwardOp>(
      op.getQuery().getType(), op.getKey().getType(), op.getValue().getType(), op.getQuery(),
      op.getKey(), op.getValue(), op.getMask(), op.getBias(), op.getResult(), op.getLse(), b.of(),
      op.getScaleAttr(), op.getCausalAttr(), op.getQueryOffsetAttr(), op.getWindowAttr(),
      op.getSoftcapAttr(), op.getMaskedRowsAttr());
  for (unsigned operand : {0, 1, 2})
    if (b.wants(operand))
      b.set(operand, backward->getResult(operand));
  return success();
}

/// It is written out, and that is differentiated.
LogicalResult AttentionBackwardOp::buildGradients(GradientBuilder &) { return failure(); }

/// So is what is done to each element.
LogicalResult MapOp::buildGradients(GradientBuilder &) { return failure(); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// One side of a product: which of the result's dimensions its own are.
struct ProductSide {
  Value value;
  ArrayRef<int64_t> batch, contract;
  SmallVector<int64_t> free;     ///< its other dimensions
  SmallVector<int64_t> inResult; ///< where these are in the result

  ProductSide(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract, int64_t before)
      : value(value), batch(batch), contract(contract) {
    for (int64_t dim = 0; dim < rankOf(value); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
        free.push_back(dim);
        inResult.push_back(before++);
      }
  }
};
} // namespace

/// Which dimension of `own` each dimension is of the product of the result's gradient with `other`:
/// batch dimensions, then the gradient's own, then the other's (in this order if `gradientFirst`).
static SmallVector<int64_t> productDims(const ProductSide &own, const ProductSide &other,
                                        bool gradientFirst) {
  SmallVector<int64_t> dims(own.batch), contracted;
  for (int64_t dim = 0; dim < rankOf(other.value); ++dim)
    if (const int64_t *place = llvm::find(other.contract, dim); place != other.contract.end())
      contracted.push_back(own.contract[place - other.contract.begin()]);
  llvm::append_range(dims, gradientFirst ? ArrayRef(own.free) : ArrayRef(contracted));
  llvm::append_range(dims, gradientFirst ? ArrayRef(contracted) : ArrayRef(own.free));
  return dims;
}

static bool isIdentity(ArrayRef<int64_t> dims) {
  return llvm::all_of(llvm::enumerate(dims),
                      [](auto each) { return each.value() == int64_t(each.index()); });
}

/// The gradient of one side: the result's gradient times the other side, with the operands in that
/// order that leaves least to transpose.
static Value productGradient(GradientBuilder &b, const ProductSide &own, const ProductSide &other) {
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, own.batch.size()));
  SmallVector<int64_t> first = productDims(own, other, /*gradientFirst=*/true);
  SmallVector<int64_t> second = productDims(own, other, /*gradientFirst=*/false);
  int64_t last = rankOf(own.value) - 1;
  bool keepsRows = last < 0 || first[last] == last;
  bool gradientFirst = isIdentity(first) || (!isIdentity(second) && keepsRows);
  Value product = gradientFirst ? b.make<DotGeneralOp>(b.of(), other.value, batch, other.batch,
                                                       other.inResult, other.free)
                                : b.make<DotGeneralOp>(other.value, b.of(), other.batch, batch,
                                                       other.free, other.inResult);
  ArrayRef<int64_t> dims = gradientFirst ? first : second;
  return isIdentity(dims) ? product : b.make<TransposeOp>(product, invertPermutationVector(dims));
}

LogicalResult DotGeneralOp::buildGradients(GradientBuilder &b) {
  int64_t batch = getLhsBatch().size();
  int64_t ofLeft = rankOf(getLhs()) - batch - getLhsContract().size();
  ProductSide lhs(getLhs(), getLhsBatch(), getLhsContract(), batch);
  ProductSide rhs(getRhs(), getRhsBatch(), getRhsContract(), batch + ofLeft);
  if (b.wants(0))
    b.set(0, productGradient(b, lhs, rhs));
  if (b.wants(1))
    b.set(1, productGradient(b, rhs, lhs));
  return success();
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

namespace {
/// Gradients of normalised = x · factor, where `x` is centered for a layer norm, and of the scale
/// and bias behind it. Statistics are computed as decompositions do it, so that they are shared.
class NormGradient {
public:
  NormGradient(GradientBuilder &b, Value x, Value scale, ArrayRef<int64_t> dims, double epsilon)
      : b(b), dims(dims), x(x), gradient(b.widen(b.of())), scale(scale) {
    factor = b.spread(b.inverseRoot(x, dims, epsilon), x, dims);
    normalised = b.mul(x, factor);
  }

  Value ofInput(bool isCentered) {
    Value scaled = gradient;
    if (scale)
      scaled =
          b.mul(gradient, b.broadcast(b.widen(scale), cast<RankedTensorType>(x.getType()), dims));
    Value along = b.spread(b.mean(b.mul(scaled, normalised), dims), x, dims);
    Value rest = b.sub(scaled, b.mul(normalised, along));
    if (isCentered)
      rest = b.sub(rest, b.spread(b.mean(scaled, dims), x, dims));
    return b.mul(rest, factor);
  }
  Value ofScale() { return sumRows(b.mul(gradient, normalised)); }
  Value ofBias() { return sumRows(gradient); }

private:
  Value sumRows(Value value) {
    SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, dims.front()));
    Value sum = rows.empty() ? value : b.reduce(ReduceKind::Sum, value, rows);
    return b.castTo(sum, elementOf(b.of()));
  }

  GradientBuilder &b;
  SmallVector<int64_t> dims;
  Value x, gradient, scale, factor, normalised;
};
} // namespace

LogicalResult LayerNormOp::buildGradients(GradientBuilder &b) {
  Value x = b.widen(getInput());
  SmallVector<int64_t> dims = getNormalisedDims();
  Value centered = b.sub(x, b.spread(b.mean(x, dims), x, dims));
  NormGradient norm(b, centered, getScale(), dims, getEpsilon().convertToDouble());
  if (b.wants(0))
    b.set(0, b.castTo(norm.ofInput(/*isCentered=*/true), elementOf(getInput())));
  b.setIfWanted(getScaleMutable(), [&] { return norm.ofScale(); });
  b.setIfWanted(getBiasMutable(), [&] { return norm.ofBias(); });
  return success();
}

LogicalResult RmsNormOp::buildGradients(GradientBuilder &b) {
  NormGradient norm(b, b.widen(getInput()), getScale(), getNormalisedDims(),
                    getEpsilon().convertToDouble());
  if (b.wants(0))
    b.set(0, b.castTo(norm.ofInput(/*isCentered=*/false), elementOf(getInput())));
  b.setIfWanted(getScaleMutable(), [&] { return norm.ofScale(); });
  return success();
}

/// The rotation back. Where the angles have a gradient, the operation is written out.
LogicalResult RotaryOp::buildGradients(GradientBuilder &b) {
  if (b.wants(1) || b.wants(2))
    return failure();
  b.set(0, b.make<RotaryOp>(b.of().getType(), b.of(), getCos(), b.make<NegOp>(getSin()),
                            getInterleaved()));
  return success();
}

/// y · (g - Σ g·y)
LogicalResult SoftmaxOp::buildGradients(GradientBuilder &b) {
  Value y = b.widen(getResult()), gradient = b.widen(b.of());
  SmallVector<int64_t> dims = getNormalisedDims();
  Value along = b.reduce(ReduceKind::Sum, b.mul(gradient, y), dims);
  Value result = b.mul(y, b.sub(gradient, b.spread(along, y, dims)));
  b.set(0, b.castTo(result, elementOf(getInput())));
  return success();
}

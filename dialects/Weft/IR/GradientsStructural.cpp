// Gradients of WeftStructural.td and WeftSymbols.td, one case an operation, alphabetical. Gathers
// and scatters have a file of their own, and so have windows.

#include "dialects/Weft/IR/GradientBuilder.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Functions that are constant between their steps, and integers, have no gradient but zero.
#define WEFT_GRADIENT_ZERO(OP)                                                                     \
  LogicalResult OP::buildGradients(GradientBuilder &) { return success(); }

static RankedTensorType scalarOf(Value value) {
  return RankedTensorType::get({}, elementOf(value));
}

/// The sum over all elements.
static Value total(GradientBuilder &b, Value value) {
  return b.reduce(ReduceKind::Sum, value, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value))));
}

/// The elements of `value` with `strides` - 1 zeros between neighbours.
static Value dilate(GradientBuilder &b, Value value, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> single, high, joined, dense;
  for (auto [extent, stride] : llvm::zip_equal(shapeOf(value), strides)) {
    single.append({extent, 1});
    high.append({0, stride - 1});
    joined.push_back(extent * stride);
    dense.push_back(extent == 0 ? 0 : (extent - 1) * stride + 1);
  }
  if (dense == shapeOf(value))
    return value;
  SmallVector<int64_t> none(high.size(), 0), starts(strides.size(), 0), ones(strides.size(), 1);
  Value zero = b.splat(scalarOf(value), 0.0);
  Value rows = b.make<PadOp>(b.reshape(value, single), zero, none, high);
  return b.slice(b.reshape(rows, joined), starts, dense, ones);
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::buildGradients(GradientBuilder &b) {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  SmallVector<int64_t> repeated;
  for (int64_t dim = 0; dim < rankOf(getResult()); ++dim) {
    const int64_t *own = llvm::find(getDims(), dim);
    bool isNew = own == getDims().end();
    if (isNew || from[own - getDims().begin()] != to[dim])
      repeated.push_back(dim);
  }
  Value sum = repeated.empty() ? b.of() : b.reduce(ReduceKind::Sum, b.of(), repeated);
  b.set(0, shapeOf(sum) == from ? sum : b.reshape(sum, from));
  return success();
}

LogicalResult ConcatOp::buildGradients(GradientBuilder &b) {
  SmallVector<int64_t> starts(rankOf(getResult()), 0), ones(starts.size(), 1);
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    if (b.wants(number))
      b.set(number, b.slice(b.of(), starts, shapeOf(input), ones));
    starts[getAxis()] += shapeOf(input)[getAxis()];
  }
  return success();
}

WEFT_GRADIENT_ZERO(ConstantOp)

LogicalResult CumsumOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.make<CumsumOp>(b.of().getType(), b.of(), getAxis(), getExclusive(), !getReverse()));
  return success();
}

WEFT_GRADIENT_ZERO(IotaOp)
WEFT_GRADIENT_ZERO(LoadOp)

LogicalResult PadOp::buildGradients(GradientBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(getInput());
  if (b.wants(0))
    b.set(0, b.slice(b.of(), getLow(), shape, SmallVector<int64_t>(shape.size(), 1)));
  if (b.wants(1)) {
    auto flags = [&](ArrayRef<int64_t> shape, bool value) -> Value {
      auto type = RankedTensorType::get(shape, Builder(getContext()).getI1Type());
      return b.make<ConstantOp>(DenseElementsAttr::get(type, value));
    };
    Value added = b.make<PadOp>(flags(shape, false), flags({}, true), getLow(), getHigh());
    b.set(1, total(b, b.make<SelectOp>(added, b.of(), b.splat(b.of(), 0.0))));
  }
  return success();
}

LogicalResult ReshapeOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.reshape(b.of(), shapeOf(getInput())));
  return success();
}

LogicalResult ReverseOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.make<ReverseOp>(b.of().getType(), b.of(), getDims()));
  return success();
}

LogicalResult SliceOp::buildGradients(GradientBuilder &b) {
  Value gradient = dilate(b, b.of(), getStrides());
  SmallVector<int64_t> high;
  for (auto [whole, start, extent] :
       llvm::zip_equal(shapeOf(getInput()), getStarts(), shapeOf(gradient)))
    high.push_back(whole - start - extent);
  b.set(0, b.make<PadOp>(gradient, b.splat(scalarOf(gradient), 0.0), getStarts(), high));
  return success();
}

LogicalResult SortOp::buildGradients(GradientBuilder &b) {
  if (!b.has(0))
    return success();
  b.set(0, b.make<ScatterElementsOp>(getInput().getType(), ScatterKind::Add,
                                     b.splat(getInput(), 0.0), getPositions(), b.of(), getAxis()));
  return success();
}

/// A product transposed, where that is the product of its operands in the other order; else null.
/// The gradient of a weight that a product reads transposed is written as the weight lies.
static Value transposedProduct(GradientBuilder &b, Value value, ArrayRef<int64_t> permutation) {
  auto product = value.getDefiningOp<DotGeneralOp>();
  if (!product || !product->use_empty())
    return {};
  int64_t batches = product.getLhsBatch().size();
  int64_t right = rankOf(product.getLhs()) - product.getLhsContract().size();
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  llvm::append_range(swapped, llvm::seq<int64_t>(right, rankOf(value)));
  llvm::append_range(swapped, llvm::seq<int64_t>(batches, right));
  if (permutation != ArrayRef<int64_t>(swapped))
    return {};
  return b.make<DotGeneralOp>(product.getRhs(), product.getLhs(), product.getRhsBatch(),
                              product.getLhsBatch(), product.getRhsContract(),
                              product.getLhsContract());
}

LogicalResult TransposeOp::buildGradients(GradientBuilder &b) {
  SmallVector<int64_t> back = invertPermutationVector(getPermutation());
  Value gradient = b.of(), product = transposedProduct(b, gradient, back);
  b.set(0, product ? product : b.make<TransposeOp>(gradient, back));
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The elements that are the result share its gradient evenly.
static Value extremeGradient(GradientBuilder &b, ReduceOp op) {
  // Found once more, behind a barrier: where the elements are computed again, so is what they are
  // compared with.
  Value input = b.make<BarrierOp>(op.getInput());
  Value extreme = b.reduce(op.getKind(), input, op.getDims());
  Value same =
      b.make<CompareOp>(CompareDirection::EQ, input, b.spread(extreme, input, op.getDims()));
  Value gradient = b.widen(b.of());
  Value hits = b.castTo(same, elementOf(gradient));
  Value share = b.make<DivOp>(gradient, b.reduce(ReduceKind::Sum, hits, op.getDims()));
  return b.castTo(b.mul(hits, b.spread(share, hits, op.getDims())), elementOf(input));
}

/// The product of the others, which is not that of all divided by the element where that is zero.
static Value productGradient(GradientBuilder &b, ReduceOp op) {
  Value x = op.getInput(), none = b.splat(x, 0.0), one = b.splat(x, 1.0);
  ArrayRef<int64_t> dims = op.getDims();
  Value isZero = b.make<CompareOp>(CompareDirection::EQ, x, none);
  Value zero = b.castTo(isZero, elementOf(x));
  Value zeros = b.spread(b.reduce(ReduceKind::Sum, zero, dims), x, dims);
  Value others = b.make<SelectOp>(isZero, one, x);
  Value product = b.spread(b.mul(b.of(), b.reduce(ReduceKind::Prod, others, dims)), x, dims);
  Value hasOther = b.make<CompareOp>(CompareDirection::GT, b.sub(zeros, zero), none);
  return b.make<SelectOp>(hasOther, none, b.make<DivOp>(product, others));
}

LogicalResult ReduceOp::buildGradients(GradientBuilder &b) {
  switch (getKind()) {
  case ReduceKind::Sum:
    b.set(0, b.spread(b.of(), getInput(), getDims()));
    return success();
  case ReduceKind::Max:
  case ReduceKind::Min:
    b.set(0, extremeGradient(b, *this));
    return success();
  case ReduceKind::Prod:
    b.set(0, productGradient(b, *this));
    return success();
  }
  return failure();
}

#undef WEFT_GRADIENT_ZERO

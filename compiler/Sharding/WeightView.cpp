#include "compiler/Sharding/WeightView.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

bool weft::isView(Operation *op) { return isa<ReshapeOp, SliceOp, TransposeOp>(op); }

/// Row-major strides of a shape.
static SmallVector<int64_t, 4> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

WeightView WeightView::whole(FlatSymbolRefAttr weight, ArrayRef<int64_t> shape) {
  return {weight, 0, llvm::to_vector<4>(shape), rowMajor(shape)};
}

WeightView WeightView::transposed(ArrayRef<int64_t> permutation) const {
  WeightView view{weight, start, {}, {}};
  for (int64_t dim : permutation) {
    view.shape.push_back(shape[dim]);
    view.strides.push_back(strides[dim]);
  }
  return view;
}

WeightView WeightView::sliced(ArrayRef<int64_t> starts, ArrayRef<int64_t> steps,
                              ArrayRef<int64_t> newShape) const {
  WeightView view{weight, start, llvm::to_vector<4>(newShape), {}};
  for (auto [begin, step, stride] : llvm::zip_equal(starts, steps, strides)) {
    view.start += begin * stride;
    view.strides.push_back(step * stride);
  }
  return view;
}

/// Walks both shapes from the major end, in runs of dimensions of equal products. Within a run the
/// old dimensions must follow each other in memory; the new ones then divide it row-major.
std::optional<WeightView> WeightView::reshaped(ArrayRef<int64_t> newShape) const {
  if (llvm::is_contained(newShape, 0))
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>, 4> old; // sizes > 1 with their strides
  for (auto [size, stride] : llvm::zip_equal(shape, strides))
    if (size != 1)
      old.push_back({size, stride});
  WeightView view{weight, start, llvm::to_vector<4>(newShape),
                  SmallVector<int64_t, 4>(newShape.size(), 1)};
  size_t next = 0, dim = 0;
  while (dim < newShape.size()) {
    if (newShape[dim] == 1) {
      ++dim;
      continue;
    }
    size_t firstOld = next, firstNew = dim;
    int64_t oldProduct = old[next++].first, newProduct = newShape[dim++];
    while (oldProduct != newProduct) {
      if (oldProduct < newProduct)
        oldProduct *= old[next++].first;
      else
        newProduct *= newShape[dim++];
    }
    for (size_t index = firstOld; index + 1 < next; ++index)
      if (old[index].second != old[index + 1].first * old[index + 1].second)
        return std::nullopt;
    int64_t stride = old[next - 1].second;
    for (size_t index = dim; index-- > firstNew; stride *= newShape[index])
      view.strides[index] = stride;
  }
  return view;
}

std::optional<WeightView> WeightView::through(Operation *op) const {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transposed(transpose.getPermutation());
  if (auto slice = dyn_cast<SliceOp>(op))
    return sliced(slice.getStarts(), slice.getStrides(),
                  cast<ShapedType>(slice.getType()).getShape());
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshaped(cast<ShapedType>(reshape.getType()).getShape());
  return std::nullopt;
}

/// The axes of a dimension that a reshape takes apart, (3, heads, size), on its first factor that
/// they divide: each of three parts is split like the whole.
static std::optional<FactorAxes> splitParts(const FactorRule &rule, const TensorSharding &operand) {
  FactorAxes axes(rule.factors.size());
  for (auto [factors, own] : llvm::zip_equal(rule.operands.front(), operand.dims)) {
    if (own.empty())
      continue;
    auto place = llvm::find_if(factors, [&](unsigned factor) {
      return rule.factors[factor].kind == FactorKind::Parallel &&
             rule.factors[factor].size % blocks(own) == 0;
    });
    if (place == factors.end())
      return std::nullopt;
    axes[*place] = own;
  }
  return axes;
}

std::optional<TensorSharding> weft::seeThrough(Operation *view, const FactorRule &rule,
                                               const TensorSharding &operand) {
  if (auto slice = dyn_cast<SliceOp>(view)) {
    ArrayRef<int64_t> from = cast<ShapedType>(slice.getInput().getType()).getShape(),
                      to = cast<ShapedType>(slice.getType()).getShape();
    for (auto [before, after, axes] : llvm::zip_equal(from, to, operand.dims))
      if (before != after && after % blocks(axes) != 0)
        return std::nullopt;
    return operand;
  }
  ToFactors factors = projectToFactors(rule, rule.operands.front(), operand);
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, factors.axes))
    factors.exact &= axes.empty() || factor.kind == FactorKind::Parallel;
  if (factors.exact)
    return factorsToSharding(rule, rule.results.front(), factors.axes).sharding;
  std::optional<FactorAxes> parts = isa<ReshapeOp>(view) ? splitParts(rule, operand) : std::nullopt;
  ToTensor made = parts ? factorsToSharding(rule, rule.results.front(), *parts) : ToTensor();
  return parts && made.exact ? std::optional(made.sharding) : std::nullopt;
}

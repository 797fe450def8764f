#include "dialects/Weft/IR/ViewChain.h"

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

using Factors = ViewChain::Factors;

ViewChain::ViewChain(ArrayRef<int64_t> shape) : sourceShape(shape), resultShape(shape) {
  for (int64_t size : shape) {
    sourceDims.emplace_back();
    if (size == 1)
      continue;
    sourceDims.back().push_back(sizes.size());
    sizes.push_back(size);
  }
  resultDims = sourceDims;
}

std::optional<std::pair<Value, ViewChain>> ViewChain::endingIn(Value value) {
  SmallVector<Operation *> steps;
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp())) {
    steps.push_back(value.getDefiningOp());
    value = steps.back()->getOperand(0);
  }
  if (steps.empty() || llvm::is_contained(shapeOf(value), 0))
    return std::nullopt;
  ViewChain chain(shapeOf(value));
  for (Operation *step : llvm::reverse(steps)) {
    if (auto op = dyn_cast<TransposeOp>(step))
      chain.transpose(op.getPermutation());
    else if (!chain.reshape(shapeOf(step->getResult(0))))
      return std::nullopt;
  }
  return std::pair(value, chain);
}

void ViewChain::transpose(ArrayRef<int64_t> permutation) {
  SmallVector<Factors> dims;
  Shape shape;
  for (int64_t dim : permutation) {
    dims.push_back(resultDims[dim]);
    shape.push_back(resultShape[dim]);
  }
  resultDims = std::move(dims);
  resultShape = std::move(shape);
}

/// Replaces a factor by (major, rest) wherever it stands; the rest gets a new number.
void ViewChain::split(unsigned factor, int64_t major) {
  unsigned rest = sizes.size();
  sizes.push_back(sizes[factor] / major);
  sizes[factor] = major;
  for (SmallVector<Factors> *dims : {&sourceDims, &resultDims})
    for (Factors &list : *dims)
      if (auto *at = llvm::find(list, factor); at != list.end())
        list.insert(at + 1, rest);
}

bool ViewChain::reshape(ArrayRef<int64_t> shape) {
  SmallVector<unsigned> flat;
  for (const Factors &dim : resultDims)
    llvm::append_range(flat, dim);
  SmallVector<Factors> dims;
  size_t next = 0;
  for (int64_t size : shape) {
    dims.emplace_back();
    while (size > 1) {
      unsigned factor = flat[next];
      if (size % sizes[factor] != 0) {
        if (sizes[factor] % size != 0)
          return false;
        split(factor, size);
        flat.insert(flat.begin() + next + 1, sizes.size() - 1);
      }
      size /= sizes[factor];
      dims.back().push_back(factor);
      ++next;
    }
  }
  resultDims = std::move(dims);
  resultShape.assign(shape.begin(), shape.end());
  return true;
}

static SmallVector<unsigned> flatten(ArrayRef<Factors> dims) {
  SmallVector<unsigned> flat;
  for (const Factors &dim : dims)
    llvm::append_range(flat, dim);
  return flat;
}

/// Whether each dimension's factors stand together, in order, in `flat`.
static bool standTogether(ArrayRef<Factors> dims, ArrayRef<unsigned> flat) {
  return llvm::all_of(dims, [&](const Factors &dim) {
    if (dim.empty())
      return true;
    size_t start = llvm::find(flat, dim.front()) - flat.begin();
    return flat.slice(start).take_front(dim.size()) == ArrayRef<unsigned>(dim);
  });
}

static int64_t countUnits(ArrayRef<Factors> dims) {
  return llvm::count_if(dims, [](const Factors &dim) { return dim.empty(); });
}

/// The transpose from dimensions to the same in another order; unit dimensions keep theirs.
ViewChain::Step ViewChain::transposeTo(ArrayRef<Factors> from, ArrayRef<int64_t> fromShape,
                                       ArrayRef<Factors> to) const {
  Step step;
  size_t unit = 0;
  for (const Factors &dim : to) {
    size_t at = 0;
    if (dim.empty()) {
      while (!from[unit].empty())
        ++unit;
      at = unit++;
    } else {
      at = llvm::find(from, dim) - from.begin();
    }
    step.permutation.push_back(at);
    step.shape.push_back(fromShape[at]);
  }
  return step;
}

/// `dims` in the order in which their factors stand in `flat`, units first.
static SmallVector<Factors> sortedBy(ArrayRef<Factors> dims, ArrayRef<unsigned> flat) {
  SmallVector<Factors> sorted;
  llvm::copy_if(dims, std::back_inserter(sorted), [](const Factors &dim) { return dim.empty(); });
  for (unsigned factor : flat)
    for (const Factors &dim : dims)
      if (!dim.empty() && dim.front() == factor)
        sorted.push_back(dim);
  return sorted;
}

/// Runs of factors that are neighbours in both orders, as dimensions in the order of `flat`.
static SmallVector<Factors> commonRuns(ArrayRef<unsigned> flat, ArrayRef<unsigned> other) {
  SmallVector<Factors> runs;
  for (unsigned factor : flat) {
    size_t at = llvm::find(other, factor) - other.begin();
    if (!runs.empty() && at > 0 && other[at - 1] == runs.back().back())
      runs.back().push_back(factor);
    else
      runs.push_back({factor});
  }
  return runs;
}

SmallVector<ViewChain::Step, 3> ViewChain::plan() const {
  SmallVector<unsigned> from = flatten(sourceDims), to = flatten(resultDims);
  SmallVector<Step, 3> steps;
  auto shapeOfDims = [&](ArrayRef<Factors> dims) {
    Shape shape;
    for (const Factors &dim : dims) {
      shape.push_back(1);
      for (unsigned factor : dim)
        shape.back() *= sizes[factor];
    }
    return shape;
  };
  auto reshapeTo = [&](ArrayRef<int64_t> present, ArrayRef<int64_t> shape) {
    if (present != shape)
      steps.push_back({{}, Shape(shape)});
  };
  bool wholeSource = standTogether(sourceDims, to), wholeResult = standTogether(resultDims, from);
  bool sameDims = countUnits(sourceDims) == countUnits(resultDims) &&
                  llvm::all_of(resultDims, [&](const Factors &dim) {
                    return dim.empty() || llvm::is_contained(sourceDims, dim);
                  });
  if (from == to) {
    reshapeTo(sourceShape, resultShape);
  } else if (sameDims) {
    steps.push_back(transposeTo(sourceDims, sourceShape, resultDims));
  } else if (wholeResult) {
    SmallVector<Factors> sorted = sortedBy(resultDims, from);
    reshapeTo(sourceShape, shapeOfDims(sorted));
    steps.push_back(transposeTo(sorted, shapeOfDims(sorted), resultDims));
  } else if (wholeSource) {
    steps.push_back(transposeTo(sourceDims, sourceShape, sortedBy(sourceDims, to)));
    reshapeTo(steps.back().shape, resultShape);
  } else {
    SmallVector<Factors> runs = commonRuns(from, to);
    reshapeTo(sourceShape, shapeOfDims(runs));
    steps.push_back(transposeTo(runs, shapeOfDims(runs), sortedBy(runs, to)));
    reshapeTo(steps.back().shape, resultShape);
  }
  return steps;
}

bool weft::isWeightView(Value value) {
  while (isa_and_nonnull<ReshapeOp, SliceOp, TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return isa_and_nonnull<LoadOp>(value.getDefiningOp());
}

Value weft::buildViews(OpBuilder &builder, Location loc, Value source,
                       ArrayRef<ViewChain::Step> steps) {
  for (const ViewChain::Step &step : steps) {
    auto type = RankedTensorType::get(step.shape, elementOf(source));
    if (step.permutation.empty())
      source = ReshapeOp::create(builder, loc, type, source);
    else
      source = TransposeOp::create(builder, loc, type, source, step.permutation);
  }
  return source;
}

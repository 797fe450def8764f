// Slices of what is computed of weights become slices of the weights, by factor rules: where a
// dimension of the result is a factor that shards could compute by themselves, part of it is
// computed of part of the operands. Of experts whose weights are looked up, and whose columns are
// two matrices side by side,
//
//   %0 = gather %w, %ids axis 0   : 8x64x128, 16 -> 16x64x128
//   %1 = dot_general %x, %0       : 16x64, 16x64x128 -> 16x128
//   %2 = slice %1 starts [0, 64]  : 16x128 to 16x64
//
// the last one is a product with what is looked up in `slice %w starts [0, 0, 64]`, a view that
// costs nothing. Parts of a concatenation, each of one operand, are computed of those: queries,
// keys and values that one convolution takes are convolved apart, so that each may be split.

#include "dialects/Weft/IR/FactorRule.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

using namespace mlir;
using namespace weft;

namespace {
/// Elements of a dimension: `size` of them, `stride` apart.
struct Range {
  int64_t start = 0, size = 0, stride = 1;
  bool operator==(const Range &) const = default;
};

/// Of each dimension (of each factor) what is taken, if not all of it.
using Ranges = SmallVector<std::optional<Range>, 4>;

/// How an operation is computed in part: of each operand and factor what is needed.
struct Part {
  Ranges factors;
  SmallVector<Ranges, 3> operands;
};

/// What an operation asks when it is rebuilt for part of its factors.
class PartShards final : public LocalShards {
public:
  PartShards(const FactorRule &rule, const Ranges &factors) : rule(rule), factors(factors) {}

  bool isSplit(unsigned factor) const override { return factors[factor].has_value(); }
  int64_t localSize(unsigned factor) const override {
    return factors[factor] ? factors[factor]->size : rule.factors[factor].size;
  }
  Value offset(OpBuilder &builder, Location loc, unsigned factor) override {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    int64_t start = factors[factor] ? factors[factor]->start : 0;
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, start));
  }

private:
  const FactorRule &rule;
  const Ranges &factors;
};

/// Moves part of what is sliced, if everything that is computed for it can be computed in part.
class SliceMover {
public:
  SliceMover(PatternRewriter &rewriter, SliceOp root, Ranges ranges, bool passesViews)
      : rewriter(rewriter), root(root), ranges(std::move(ranges)), passesViews(passesViews) {}

  /// Whether the part can be moved, and ends at a weight behind something that is computed.
  bool plan();
  Value move();
  const Ranges &getRanges() const { return ranges; }

private:
  bool visit(Value value, const Ranges &ranges, unsigned depth);
  bool visitOperands(Operation *op, const Ranges &ranges, unsigned depth);
  bool isReadHere();
  Value take(Value value, const Ranges &ranges);
  Value compute(Operation *op, const Ranges &ranges);
  Value slice(Value value, const Ranges &ranges);

  PatternRewriter &rewriter;
  SliceOp root;
  Ranges ranges; ///< of what the root slices
  bool passesViews;
  llvm::SetVector<Operation *> cone;
  llvm::DenseMap<Value, Ranges> wanted; ///< of each value that is computed in part
  llvm::DenseMap<Value, Value> made;
  bool meetsWeight = false, computes = false;
};
} // namespace

/// The factor that leads a dimension, and how many elements one of its steps is; none of a
/// dimension of size 1.
static std::optional<std::pair<unsigned, int64_t>> leadOf(const FactorRule &rule,
                                                          const DimFactors &dim) {
  std::optional<unsigned> lead;
  int64_t unit = 1;
  for (unsigned factor : dim) {
    if (lead)
      unit *= rule.factors[factor].size;
    else if (rule.factors[factor].size > 1)
      lead = factor;
  }
  return lead ? std::optional(std::pair(*lead, unit)) : std::nullopt;
}

/// The part of a dimension's leading factor that is part of the dimension; none where it is none.
static std::optional<Range> toFactor(const Range &range, int64_t unit) {
  if (unit == 1)
    return range;
  if (range.stride != 1 || range.start % unit != 0 || range.size % unit != 0)
    return std::nullopt;
  return Range{range.start / unit, range.size / unit, 1};
}

/// What is needed of an operand for these parts of factors; none where it is no slice of it.
static std::optional<Ranges> toOperand(const FactorRule &rule, const TensorFactors &operand,
                                       const Ranges &factors) {
  Ranges ranges(operand.size());
  for (auto [dim, own] : llvm::enumerate(operand))
    for (unsigned factor : own) {
      if (!factors[factor])
        continue;
      auto [lead, unit] = *leadOf(rule, own);
      Range range = *factors[factor];
      if (lead != factor || (unit != 1 && range.stride != 1))
        return std::nullopt;
      ranges[dim] = Range{range.start * unit, range.size * unit, range.stride};
    }
  return ranges;
}

/// How an operation makes these parts of its result; none where it cannot.
static std::optional<Part> partOf(Operation *op, const Ranges &ranges) {
  auto described = dyn_cast<FactorRuleOpInterface>(op);
  // A scatter counts its rows from where a shard starts, which a stride has not.
  if (!described || op->getNumResults() != 1 || isa<ScatterElementsOp, ScatterNdOp>(op))
    return std::nullopt;
  FactorRule rule = described.getFactorRule();
  Part part;
  part.factors.resize(rule.factors.size());
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    if (!range)
      continue;
    auto lead = leadOf(rule, rule.results[0][dim]);
    std::optional<Range> own = lead ? toFactor(*range, lead->second) : std::nullopt;
    if (!own || rule.factors[lead->first].kind != FactorKind::Parallel)
      return std::nullopt;
    part.factors[lead->first] = own;
  }
  for (const TensorFactors &operand : rule.operands) {
    std::optional<Ranges> needed = toOperand(rule, operand, part.factors);
    if (!needed)
      return std::nullopt;
    part.operands.push_back(std::move(*needed));
  }
  return part;
}

/// The one operand of a concatenation that a part of it lies in, and what of it that is; none where
/// it is of several.
static std::optional<std::pair<Value, Ranges>> joinedPart(ConcatOp op, Ranges ranges) {
  std::optional<Range> &range = ranges[op.getAxis()];
  if (!range)
    return std::nullopt;
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[op.getAxis()], first = range->start - start;
    start += size;
    if (first < 0 || first >= size)
      continue;
    if (first + (range->size - 1) * range->stride >= size)
      return std::nullopt;
    range->start = first;
    if (range->size == size)
      range.reset();
    return std::pair(input, ranges);
  }
  return std::nullopt;
}

static bool isWhole(const Ranges &ranges) {
  return llvm::none_of(ranges, [](const std::optional<Range> &range) { return range.has_value(); });
}

static Ranges rangesOf(SliceOp slice) {
  Ranges ranges(rankOf(slice.getInput()));
  for (auto [dim, size] : llvm::enumerate(shapeOf(slice.getResult())))
    if (size != shapeOf(slice.getInput())[dim])
      ranges[dim] = Range{slice.getStarts()[dim], size, slice.getStrides()[dim]};
  return ranges;
}

/// Notes what is computed for part of a value. Everything that is cut must be weights, or numbers,
/// in the end.
bool SliceMover::visit(Value value, const Ranges &ranges, unsigned depth) {
  constexpr unsigned deepest = 32; // operations from a weight to where its parts are told apart
  Operation *op = value.getDefiningOp();
  if (isWhole(ranges) || splatNumber(value))
    return true;
  if (isWeightView(value))
    return meetsWeight = true;
  bool isView = isa_and_nonnull<ConcatOp, ReshapeOp, SliceOp, TransposeOp>(op);
  if (!op || depth == deepest || (isView && !passesViews))
    return false;
  auto [known, isNew] = wanted.try_emplace(value, ranges);
  if (!isNew)
    return known->second == ranges;
  cone.insert(op);
  return visitOperands(op, ranges, depth + 1);
}

bool SliceMover::visitOperands(Operation *op, const Ranges &ranges, unsigned depth) {
  if (auto concat = dyn_cast<ConcatOp>(op))
    if (auto joined = joinedPart(concat, ranges))
      return visit(joined->first, joined->second, depth);
  std::optional<Part> part = partOf(op, ranges);
  if (!part || op->getNumOperands() == 0)
    return false;
  computes |= isa<ConvOp, DotGeneralOp, GatherOp>(op);
  return llvm::all_of(llvm::zip_equal(op->getOperands(), part->operands), [&](auto needed) {
    return visit(std::get<0>(needed), std::get<1>(needed), depth);
  });
}

/// Whether nothing else reads what is computed in part: it would be computed twice.
bool SliceMover::isReadHere() {
  Operation *last = root.getInput().getDefiningOp();
  return llvm::all_of(cone, [&](Operation *op) {
    return op == last ||
           llvm::all_of(op->getUsers(), [&](Operation *user) { return cone.contains(user); });
  });
}

/// Whether every use of the value is a slice, and together they take no more than there is.
static bool isCutUp(Value value) {
  int64_t taken = 0;
  for (Operation *user : value.getUsers()) {
    if (!isa<SliceOp>(user))
      return false;
    taken += cast<ShapedType>(user->getResult(0).getType()).getNumElements();
  }
  return taken <= cast<ShapedType>(value.getType()).getNumElements();
}

bool SliceMover::plan() {
  return !llvm::is_contained(shapeOf(root.getResult()), 0) && visit(root.getInput(), ranges, 0) &&
         meetsWeight && computes && isReadHere();
}

Value SliceMover::move() {
  Value moved = take(root.getInput(), ranges);
  moved.getDefiningOp()->setLoc(fuseLocations(root, {root.getInput().getDefiningOp()}));
  return moved;
}

Value SliceMover::slice(Value value, const Ranges &ranges) {
  SmallVector<int64_t> starts, strides, shape;
  for (auto [range, size] : llvm::zip_equal(ranges, shapeOf(value))) {
    starts.push_back(range ? range->start : 0);
    strides.push_back(range ? range->stride : 1);
    shape.push_back(range ? range->size : size);
  }
  auto type = RankedTensorType::get(shape, elementOf(value));
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return resizeSplat(rewriter, constant, type);
  return SliceOp::create(rewriter, root.getLoc(), type, value, starts, strides);
}

Value SliceMover::take(Value value, const Ranges &ranges) {
  if (isWhole(ranges))
    return value;
  if (splatNumber(value) || isWeightView(value))
    return slice(value, ranges);
  if (Value known = made.lookup(value))
    return known;
  return made[value] = compute(value.getDefiningOp(), ranges);
}

Value SliceMover::compute(Operation *op, const Ranges &ranges) {
  if (auto concat = dyn_cast<ConcatOp>(op))
    if (auto joined = joinedPart(concat, ranges))
      return take(joined->first, joined->second);
  Part part = *partOf(op, ranges);
  SmallVector<Value> operands;
  for (auto [operand, needed] : llvm::zip_equal(op->getOperands(), part.operands))
    operands.push_back(take(operand, needed));
  SmallVector<int64_t> shape;
  for (auto [range, size] : llvm::zip_equal(ranges, shapeOf(op->getResult(0))))
    shape.push_back(range ? range->size : size);
  auto described = cast<FactorRuleOpInterface>(op);
  FactorRule rule = described.getFactorRule();
  PartShards shards(rule, part.factors);
  Type type = RankedTensorType::get(shape, elementOf(op->getResult(0)));
  Value result = described.buildLocal(rewriter, operands, type, shards).front();
  result.getDefiningOp()->setLoc(fuseLocations(op, {root}));
  return result;
}

LogicalResult weft::moveSliceToWeights(SliceOp op, PatternRewriter &rewriter) {
  SliceMover mover(rewriter, op, rangesOf(op), /*passesViews=*/false);
  if (!isCutUp(op.getInput()) || !mover.plan())
    return rewriter.notifyMatchFailure(op, "not a part of what is computed of weights alone");
  rewriter.replaceOp(op, mover.move());
  return success();
}

namespace {
/// Slices of one value that take the same of it where it is moved.
struct SliceGroup {
  std::unique_ptr<SliceMover> mover;
  SmallVector<SliceOp> slices;
};
} // namespace

/// What moves a slice: all that it takes, or what it takes of one dimension, where others are not
/// of weights (of a row a token's part); null if nothing does.
static std::unique_ptr<SliceMover> findMover(SliceOp slice, PatternRewriter &rewriter) {
  Ranges all = rangesOf(slice);
  SmallVector<Ranges> tries = {all};
  for (auto [dim, range] : llvm::enumerate(all))
    if (range)
      tries.emplace_back(all.size())[dim] = range;
  for (const Ranges &ranges : tries) {
    auto mover = std::make_unique<SliceMover>(rewriter, slice, ranges, /*passesViews=*/true);
    if (mover->plan())
      return mover;
  }
  return nullptr;
}

/// What a slice takes besides of what was moved of it.
static Value takeRest(SliceOp slice, const Ranges &ranges, Value moved, PatternRewriter &rewriter) {
  SmallVector<int64_t> starts(slice.getStarts()), strides(slice.getStrides());
  for (auto [dim, range] : llvm::enumerate(ranges))
    if (range)
      starts[dim] = 0, strides[dim] = 1;
  rewriter.setInsertionPoint(slice);
  return rewriter.createOrFold<SliceOp>(slice.getLoc(), slice.getType(), moved, starts, strides);
}

LogicalResult weft::moveSlicesToWeights(SliceOp op, PatternRewriter &rewriter) {
  Value value = op.getInput();
  if (op != *value.getUsers().begin() || !isCutUp(value))
    return rewriter.notifyMatchFailure(op, "not the slice by which what is cut up is found");
  SmallVector<SliceGroup> groups;
  SmallVector<Operation *> users(value.getUsers()); // the last one first
  for (Operation *user : llvm::reverse(users)) {
    auto slice = cast<SliceOp>(user);
    // What stays would be computed twice: as part of the whole, and by itself.
    std::unique_ptr<SliceMover> mover = findMover(slice, rewriter);
    if (!mover)
      return rewriter.notifyMatchFailure(slice, "not a part of what is computed of weights alone");
    auto *group = llvm::find_if(groups, [&](const SliceGroup &other) {
      return other.mover->getRanges() == mover->getRanges();
    });
    if (group == groups.end())
      groups.push_back({std::move(mover), {slice}});
    else
      group->slices.push_back(slice);
  }
  for (SliceGroup &group : groups) {
    rewriter.setInsertionPointAfterValue(value);
    Value moved = group.mover->move();
    for (SliceOp slice : group.slices)
      rewriter.replaceOp(slice, takeRest(slice, group.mover->getRanges(), moved, rewriter));
  }
  return success();
}

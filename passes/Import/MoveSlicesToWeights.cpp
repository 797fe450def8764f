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
// costs nothing.

#include "dialects/Weft/IR/FactorRule.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "passes/Import/Patterns.h"

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

/// Moves one slice, if everything that is computed for it can be computed in part.
class SliceMover {
public:
  SliceMover(PatternRewriter &rewriter, SliceOp root, bool passesViews)
      : rewriter(rewriter), root(root), passesViews(passesViews) {}

  /// Whether the slice can be moved, and ends at a weight behind something that is computed.
  bool plan();
  Value move() { return take(root.getInput(), rootRanges()); }

private:
  Ranges rootRanges();
  bool visit(Value value, const Ranges &ranges, unsigned depth);
  bool isReadHere();
  Value take(Value value, const Ranges &ranges);
  Value slice(Value value, const Ranges &ranges);

  PatternRewriter &rewriter;
  SliceOp root;
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

static bool isWhole(const Ranges &ranges) {
  return llvm::none_of(ranges, [](const std::optional<Range> &range) { return range.has_value(); });
}

Ranges SliceMover::rootRanges() {
  Ranges ranges(rankOf(root.getInput()));
  for (auto [dim, size] : llvm::enumerate(shapeOf(root.getResult())))
    if (size != shapeOf(root.getInput())[dim])
      ranges[dim] = Range{root.getStarts()[dim], size, root.getStrides()[dim]};
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
  bool isView = isa_and_nonnull<ReshapeOp, SliceOp, TransposeOp>(op);
  if (!op || depth == deepest || (isView && !passesViews))
    return false;
  auto [known, isNew] = wanted.try_emplace(value, ranges);
  if (!isNew)
    return known->second == ranges;
  std::optional<Part> part = partOf(op, ranges);
  if (!part || op->getNumOperands() == 0)
    return false;
  computes |= isa<ConvOp, DotGeneralOp, GatherOp>(op);
  cone.insert(op);
  for (auto [operand, needed] : llvm::zip_equal(op->getOperands(), part->operands))
    if (!visit(operand, needed, depth + 1))
      return false;
  return true;
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
  return !llvm::is_contained(shapeOf(root.getResult()), 0) && isCutUp(root.getInput()) &&
         visit(root.getInput(), rootRanges(), 0) && meetsWeight && computes && isReadHere();
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
    return ConstantOp::create(rewriter, value.getLoc(),
                              cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
  return SliceOp::create(rewriter, root.getLoc(), type, value, starts, strides);
}

Value SliceMover::take(Value value, const Ranges &ranges) {
  if (isWhole(ranges))
    return value;
  if (splatNumber(value) || isWeightView(value))
    return slice(value, ranges);
  Value &known = made[value];
  if (known)
    return known;
  Operation *op = value.getDefiningOp();
  Part part = *partOf(op, ranges);
  SmallVector<Value> operands;
  for (auto [operand, needed] : llvm::zip_equal(op->getOperands(), part.operands))
    operands.push_back(take(operand, needed));
  SmallVector<int64_t> shape;
  for (auto [range, size] : llvm::zip_equal(ranges, shapeOf(value)))
    shape.push_back(range ? range->size : size);
  auto described = cast<FactorRuleOpInterface>(op);
  FactorRule rule = described.getFactorRule();
  PartShards shards(rule, part.factors);
  Type type = RankedTensorType::get(shape, elementOf(value));
  Value result = described.buildLocal(rewriter, operands, type, shards).front();
  result.getDefiningOp()->setLoc(fuseLocations(op, {root}));
  return made[value] = result;
}

LogicalResult weft::moveSliceToWeights(SliceOp op, PatternRewriter &rewriter, bool passesViews) {
  SliceMover mover(rewriter, op, passesViews);
  if (!mover.plan())
    return rewriter.notifyMatchFailure(op, "not a part of what is computed of weights alone");
  Value moved = mover.move();
  moved.getDefiningOp()->setLoc(fuseLocations(op, {op.getInput().getDefiningOp()}));
  rewriter.replaceOp(op, moved);
  return success();
}

// dot_general(reshape(x), y) becomes reshape(dot_general(x, y)): flattened batches and heads become
// dimensions again.

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

using namespace mlir;
using namespace weft;

namespace {
/// One operand of a product, with or without the reshape before it, and its dimension numbers
/// there.
struct Side {
  Side(Value operand, bool undo)
      : map(undo ? *ViewMap::of(operand.getDefiningOp()) : ViewMap::identity(operand)),
        value(undo ? operand.getDefiningOp()->getOperand(0) : operand) {}

  ViewMap map;
  Value value;
  SmallVector<int64_t> batch, contract;
};
} // namespace

/// Translates pairs of dimensions; fails where the two sides do not split them alike.
static LogicalResult translatePairs(Side &lhs, ArrayRef<int64_t> lhsDims,
                                    SmallVectorImpl<int64_t> &lhsOut, Side &rhs,
                                    ArrayRef<int64_t> rhsDims, SmallVectorImpl<int64_t> &rhsOut) {
  auto sizes = [](const Side &side, const Dims &dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return shapeOf(side.value)[dim]; });
  };
  for (auto [left, right] : llvm::zip(lhsDims, rhsDims)) {
    std::optional<Dims> l = lhs.map.sourcesOf(left), r = rhs.map.sourcesOf(right);
    if (!l || !r || sizes(lhs, *l) != sizes(rhs, *r))
      return failure();
    llvm::append_range(lhsOut, *l);
    llvm::append_range(rhsOut, *r);
  }
  return success();
}

/// Whether dimensions that share a group are all free, so that the result can be reshaped back.
static bool keepsGroups(const Side &side, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  return llvm::all_of(side.map.groups(), [&](const ViewMap::Group &group) {
    return group.to.size() == 1 || llvm::none_of(group.to, [&](int64_t dim) {
             return llvm::is_contained(batch, dim) || llvm::is_contained(contract, dim);
           });
  });
}

/// Unit dimensions of an operand that are free, but for one where the operand has no other free
/// dimension: they only lengthen shapes.
static SmallVector<int64_t> spareUnits(ArrayRef<int64_t> shape, ArrayRef<int64_t> batch,
                                       ArrayRef<int64_t> contract) {
  SmallVector<int64_t> units;
  int64_t others = 0;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (llvm::is_contained(batch, dim) || llvm::is_contained(contract, dim))
      continue;
    if (size == 1)
      units.push_back(dim);
    else
      ++others;
  }
  if (others == 0 && !units.empty())
    units.pop_back();
  return units;
}

static bool hasSpareUnits(const Side &side) {
  return !spareUnits(shapeOf(side.value), side.batch, side.contract).empty();
}

static LogicalResult sinkPastDot(DotGeneralOp op, PatternRewriter &rewriter) {
  auto isReshape = [](Value value) { return isa_and_nonnull<ReshapeOp>(sinkableView(value)); };
  bool onLeft = isReshape(op.getLhs()), onRight = isReshape(op.getRhs());
  for (auto [undoLeft, undoRight] : {std::pair(true, true), {true, false}, {false, true}}) {
    if ((undoLeft && !onLeft) || (undoRight && !onRight))
      continue;
    Side lhs(op.getLhs(), undoLeft), rhs(op.getRhs(), undoRight);
    if (failed(
            translatePairs(lhs, op.getLhsBatch(), lhs.batch, rhs, op.getRhsBatch(), rhs.batch)) ||
        failed(translatePairs(lhs, op.getLhsContract(), lhs.contract, rhs, op.getRhsContract(),
                              rhs.contract)) ||
        !keepsGroups(lhs, op.getLhsBatch(), op.getLhsContract()) ||
        !keepsGroups(rhs, op.getRhsBatch(), op.getRhsContract()) || hasSpareUnits(rhs) ||
        (!isWeightView(op.getRhs()) && hasSpareUnits(lhs)))
      continue;
    Value result = DotGeneralOp::create(rewriter, op.getLoc(), lhs.value, rhs.value, lhs.batch,
                                        rhs.batch, lhs.contract, rhs.contract);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no reshape that can follow the product");
}

namespace {
/// What a reshape joins to a dimension of its result.
struct Joined {
  SmallVector<int64_t> extents; ///< without unit ones; none where it does not join two or more
  bool hasUnits = false;        ///< besides
};
} // namespace

static Joined getJoined(Value value, int64_t dim) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  std::optional<ViewMap> map = reshape ? ViewMap::of(reshape) : std::nullopt;
  std::optional<Dims> sources = map ? map->sourcesOf(dim) : std::nullopt;
  Joined joined;
  for (int64_t source : sources.value_or(Dims())) {
    int64_t size = shapeOf(reshape.getInput())[source];
    joined.hasUnits |= size == 1;
    if (size != 1)
      joined.extents.push_back(size);
  }
  return joined.extents.size() > 1 ? joined : Joined();
}

/// An operand one of whose dimensions becomes several, its dimension numbers adapted.
static Value splitDim(PatternRewriter &rewriter, Value operand, int64_t dim,
                      ArrayRef<int64_t> extents, SmallVectorImpl<int64_t> &batch,
                      SmallVectorImpl<int64_t> &contract) {
  SmallVector<int64_t> shape(shapeOf(operand));
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, extents.begin(), extents.end());
  auto more = static_cast<int64_t>(extents.size()) - 1;
  SmallVector<int64_t> newBatch;
  for (int64_t old : batch) {
    newBatch.push_back(old > dim ? old + more : old);
    for (int64_t next = 1; old == dim && next <= more; ++next)
      newBatch.push_back(dim + next);
  }
  batch.assign(newBatch.begin(), newBatch.end());
  for (int64_t &old : contract)
    old += old > dim ? more : 0;
  return ReshapeOp::create(rewriter, operand.getLoc(),
                           RankedTensorType::get(shape, elementOf(operand)), operand);
}

/// Batches that one operand joined, and the other, a reshape too, joined with more, or beside unit
/// dimensions: both are reshaped to have them apart. Of one query a head, [b, 1, h·d] becomes [b·h,
/// 1, d] at once, and is [b, h, d] as well.
static LogicalResult splitJoinedBatch(DotGeneralOp op, PatternRewriter &rewriter) {
  if (!op.getLhs().getDefiningOp<ReshapeOp>() || !op.getRhs().getDefiningOp<ReshapeOp>())
    return rewriter.notifyMatchFailure(op, "not two reshapes");
  SmallVector<int64_t> lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch());
  SmallVector<int64_t> lhsContract(op.getLhsContract()), rhsContract(op.getRhsContract());
  for (auto [left, right] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    Joined ofLeft = getJoined(op.getLhs(), left), ofRight = getJoined(op.getRhs(), right);
    bool isOfOne = ofLeft.extents.empty() != ofRight.extents.empty();
    bool hasUnits = !ofLeft.extents.empty() && ofLeft.extents == ofRight.extents &&
                    (ofLeft.hasUnits || ofRight.hasUnits);
    if (!isOfOne && !hasUnits)
      continue;
    ArrayRef<int64_t> extents = ofLeft.extents.empty() ? ofRight.extents : ofLeft.extents;
    Value lhs = splitDim(rewriter, op.getLhs(), left, extents, lhsBatch, lhsContract);
    Value rhs = splitDim(rewriter, op.getRhs(), right, extents, rhsBatch, rhsContract);
    Value result = DotGeneralOp::create(rewriter, op.getLoc(), lhs, rhs, lhsBatch, rhsBatch,
                                        lhsContract, rhsContract);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no batch that one operand joined");
}

/// An operand without its spare unit dimensions, its dimension numbers adapted.
static Value dropUnits(PatternRewriter &rewriter, Value operand, SmallVectorImpl<int64_t> &batch,
                       SmallVectorImpl<int64_t> &contract) {
  SmallVector<int64_t> units = spareUnits(shapeOf(operand), batch, contract), shape;
  if (units.empty())
    return operand;
  for (auto [dim, size] : llvm::enumerate(shapeOf(operand)))
    if (!llvm::is_contained(units, dim))
      shape.push_back(size);
  for (SmallVectorImpl<int64_t> *dims : {&batch, &contract})
    for (int64_t &dim : *dims)
      dim -= llvm::count_if(units, [&](int64_t unit) { return unit < dim; });
  return ReshapeOp::create(rewriter, operand.getLoc(),
                           RankedTensorType::get(shape, elementOf(operand)), operand);
}

/// A product without spare unit dimensions; rows that meet a weight keep theirs.
static LogicalResult dropUnitsOfDot(DotGeneralOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch());
  SmallVector<int64_t> lhsContract(op.getLhsContract()), rhsContract(op.getRhsContract());
  Value lhs = op.getLhs();
  if (!isWeightView(op.getRhs()))
    lhs = dropUnits(rewriter, lhs, lhsBatch, lhsContract);
  Value rhs = dropUnits(rewriter, op.getRhs(), rhsBatch, rhsContract);
  if (lhs == op.getLhs() && rhs == op.getRhs())
    return rewriter.notifyMatchFailure(op, "no unit dimension to spare");
  Value result = DotGeneralOp::create(rewriter, op.getLoc(), lhs, rhs, lhsBatch, rhsBatch,
                                      lhsContract, rhsContract);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result);
  return success();
}

void weft::populateSinkViewsPastProducts(RewritePatternSet &patterns) {
  patterns.add(sinkPastDot).add(dropUnitsOfDot).add(splitJoinedBatch);
}

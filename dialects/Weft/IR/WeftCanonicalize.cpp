// Canonical forms: one model from several exporters becomes one IR.
//
//   - views: as few operations as possible; a transpose that moves only unit dimensions is a
//   reshape, a broadcast's
//     operand has no unit dimensions, transposes of a product's operands are told by its dimension
//     numbers;
//   - powers with small exponents are products and roots.

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

/// broadcast(broadcast(x)) is one broadcast.
static LogicalResult mergeBroadcasts(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(op.getDims()[dim]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput(), dims);
  return success();
}

/// A broadcast's operand keeps no unit dimensions; without any others to repeat it is a reshape.
static LogicalResult dropUnitDims(BroadcastOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  if (cast<ShapedType>(op.getInput().getType()).getNumElements() ==
      cast<ShapedType>(op.getType()).getNumElements()) {
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
  if (!llvm::is_contained(shape, 1))
    return rewriter.notifyMatchFailure(op, "operand has no unit dimension");
  SmallVector<int64_t> dims, sizes;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size != 1) {
      dims.push_back(op.getDims()[dim]);
      sizes.push_back(size);
    }
  auto type = RankedTensorType::get(sizes, elementOf(op.getInput()));
  Value operand = ReshapeOp::create(rewriter, op.getInput().getLoc(), type, op.getInput());
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), operand, dims);
  return success();
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeBroadcasts).add(dropUnitDims);
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

/// The dimensions of `rank` that are neither batch nor contracted.
static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      free.push_back(dim);
  return free;
}

/// Dimension numbers and value of an operand without its transpose, if free dimensions keep their
/// order.
static bool absorbTranspose(Value &operand, SmallVectorImpl<int64_t> &batch,
                            SmallVectorImpl<int64_t> &contract) {
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose || isWeightView(operand))
    return false;
  auto through = [&](int64_t dim) { return transpose.getPermutation()[dim]; };
  if (!llvm::is_sorted(llvm::map_range(freeDims(rankOf(operand), batch, contract), through)))
    return false;
  operand = transpose.getInput();
  llvm::for_each(batch, [&](int64_t &dim) { dim = through(dim); });
  llvm::for_each(contract, [&](int64_t &dim) { dim = through(dim); });
  return true;
}

static LogicalResult absorbTransposes(DotGeneralOp op, PatternRewriter &rewriter) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  SmallVector<int64_t> lhsBatch(op.getLhsBatch()), lhsContract(op.getLhsContract());
  SmallVector<int64_t> rhsBatch(op.getRhsBatch()), rhsContract(op.getRhsContract());
  bool left = absorbTranspose(lhs, lhsBatch, lhsContract);
  bool right = absorbTranspose(rhs, rhsBatch, rhsContract);
  if (!left && !right)
    return rewriter.notifyMatchFailure(op, "no transpose to absorb");
  rewriter.replaceOpWithNewOp<DotGeneralOp>(op, op.getType(), lhs, rhs, lhsBatch, rhsBatch,
                                            lhsContract, rhsContract);
  return success();
}

/// A weight on the right is read as [batch, contracted, others], whichever way round it is stored.
static LogicalResult orientWeight(DotGeneralOp op, PatternRewriter &rewriter) {
  if (!isWeightView(op.getRhs()))
    return rewriter.notifyMatchFailure(op, "right operand is not a weight");
  SmallVector<int64_t> order(op.getRhsBatch());
  llvm::append_range(order, op.getRhsContract());
  llvm::append_range(order, freeDims(rankOf(op.getRhs()), op.getRhsBatch(), op.getRhsContract()));
  if (llvm::is_sorted(order))
    return rewriter.notifyMatchFailure(op, "weight has the canonical order");
  Value weight = TransposeOp::create(rewriter, op.getRhs().getLoc(), op.getRhs(), order);
  int64_t batches = op.getRhsBatch().size(), contracted = op.getRhsContract().size();
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  auto contract = llvm::to_vector(llvm::seq<int64_t>(batches, batches + contracted));
  rewriter.replaceOpWithNewOp<DotGeneralOp>(op, op.getType(), op.getLhs(), weight, op.getLhsBatch(),
                                            batch, op.getLhsContract(), contract);
  return success();
}

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(absorbTransposes).add(orientWeight);
}

//===----------------------------------------------------------------------===//
// div
//===----------------------------------------------------------------------===//

/// 1 / x is the reciprocal of x.
static LogicalResult divToReciprocal(DivOp op, PatternRewriter &rewriter) {
  if (!isa<FloatType>(elementOf(op.getLhs())) || splatNumber(op.getLhs()) != 1.0)
    return rewriter.notifyMatchFailure(op, "dividend is not 1");
  rewriter.replaceOpWithNewOp<ReciprocalOp>(op, op.getRhs());
  return success();
}

void DivOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(divToReciprocal);
}

//===----------------------------------------------------------------------===//
// pow
//===----------------------------------------------------------------------===//

/// x^2 is x·x, x^3 is x·x·x, x^0.5 and x^-0.5 are roots.
static LogicalResult expandPower(PowOp op, PatternRewriter &rewriter) {
  std::optional<double> exponent = splatNumber(op.getRhs());
  if (!exponent)
    return rewriter.notifyMatchFailure(op, "exponent is not one number");
  Value base = op.getLhs();
  bool isFloat = isa<FloatType>(elementOf(base));
  if (*exponent == 2) {
    rewriter.replaceOpWithNewOp<MulOp>(op, base, base);
  } else if (*exponent == 3) {
    Value square = MulOp::create(rewriter, op.getLoc(), base, base);
    rewriter.replaceOpWithNewOp<MulOp>(op, square, base);
  } else if (isFloat && *exponent == 0.5) {
    rewriter.replaceOpWithNewOp<SqrtOp>(op, base);
  } else if (isFloat && *exponent == -0.5) {
    rewriter.replaceOpWithNewOp<RsqrtOp>(op, base);
  } else if (isFloat && *exponent == -1) {
    rewriter.replaceOpWithNewOp<ReciprocalOp>(op, base);
  } else {
    return rewriter.notifyMatchFailure(op, "exponent has no simpler form");
  }
  return success();
}

void PowOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(expandPower);
}

//===----------------------------------------------------------------------===//
// reciprocal
//===----------------------------------------------------------------------===//

/// 1 / √x is one operation.
static LogicalResult reciprocalOfRoot(ReciprocalOp op, PatternRewriter &rewriter) {
  auto root = op.getInput().getDefiningOp<SqrtOp>();
  if (!root)
    return rewriter.notifyMatchFailure(op, "operand is not a square root");
  rewriter.replaceOpWithNewOp<RsqrtOp>(op, root.getInput());
  return success();
}

void ReciprocalOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(reciprocalOfRoot);
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Reducing dimensions of size 1 changes nothing but the shape.
static LogicalResult dropUnitReductions(ReduceOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> dims;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInput()))) {
    bool reduced = llvm::is_contained(op.getDims(), static_cast<int64_t>(dim));
    if (reduced && size == 1)
      continue;
    if (reduced)
      dims.push_back(shape.size());
    shape.push_back(size);
  }
  if (dims.size() == op.getDims().size())
    return rewriter.notifyMatchFailure(op, "no unit dimension is reduced");
  auto type = RankedTensorType::get(shape, elementOf(op.getInput()));
  Value input = ReshapeOp::create(rewriter, op.getLoc(), type, op.getInput());
  if (dims.empty())
    rewriter.replaceOp(op, input);
  else
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), input, dims);
  return success();
}

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropUnitReductions);
}

//===----------------------------------------------------------------------===//
// select
//===----------------------------------------------------------------------===//

/// select(not c, a, b) is select(c, b, a).
static LogicalResult swapBranches(SelectOp op, PatternRewriter &rewriter) {
  auto negation = op.getCondition().getDefiningOp<NotOp>();
  if (!negation)
    return rewriter.notifyMatchFailure(op, "condition is not a negation");
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), negation.getInput(), op.getOnFalse(),
                                        op.getOnTrue());
  return success();
}

void SelectOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(swapBranches);
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// slice(slice(x)) is one slice; what others than slices read too stays a value of its own.
static LogicalResult mergeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<SliceOp>();
  if (!inner || !llvm::all_of(inner->getUsers(), llvm::IsaPred<SliceOp>))
    return rewriter.notifyMatchFailure(op, "operand is not a slice for slices alone");
  SmallVector<int64_t> starts, strides;
  for (size_t dim = 0; dim < op.getStarts().size(); ++dim) {
    starts.push_back(inner.getStarts()[dim] + op.getStarts()[dim] * inner.getStrides()[dim]);
    strides.push_back(op.getStrides()[dim] * inner.getStrides()[dim]);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(), starts, strides);
  return success();
}

/// slice(concat(…, x, …)) within one part is a slice of that.
static LogicalResult sliceOfPart(SliceOp op, PatternRewriter &rewriter) {
  auto concat = op.getInput().getDefiningOp<ConcatOp>();
  if (!concat || llvm::is_contained(shapeOf(op.getResult()), 0))
    return rewriter.notifyMatchFailure(op, "operand is not a concatenation");
  auto axis = concat.getAxis();
  SmallVector<int64_t> starts(op.getStarts());
  int64_t last = starts[axis] + (shapeOf(op.getResult())[axis] - 1) * op.getStrides()[axis];
  for (Value part : concat.getInputs()) {
    int64_t size = shapeOf(part)[axis];
    if (starts[axis] >= size) {
      starts[axis] -= size;
      last -= size;
      continue;
    }
    if (last >= size)
      return rewriter.notifyMatchFailure(op, "takes of several parts");
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), part, starts, op.getStrides());
    return success();
  }
  return failure();
}

/// slice(broadcast(x)) repeats only what is taken.
static LogicalResult sliceBroadcast(SliceOp op, PatternRewriter &rewriter) {
  auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
  Value input = broadcast.getInput();
  SmallVector<int64_t> starts, strides, sizes;
  for (auto [size, dim] : llvm::zip(shapeOf(input), broadcast.getDims())) {
    bool repeated = size == 1;
    starts.push_back(repeated ? 0 : op.getStarts()[dim]);
    strides.push_back(repeated ? 1 : op.getStrides()[dim]);
    sizes.push_back(repeated ? 1 : shapeOf(op.getResult())[dim]);
  }
  if (llvm::is_contained(shapeOf(op.getResult()), 0))
    return rewriter.notifyMatchFailure(op, "nothing is taken");
  auto type = RankedTensorType::get(sizes, elementOf(input));
  Value slice = SliceOp::create(rewriter, op.getLoc(), type, input, starts, strides);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), slice, broadcast.getDims());
  return success();
}

/// The stride of a dimension of which one element is taken is 1.
static LogicalResult unifyStrides(SliceOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> strides(op.getStrides());
  for (auto [stride, size] : llvm::zip(strides, shapeOf(op.getResult())))
    if (size <= 1)
      stride = 1;
  if (ArrayRef<int64_t>(strides) == op.getStrides())
    return rewriter.notifyMatchFailure(op, "strides are canonical");
  rewriter.modifyOpInPlace(op, [&] { op.setStrides(strides); });
  return success();
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeSlices).add(sliceBroadcast).add(sliceOfPart).add(unifyStrides);
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

/// How many of a sort's first elements a reader takes; -1 where it is not a slice of them.
static int64_t getTakenCount(SortOp sort, Operation *reader) {
  auto slice = dyn_cast<SliceOp>(reader);
  if (!slice)
    return -1;
  int64_t axis = sort.getAxis();
  ArrayRef<int64_t> from = shapeOf(slice.getInput()), to = shapeOf(slice.getResult());
  for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim)
    if (slice.getStarts()[dim] != 0 || slice.getStrides()[dim] != 1 ||
        (dim != axis && from[dim] != to[dim]))
      return -1;
  return to[axis];
}

/// Of a sort of which only the first elements are read, only these are computed.
static LogicalResult sortFewer(SortOp op, PatternRewriter &rewriter) {
  int64_t count = 0;
  for (Operation *reader : op->getUsers()) {
    int64_t taken = getTakenCount(op, reader);
    if (taken < 0)
      return rewriter.notifyMatchFailure(op, "not all readers take the first elements");
    count = std::max(count, taken);
  }
  if (op->use_empty() || count == static_cast<int64_t>(op.getCount()))
    return rewriter.notifyMatchFailure(op, "all elements are read");
  auto fewer =
      SortOp::create(rewriter, op.getLoc(), op.getInput(), op.getAxis(), count, op.getDescending());
  for (auto [result, first] : llvm::zip_equal(op.getResults(), fewer.getResults()))
    for (Operation *reader : llvm::make_early_inc_range(result.getUsers()))
      rewriter.modifyOpInPlace(reader, [&, first = first] { reader->setOperand(0, first); });
  rewriter.eraseOp(op);
  return success();
}

void SortOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(sortFewer);
}

//===----------------------------------------------------------------------===//
// store
//===----------------------------------------------------------------------===//

/// A state that is stored as it was loaded keeps its value.
static LogicalResult dropUnchanged(StoreOp op, PatternRewriter &rewriter) {
  auto load = op.getValue().getDefiningOp<LoadOp>();
  if (!load || load.getWeightAttr() != op.getWeightAttr())
    return rewriter.notifyMatchFailure(op, "the value is not that of the step's start");
  rewriter.eraseOp(op);
  return success();
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropUnchanged);
}

//===----------------------------------------------------------------------===//
// reshape and transpose
//===----------------------------------------------------------------------===//

/// The steps of the chain of views that ends in `op`.
static SmallVector<ViewChain::Step, 3> presentSteps(Operation *op) {
  SmallVector<ViewChain::Step, 3> steps;
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(op)) {
    ViewChain::Step step;
    step.shape.append(shapeOf(op->getResult(0)).begin(), shapeOf(op->getResult(0)).end());
    if (auto transpose = dyn_cast<TransposeOp>(op))
      step.permutation.append(transpose.getPermutation().begin(), transpose.getPermutation().end());
    steps.push_back(step);
    op = op->getOperand(0).getDefiningOp();
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

/// A chain of views is the shortest of its meaning.
template <typename Op> static LogicalResult shortenViews(Op op, PatternRewriter &rewriter) {
  auto chain = ViewChain::endingIn(op);
  if (!chain)
    return rewriter.notifyMatchFailure(op, "views without common factors");
  SmallVector<ViewChain::Step, 3> steps = chain->second.plan();
  if (steps == presentSteps(op))
    return rewriter.notifyMatchFailure(op, "the chain is the shortest");
  rewriter.replaceOp(op, buildViews(rewriter, op.getLoc(), chain->first, steps));
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(shortenViews<ReshapeOp>);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(shortenViews<TransposeOp>);
}

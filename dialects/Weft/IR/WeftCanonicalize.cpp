// Canonical forms: one model from several exporters becomes one IR.
//
//   - views: as few operations as possible; a transpose that moves only unit dimensions is a
//   reshape, a broadcast's
//     operand has no unit dimensions, transposes of a product's operands are told by its dimension
//     numbers;
//   - powers with small exponents are products and roots.

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
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
  if (!transpose)
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

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(absorbTransposes);
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

/// slice(slice(x)) is one slice.
static LogicalResult mergeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<SliceOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a slice");
  SmallVector<int64_t> starts, strides;
  for (size_t dim = 0; dim < op.getStarts().size(); ++dim) {
    starts.push_back(inner.getStarts()[dim] + op.getStarts()[dim] * inner.getStrides()[dim]);
    strides.push_back(op.getStrides()[dim] * inner.getStrides()[dim]);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(), starts, strides);
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
  patterns.add(mergeSlices).add(unifyStrides);
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

/// transpose(transpose(x)) is one transpose.
static LogicalResult mergeTransposes(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a transpose");
  SmallVector<int64_t> permutation;
  for (int64_t dim : op.getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(), permutation);
  return success();
}

/// A transpose that leaves the other than unit dimensions in order is a reshape.
static LogicalResult transposeToReshape(TransposeOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  SmallVector<int64_t> moves;
  llvm::copy_if(op.getPermutation(), std::back_inserter(moves),
                [&](int64_t dim) { return shape[dim] != 1; });
  if (!llvm::is_sorted(moves))
    return rewriter.notifyMatchFailure(op, "dimensions other than unit ones move");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeTransposes).add(transposeToReshape);
}

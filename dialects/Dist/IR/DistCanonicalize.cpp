//===- DistCanonicalize.cpp - collectives that join, cancel and shrink ----===//
//
// A partitioner places collectives use by use; these rules remove what meets back to back. Two axes
// lists compare by their order: blocks lie first axis major, so gathering over [a, b] and slicing
// over [a] leaves a gather over [b].
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Sharding.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

//===----------------------------------------------------------------------===//
// Lists of axes
//===----------------------------------------------------------------------===//

static bool startsWith(ArrayAttr axes, ArrayAttr prefix) {
  return prefix.size() <= axes.size() &&
         axes.getValue().take_front(prefix.size()) == prefix.getValue();
}

static ArrayAttr dropPrefix(ArrayAttr axes, ArrayAttr prefix) {
  return ArrayAttr::get(axes.getContext(), axes.getValue().drop_front(prefix.size()));
}

static ArrayAttr join(ArrayAttr major, ArrayAttr minor) {
  SmallVector<Attribute> all(major.getValue());
  llvm::append_range(all, minor.getValue());
  return ArrayAttr::get(major.getContext(), all);
}

/// The elements of `axes` that are not in `removed`; nothing where one of `removed` is missing from
/// `axes`.
static std::optional<ArrayAttr> subtract(ArrayAttr axes, ArrayAttr removed) {
  if (!llvm::all_of(removed, [&](Attribute axis) { return llvm::is_contained(axes, axis); }))
    return std::nullopt;
  SmallVector<Attribute> rest;
  for (Attribute axis : axes)
    if (!llvm::is_contained(removed, axis))
      rest.push_back(axis);
  return ArrayAttr::get(axes.getContext(), rest);
}

/// Whether the two lists may stand in one collective: no axis twice.
static bool disjoint(ArrayAttr a, ArrayAttr b) {
  return llvm::none_of(a.getAsRange<AxisRefAttr>(), [&](AxisRefAttr left) {
    return llvm::any_of(b.getAsRange<AxisRefAttr>(),
                        [&](AxisRefAttr right) { return overlaps(left, right); });
  });
}

/// The operation that makes `value` where it is an OpT whose only use this is.
template <typename OpT> static OpT getSingleUse(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<OpT>() : OpT();
}

//===----------------------------------------------------------------------===//
// Folders: groups of one device
//===----------------------------------------------------------------------===//

OpFoldResult AllGatherOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult AllReduceOp::fold(FoldAdaptor) {
  if (getAxes().empty())
    return getInput();
  MeshOp mesh = lookupMesh(*this, getMeshAttr());
  return mesh && mesh.getSize(getAxes()) == 1 ? getInput() : Value();
}

OpFoldResult AllToAllOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto before = getInput().getDefiningOp<AllToAllOp>();
  if (before && before.getAxes() == getAxes() && before.getSplitDim() == getConcatDim() &&
      before.getConcatDim() == getSplitDim())
    return before.getInput();
  return {};
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  if (getFrom() == getTo())
    return getInput();
  auto before = getInput().getDefiningOp<PermuteOp>();
  if (before && before.getFrom() == getTo() && before.getTo() == getFrom())
    return before.getInput();
  return {};
}

OpFoldResult ReduceScatterOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult dist::SliceOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto gather = getInput().getDefiningOp<AllGatherOp>();
  if (gather && gather.getDim() == getDim() && gather.getAxes() == getAxes())
    return gather.getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// all_gather
//===----------------------------------------------------------------------===//

namespace {
/// all_gather [b] of a slice [a…, b]: the slice [a…]; of a slice [b] under gather [a…, b]: the
/// gather [a…].
struct GatherOfSlice : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllGatherOp gather, PatternRewriter &rewriter) const override {
    auto slice = gather.getInput().getDefiningOp<dist::SliceOp>();
    if (!slice || slice.getDim() != gather.getDim())
      return rewriter.notifyMatchFailure(gather, "not a slice of the same dimension");
    ArrayAttr sliced = slice.getAxes(), gathered = gather.getAxes();
    size_t common = std::min(sliced.size(), gathered.size());
    if (sliced.getValue().take_back(common) != gathered.getValue().take_back(common))
      return rewriter.notifyMatchFailure(gather, "other axes");
    if (sliced.size() == gathered.size()) {
      rewriter.replaceOp(gather, slice.getInput());
      return success();
    }
    MLIRContext *context = gather.getContext();
    if (sliced.size() > common)
      rewriter.replaceOpWithNewOp<dist::SliceOp>(
          gather, gather.getType(), slice.getInput(), slice.getDimAttr(),
          ArrayAttr::get(context, sliced.getValue().drop_back(common)), slice.getMeshAttr());
    else
      rewriter.replaceOpWithNewOp<AllGatherOp>(
          gather, gather.getType(), slice.getInput(), gather.getDimAttr(),
          ArrayAttr::get(context, gathered.getValue().drop_back(common)), gather.getMeshAttr());
    return success();
  }
};

/// all_gather [a] of all_gather [b] along one dimension: all_gather [a, b].
struct GatherOfGather : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllGatherOp gather, PatternRewriter &rewriter) const override {
    auto inner = getSingleUse<AllGatherOp>(gather.getInput());
    if (!inner || inner.getDim() != gather.getDim() || !disjoint(inner.getAxes(), gather.getAxes()))
      return rewriter.notifyMatchFailure(gather, "not a gather along the same dimension");
    rewriter.replaceOpWithNewOp<AllGatherOp>(
        gather, gather.getType(), inner.getInput(), gather.getDimAttr(),
        join(gather.getAxes(), inner.getAxes()), gather.getMeshAttr());
    return success();
  }
};

/// all_gather of a reduce_scatter along the same dimension and axes: all_reduce.
struct GatherOfScatter : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllGatherOp gather, PatternRewriter &rewriter) const override {
    auto scatter = getSingleUse<ReduceScatterOp>(gather.getInput());
    if (!scatter || scatter.getDim() != gather.getDim() || scatter.getAxes() != gather.getAxes())
      return rewriter.notifyMatchFailure(gather, "not a reduce_scatter of the same group");
    rewriter.replaceOpWithNewOp<AllReduceOp>(gather, gather.getType(), scatter.getReductionAttr(),
                                             scatter.getInput(), gather.getAxes(),
                                             gather.getMeshAttr());
    return success();
  }
};
} // namespace

void AllGatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<GatherOfGather, GatherOfScatter, GatherOfSlice>(context);
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

/// The all_reduce sum that makes `value` and whose only use this is.
static AllReduceOp getSumUsedOnce(Value value) {
  auto reduce = getSingleUse<AllReduceOp>(value);
  return reduce && reduce.getReduction() == ReduceKind::Sum ? reduce : AllReduceOp();
}

static bool sameGroup(AllReduceOp a, AllReduceOp b) {
  return a.getAxes() == b.getAxes() && a.getMesh() == b.getMesh();
}

/// The all_reduce of `value` that stands for those of `reduces`, all over one group.
static Value reduceLike(PatternRewriter &rewriter, ArrayRef<AllReduceOp> reduces, Value value) {
  SmallVector<Location> locs;
  for (AllReduceOp reduce : reduces)
    locs.push_back(reduce.getLoc());
  AllReduceOp first = reduces.front();
  return AllReduceOp::create(rewriter, rewriter.getFusedLoc(locs), value.getType(),
                             first.getReductionAttr(), value, first.getAxes(), first.getMeshAttr());
}

namespace {
/// all_reduce [a] of all_reduce [b] of one kind: one group over [b, a].
struct ReduceOfReduce : OpRewritePattern<AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllReduceOp reduce, PatternRewriter &rewriter) const override {
    auto inner = getSingleUse<AllReduceOp>(reduce.getInput());
    if (!inner || inner.getReduction() != reduce.getReduction() ||
        !disjoint(inner.getAxes(), reduce.getAxes()))
      return rewriter.notifyMatchFailure(reduce, "not a reduction of the same kind");
    rewriter.replaceOpWithNewOp<AllReduceOp>(
        reduce, reduce.getType(), reduce.getReductionAttr(), inner.getInput(),
        join(inner.getAxes(), reduce.getAxes()), reduce.getMeshAttr());
    return success();
  }
};

/// all_reduce(x) - all_reduce(y): all_reduce(x - y), where both are sums over one group and used
/// here only.
struct DifferenceOfReduces : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubOp sub, PatternRewriter &rewriter) const override {
    AllReduceOp lhs = getSumUsedOnce(sub.getLhs()), rhs = getSumUsedOnce(sub.getRhs());
    if (!lhs || !rhs || !sameGroup(lhs, rhs))
      return rewriter.notifyMatchFailure(sub, "not two sums over one group");
    Value local = SubOp::create(rewriter, sub.getLoc(), lhs.getInput(), rhs.getInput());
    rewriter.replaceOp(sub, reduceLike(rewriter, {lhs, rhs}, local));
    return success();
  }
};

/// Addends that are all_reduces over one group are added first and reduced once, wherever they
/// stand in a sum: (all_reduce(x) + a) + (all_reduce(y) + b) becomes (all_reduce(x + y) + a) + b.
struct SumOfReduces : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp root, PatternRewriter &rewriter) const override {
    if (root->hasOneUse() && isa<AddOp>(*root->user_begin()))
      return rewriter.notifyMatchFailure(root, "part of a larger sum");
    SmallVector<Value> addends;
    collectAddends(root, addends);
    SmallVector<AllReduceOp> reduces;
    for (Value addend : addends)
      if (AllReduceOp reduce = getSumUsedOnce(addend))
        if (reduces.empty() || sameGroup(reduces.front(), reduce))
          reduces.push_back(reduce);
    if (reduces.size() < 2)
      return rewriter.notifyMatchFailure(root, "fewer than two sums over one group");
    Value local = reduces.front().getInput();
    for (AllReduceOp reduce : llvm::drop_begin(reduces))
      local = AddOp::create(rewriter, root.getLoc(), local, reduce.getInput());
    Value sum = reduceLike(rewriter, reduces, local);
    for (Value addend : addends)
      if (!llvm::is_contained(reduces, addend.getDefiningOp<AllReduceOp>()))
        sum = AddOp::create(rewriter, root.getLoc(), sum, addend);
    rewriter.replaceOp(root, sum);
    return success();
  }

private:
  /// The leaves of a tree of additions that are used in it only, from left to right.
  static void collectAddends(AddOp sum, SmallVectorImpl<Value> &addends) {
    SmallVector<Value> stack{sum.getRhs(), sum.getLhs()};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      if (auto inner = getSingleUse<AddOp>(value))
        stack.append({inner.getRhs(), inner.getLhs()});
      else
        addends.push_back(value);
    }
  }
};
} // namespace

void AllReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DifferenceOfReduces, ReduceOfReduce, SumOfReduces>(context);
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

namespace {
/// slice [a…] of all_gather [a…, b…]: all_gather [b…]; slice [a…, b…] of all_gather [a…]: slice
/// [b…].
struct SliceOfGather : OpRewritePattern<dist::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(dist::SliceOp slice, PatternRewriter &rewriter) const override {
    auto gather = slice.getInput().getDefiningOp<AllGatherOp>();
    if (!gather || gather.getDim() != slice.getDim())
      return rewriter.notifyMatchFailure(slice, "not a gather along the same dimension");
    ArrayAttr sliced = slice.getAxes(), gathered = gather.getAxes();
    if (startsWith(gathered, sliced))
      rewriter.replaceOpWithNewOp<AllGatherOp>(slice, slice.getType(), gather.getInput(),
                                               slice.getDimAttr(), dropPrefix(gathered, sliced),
                                               slice.getMeshAttr());
    else if (startsWith(sliced, gathered))
      rewriter.replaceOpWithNewOp<dist::SliceOp>(slice, slice.getType(), gather.getInput(),
                                                 slice.getDimAttr(), dropPrefix(sliced, gathered),
                                                 slice.getMeshAttr());
    else
      return rewriter.notifyMatchFailure(slice, "other axes");
    return success();
  }
};

/// slice of an all_gather along another dimension over the same axes: all_to_all.
struct SliceOfOtherGather : OpRewritePattern<dist::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(dist::SliceOp slice, PatternRewriter &rewriter) const override {
    auto gather = getSingleUse<AllGatherOp>(slice.getInput());
    if (!gather || gather.getDim() == slice.getDim() || gather.getAxes() != slice.getAxes())
      return rewriter.notifyMatchFailure(slice, "not a gather over the same axes");
    rewriter.replaceOpWithNewOp<AllToAllOp>(slice, slice.getType(), gather.getInput(),
                                            slice.getDimAttr(), gather.getDimAttr(),
                                            slice.getAxes(), slice.getMeshAttr());
    return success();
  }
};

/// slice [a] of all_reduce [a, b]: reduce_scatter [a] of all_reduce [b].
struct SliceOfReduce : OpRewritePattern<dist::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(dist::SliceOp slice, PatternRewriter &rewriter) const override {
    auto reduce = getSingleUse<AllReduceOp>(slice.getInput());
    std::optional<ArrayAttr> rest =
        reduce ? subtract(reduce.getAxes(), slice.getAxes()) : std::nullopt;
    if (!rest)
      return rewriter.notifyMatchFailure(slice, "not a reduction over the sliced axes");
    Value scattered = ReduceScatterOp::create(
        rewriter, reduce.getLoc(), slice.getType(), reduce.getReductionAttr(), reduce.getInput(),
        slice.getDimAttr(), slice.getAxes(), slice.getMeshAttr());
    if (!rest->empty())
      scattered =
          AllReduceOp::create(rewriter, reduce.getLoc(), slice.getType(), reduce.getReductionAttr(),
                              scattered, *rest, slice.getMeshAttr());
    rewriter.replaceOp(slice, scattered);
    return success();
  }
};

/// slice [b] of slice [a] along one dimension: slice [a, b].
struct SliceOfSlice : OpRewritePattern<dist::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(dist::SliceOp slice, PatternRewriter &rewriter) const override {
    auto outer = slice.getInput().getDefiningOp<dist::SliceOp>();
    if (!outer || outer.getDim() != slice.getDim() || !disjoint(outer.getAxes(), slice.getAxes()))
      return rewriter.notifyMatchFailure(slice, "not a slice along the same dimension");
    rewriter.replaceOpWithNewOp<dist::SliceOp>(
        slice, slice.getType(), outer.getInput(), slice.getDimAttr(),
        join(outer.getAxes(), slice.getAxes()), slice.getMeshAttr());
    return success();
  }
};
} // namespace

void dist::SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfGather, SliceOfOtherGather, SliceOfReduce, SliceOfSlice>(context);
}

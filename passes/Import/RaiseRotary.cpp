#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Elements.h"
#include "passes/Import/MissedRemarks.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/RotaryTables.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace weft {
#define GEN_PASS_DEF_RAISEROTARY
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// What a slice of the last dimension takes from: `start` and the source; null if `value` is
/// another slice.
static Value slicedLast(Value value, int64_t &start) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice)
    return {};
  int64_t last = rankOf(value) - 1;
  for (int64_t dim = 0; dim <= last; ++dim)
    if (slice.getStrides()[dim] != 1 ||
        (dim < last && shapeOf(value)[dim] != shapeOf(slice.getInput())[dim]))
      return {};
  start = slice.getStarts()[last];
  return slice.getInput();
}

//===----------------------------------------------------------------------===//
// x·cos + rotated(x)·sin
//===----------------------------------------------------------------------===//

namespace {
/// A product behind views, the first applied first.
struct Term {
  MulOp product;
  SmallVector<Operation *> views;
};

struct RotaryParts {
  Value x; ///< before the views
  SmallVector<Operation *> views;
  AngleTable cos, sin;
  Pairing pairing;
};
} // namespace

static std::optional<Term> termOf(Value value) {
  Term term;
  Operation *op = value.getDefiningOp();
  for (; ViewMap::of(op); op = op->getOperand(0).getDefiningOp())
    term.views.insert(term.views.begin(), op);
  term.product = dyn_cast_or_null<MulOp>(op);
  return term.product ? std::optional(term) : std::nullopt;
}

/// The element of a factor that makes element `index` of rows of a term; none where views mix rows.
static std::optional<Element> factorElement(const Term &term, Value factor, ArrayRef<int64_t> shape,
                                            int64_t index, MatchedOps &matched) {
  Coordinates at = inRows(shape, index);
  for (Operation *view : llvm::reverse(term.views)) {
    std::optional<Coordinates> from = throughView(*ViewMap::of(view), at);
    if (!from)
      return std::nullopt;
    at = *from;
  }
  return trace({factor, at}, matched);
}

/// Whether `turned` holds for the first of each pair the second one negated, for the second the
/// first.
static bool isTurned(const Term &straight, Value x, const Term &term, Value turned,
                     ArrayRef<int64_t> shape, Pairing pairing, MatchedOps &matched) {
  int64_t width = shape.back(), apart = pairing == Pairing::Halves ? width / 2 : 1;
  MatchedOps others;
  for (int64_t index = 0; index < width; ++index) {
    bool isFirst = pairing == Pairing::Halves ? index < apart : index % 2 == 0;
    auto found = factorElement(term, turned, shape, index, matched);
    auto expected =
        factorElement(straight, x, shape, isFirst ? index + apart : index - apart, others);
    if (!found || !expected || expected->negated)
      return false;
    expected->negated = isFirst;
    if (*found != *expected)
      return false;
  }
  return true;
}

/// x·cos and turned·sin in two products; `why` tells where a factor is turned, but no table is
/// found.
static std::optional<RotaryParts> matchRotary(const Term &straight, const Term &turned,
                                              ArrayRef<int64_t> shape, MatchedOps &matched,
                                              std::string &why) {
  for (unsigned x : {0, 1})
    for (unsigned rotated : {0, 1})
      for (Pairing pairing : {Pairing::Halves, Pairing::Interleaved}) {
        MulOp cosine = straight.product, sine = turned.product;
        MatchedOps passed;
        if (!isTurned(straight, cosine->getOperand(x), turned, sine->getOperand(rotated), shape,
                      pairing, passed))
          continue;
        auto cos = AngleTable::of(cosine->getOperand(1 - x), straight.views);
        auto sin = AngleTable::of(sine->getOperand(1 - rotated), turned.views);
        if (!cos || !sin) {
          unsigned table = cos ? 1 - rotated : 1 - x;
          why = "views mix dimensions of the table " +
                describe((cos ? sine : cosine)->getOperand(table)) + " with others";
          continue;
        }
        matched.insert(passed.begin(), passed.end());
        matched.insert(cosine);
        matched.insert(sine);
        return RotaryParts{cosine->getOperand(x), straight.views, *cos, *sin, pairing};
      }
  return std::nullopt;
}

/// The dimension of positions, from the dimensions along which a table differs; none if these are
/// not positions' alone, or those and the batch's, which is the first.
static std::optional<int64_t> positionDim(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  if (!dims.empty() && dims.front() == 0)
    dims = dims.drop_front();
  if (dims.size() == 1)
    return dims.front();
  if (!dims.empty())
    return std::nullopt;
  for (int64_t dim = shape.size() - 2; dim > 0; --dim)
    if (shape[dim] == 1)
      return dim;
  return std::nullopt;
}

/// Rotates x, of which `positions` is a dimension behind the batch's: all others but the last are
/// heads.
static Value createRotary(Value x, Value cos, Value sin, Pairing pairing, int64_t positions,
                          Location loc, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t last = shape.size() - 1, heads = 1;
  SmallVector<int64_t> order = {0};
  for (int64_t dim = 1; dim < last; ++dim)
    if (dim != positions) {
      order.push_back(dim);
      heads *= shape[dim];
    }
  order.append({positions, last});
  bool swap = !llvm::is_sorted(order);
  if (swap)
    x = TransposeOp::create(rewriter, x.getLoc(), x, order);
  auto transposed = cast<RankedTensorType>(x.getType());
  if (shape.size() != 4)
    x = ReshapeOp::create(rewriter, x.getLoc(),
                          transposed.clone({shape.front(), heads, shape[positions], shape.back()}),
                          x);
  Value result =
      RotaryOp::create(rewriter, loc, x.getType(), x, cos, sin, pairing == Pairing::Interleaved);
  if (shape.size() != 4)
    result = ReshapeOp::create(rewriter, loc, transposed, result);
  return swap ? TransposeOp::create(rewriter, loc, result, invertPermutationVector(order))
                    .getResult()
              : result;
}

/// Why tables that are used as angles of rows of `shape` are not those of positions, or "".
static std::string whyNoPositions(const AngleTable &cos, const AngleTable &sin,
                                  ArrayRef<int64_t> shape) {
  if (cos.dims() != sin.dims())
    return "cosines differ along " + describeDims(cos.dims()) + ", sines along " +
           describeDims(sin.dims());
  if (shape.size() < 3)
    return "rows stand along one dimension, not along the batch's and positions'";
  if (positionDim(cos.dims(), shape))
    return "";
  return "angles differ along " + describeDims(cos.dims()) +
         ", not along positions, and the batch, alone";
}

static LogicalResult raiseRotary(AddOp op, RaisingContext &raising, PatternRewriter &rewriter) {
  Constants &constants = raising.constants;
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  std::optional<Term> left = termOf(op.getLhs()), right = termOf(op.getRhs());
  if (shape.empty() || shape.back() == 0 || shape.back() % 2 != 0 || !left || !right)
    return rewriter.notifyMatchFailure(op, "not a sum of products");
  MatchedOps matched;
  std::string why;
  std::optional<RotaryParts> parts = matchRotary(*left, *right, shape, matched, why);
  if (!parts)
    parts = matchRotary(*right, *left, shape, matched, why);
  if (!parts && why.empty())
    return rewriter.notifyMatchFailure(op, "not x times cos plus rotated x times sin");
  if (parts)
    why = whyNoPositions(parts->cos, parts->sin, shape);
  if (!why.empty())
    return raising.missedRemarks.note(op, "rotary", why);
  const AngleTable &cos = parts->cos, &sin = parts->sin;
  std::optional<int64_t> positions = positionDim(cos.dims(), shape);
  if (!cos.sharesAngles(shape.back(), parts->pairing, constants) ||
      !sin.sharesAngles(shape.back(), parts->pairing, constants))
    return raising.missedRemarks.note(op, "rotary", "elements of a pair may have different angles");
  Value x = parts->x;
  for (Operation *view : parts->views)
    x = repeatView(rewriter, x.getLoc(), view, x, view->getResult(0).getType());
  auto build = [&](const AngleTable &table, StringRef name) {
    return table.build(rewriter, shape, *positions, parts->pairing, constants, name);
  };
  Value cosines = build(cos, "rotary_cos"), sines = build(sin, "rotary_sin");
  rewriter.replaceOp(op, createRotary(x, cosines, sines, parts->pairing, *positions,
                                      fuseLocations(op, matched.getArrayRef()), rewriter));
  return success();
}

//===----------------------------------------------------------------------===//
// First and second elements rotated apart
//===----------------------------------------------------------------------===//

namespace {
/// x1·cos - x2·sin and x2·cos + x1·sin, of the first and the second elements of pairs.
struct PairSums {
  SubOp first;
  AddOp second;
  Pairing pairing = Pairing::Halves;
  Coordinates at;             ///< in both sums, of the first pair
  SmallVector<int64_t> order; ///< the sums' dimensions that are those of the rows; the last: pairs
};
/// Their factors.
struct PairFactors {
  Value first, second; ///< x1 and x2
  Value cos, sin;
};
} // namespace

static bool isProductOf(Value value, Value x, Value y) {
  auto mul = value.getDefiningOp<MulOp>();
  return mul &&
         ((mul.getLhs() == x && mul.getRhs() == y) || (mul.getLhs() == y && mul.getRhs() == x));
}

/// All that the factors of two such sums may be.
static SmallVector<PairFactors> factorsOf(SubOp first, AddOp second) {
  SmallVector<PairFactors> found;
  auto straight = first.getLhs().getDefiningOp<MulOp>(),
       turned = first.getRhs().getDefiningOp<MulOp>();
  for (unsigned x = 0; straight && turned && x < 2; ++x)
    for (unsigned y : {0, 1}) {
      PairFactors factors{straight->getOperand(x), turned->getOperand(y),
                          straight->getOperand(1 - x), turned->getOperand(1 - y)};
      auto fits = [&](Value cosine, Value sine) {
        return isProductOf(cosine, factors.second, factors.cos) &&
               isProductOf(sine, factors.first, factors.sin);
      };
      if (fits(second.getLhs(), second.getRhs()) || fits(second.getRhs(), second.getLhs()))
        found.push_back(factors);
    }
  return found;
}

/// The dimensions of a value, whose element has these coordinates, that are those of rows of
/// `shape`; none where they are others.
static std::optional<SmallVector<int64_t>> orderOf(ArrayRef<Coordinate> at, int64_t last,
                                                   ArrayRef<int64_t> shape) {
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim + 1 < static_cast<int64_t>(shape.size()); ++dim) {
    auto isTaken = [&](int64_t own) { return own == last || llvm::is_contained(order, own); };
    for (int64_t own = 0; own < static_cast<int64_t>(at.size()); ++own)
      if (!isTaken(own) && (shape[dim] == 1 ? at[own] == Coordinate() : at[own].dim == dim)) {
        order.push_back(own);
        break;
      }
  }
  order.push_back(last);
  return order.size() == shape.size() ? std::optional(order) : std::nullopt;
}

/// The dimension along which alone two elements of a value differ, both by numbers.
static std::optional<int64_t> differingDim(const Element &one, const Element &other) {
  std::optional<int64_t> found;
  if (one.value != other.value || one.at.size() != other.at.size() || one.negated || other.negated)
    return std::nullopt;
  for (auto [dim, left, right] : llvm::enumerate(one.at, other.at)) {
    if (left == right)
      continue;
    if (found || !left.isNumber() || !right.isNumber())
      return std::nullopt;
    found = dim;
  }
  return found;
}

static int64_t placeInRow(Pairing pairing, int64_t pair, bool second, int64_t width) {
  return pairing == Pairing::Halves ? pair + (second ? width / 2 : 0) : 2 * pair + second;
}

/// The sums that make up rows of `shape` in a value that may have pairs as its last two dimensions:
/// each pair of elements is one element of both sums.
static std::optional<PairSums> sumsIn(Value result, ArrayRef<int64_t> shape, MatchedOps &matched) {
  int64_t width = shape.back();
  auto element = [&](int64_t index) {
    Coordinates at = inRows(shape, index);
    if (rankOf(result) > static_cast<int64_t>(shape.size())) {
      at.back().index /= 2;
      at.push_back({-1, index % 2});
    }
    return trace({result, at}, matched);
  };
  Element origin = element(0);
  PairSums sums;
  sums.first = origin.value.getDefiningOp<SubOp>();
  if (!sums.first)
    return std::nullopt;
  sums.second = element(1).value.getDefiningOp<AddOp>();
  sums.pairing = sums.second ? Pairing::Interleaved : Pairing::Halves;
  if (!sums.second)
    sums.second = element(width / 2).value.getDefiningOp<AddOp>();
  Element next = element(placeInRow(sums.pairing, 1, false, width));
  std::optional<int64_t> last = sums.second ? differingDim(origin, next) : std::nullopt;
  auto order = last ? orderOf(origin.at, *last, shape) : std::nullopt;
  if (!order || shapeOf(sums.first)[*last] != width / 2)
    return std::nullopt;
  sums.at = origin.at;
  sums.order = *order;
  for (int64_t pair = 0; pair < width / 2; ++pair) {
    Element expected = origin;
    expected.at[*last].index = pair;
    if (element(placeInRow(sums.pairing, pair, false, width)) != expected)
      return std::nullopt;
    expected.value = sums.second;
    if (element(placeInRow(sums.pairing, pair, true, width)) != expected)
      return std::nullopt;
  }
  return sums;
}

/// An element of a value that has pairs in two dimensions, the last ones, as that of the value with
/// both in one.
static void joinPairs(Element &element, int64_t rank) {
  auto own = static_cast<int64_t>(element.at.size());
  if (own != rank + 1 || shapeOf(element.value).back() != 2 || !element.at[rank - 1].isNumber() ||
      !element.at[rank].isNumber())
    return;
  element.at[rank - 1].index = 2 * element.at[rank - 1].index + element.at[rank].index;
  element.at.pop_back();
}

/// The value of which `factors` hold the first and second elements of pairs, in the order of the
/// rows; null where they are not those of one value.
static Value wholeOf(const PairSums &sums, const PairFactors &factors, ArrayRef<int64_t> shape,
                     PatternRewriter &rewriter) {
  int64_t width = shape.back();
  MatchedOps passed;
  auto element = [&](Value factor, int64_t pair) {
    Coordinates at = sums.at;
    at[sums.order.back()].index = pair;
    Element found = trace({factor, at}, passed);
    joinPairs(found, shape.size());
    return found;
  };
  Element origin = element(factors.first, 0);
  std::optional<int64_t> last = differingDim(origin, element(factors.second, 0));
  auto order = last ? orderOf(origin.at, *last, shape) : std::nullopt;
  if (!order || origin.at.size() != shape.size() || origin.at[*last].index != 0)
    return {};
  SmallVector<int64_t> whole(shapeOf(origin.value));
  if (whole.size() > shape.size()) { // joinPairs has joined the last two dimensions
    whole.pop_back();
    whole.back() *= 2;
  }
  if (whole[*last] != width)
    return {};
  for (int64_t pair = 0; pair < width / 2; ++pair)
    for (bool second : {false, true}) {
      Element expected = origin;
      expected.at[*last].index = placeInRow(sums.pairing, pair, second, width);
      if (element(second ? factors.second : factors.first, pair) != expected)
        return {};
    }
  Location loc = origin.value.getLoc();
  auto type = RankedTensorType::get(whole, elementOf(origin.value));
  Value x = rewriter.createOrFold<ReshapeOp>(loc, type, origin.value);
  return llvm::is_sorted(*order) ? x : TransposeOp::create(rewriter, loc, x, *order).getResult();
}

/// Rotations whose first and second elements are computed apart: halves that are joined, or stacked
/// along a new last dimension.
static LogicalResult raisePairs(ConcatOp op, RaisingContext &raising, PatternRewriter &rewriter) {
  Constants &constants = raising.constants;
  SmallVector<int64_t> shape(shapeOf(op.getResult()));
  if (op.getAxis() + 1 != shape.size() || op.getInputs().size() != 2)
    return rewriter.notifyMatchFailure(op, "not two parts of rows");
  if (shape.size() > 3 && shape.back() == 2) {
    shape.pop_back();
    shape.back() *= 2;
  }
  if (shape.size() < 3 || shape.back() % 2 != 0 || shape.back() < 4 || llvm::is_contained(shape, 0))
    return rewriter.notifyMatchFailure(op, "no rows of pairs");
  MatchedOps matched;
  std::optional<PairSums> sums = sumsIn(op.getResult(), shape, matched);
  if (!sums)
    return rewriter.notifyMatchFailure(op, "not made of first and second elements of pairs");
  std::string why;
  for (const PairFactors &factors : factorsOf(sums->first, sums->second)) {
    auto cos = AngleTable::ofPairs(factors.cos, sums->order, sums->pairing);
    auto sin = AngleTable::ofPairs(factors.sin, sums->order, sums->pairing);
    std::string reason = cos && sin ? whyNoPositions(*cos, *sin, shape)
                                    : "tables have their dimensions in another order than rows";
    Value x = reason.empty() ? wholeOf(*sums, factors, shape, rewriter) : Value();
    if (!x) {
      if (why.empty()) // tables stand on the right, as a rule: the first way round tells most
        why = reason.empty() ? "first and second elements are not those of one value" : reason;
      continue;
    }
    std::optional<int64_t> positions = positionDim(cos->dims(), shape);
    Value cosines = cos->build(rewriter, shape, *positions, sums->pairing, constants, "rotary_cos");
    Value sines = sin->build(rewriter, shape, *positions, sums->pairing, constants, "rotary_sin");
    Location loc = fuseLocations(op, {sums->first, sums->second});
    Value rotated = createRotary(x, cosines, sines, sums->pairing, *positions, loc, rewriter);
    rewriter.replaceOp(op, rewriter.createOrFold<ReshapeOp>(loc, op.getType(), rotated));
    return success();
  }
  if (!why.empty())
    return raising.missedRemarks.note(op, "rotary", why);
  return rewriter.notifyMatchFailure(op, "not sums of products with the same factors");
}

//===----------------------------------------------------------------------===//
// Partial rotation
//===----------------------------------------------------------------------===//

/// concat(rotary(first elements of x), other elements of x) is rotary(x), also where the rotation
/// is between a transpose and its inverse.
static LogicalResult extendRotary(ConcatOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 2 ||
      static_cast<int64_t>(op.getAxis()) != rankOf(op.getResult()) - 1)
    return rewriter.notifyMatchFailure(op, "not two parts of rows");
  auto back = op.getInputs()[0].getDefiningOp<TransposeOp>();
  Value rotated = back ? back.getInput() : op.getInputs()[0];
  auto rotary = rotated.getDefiningOp<RotaryOp>();
  auto forth = rotary && back ? rotary.getInput().getDefiningOp<TransposeOp>() : TransposeOp();
  if (!rotary ||
      (back && (!forth || forth.getPermutation() != back.getPermutation() ||
                invertPermutationVector(back.getPermutation()) != back.getPermutation() ||
                back.getPermutation().back() != 3)))
    return rewriter.notifyMatchFailure(op, "first part is not rotated");
  int64_t first = -1, second = -1;
  Value low = slicedLast(forth ? forth.getInput() : rotary.getInput(), first);
  Value high = slicedLast(op.getInputs()[1], second);
  if (!low || low != high || first != 0 || second != shapeOf(rotary.getInput()).back() ||
      shapeOf(op.getResult()) != shapeOf(low))
    return rewriter.notifyMatchFailure(op, "not a rotated and an unchanged part of one value");
  Location loc = fuseLocations(op, {rotary});
  if (forth)
    low = TransposeOp::create(rewriter, forth.getLoc(), low, forth.getPermutation());
  Value whole = RotaryOp::create(rewriter, loc, low.getType(), low, rotary.getCos(),
                                 rotary.getSin(), rotary.getInterleaved());
  if (back)
    whole = TransposeOp::create(rewriter, loc, whole, back.getPermutation());
  rewriter.replaceOp(op, whole);
  return success();
}

namespace {
struct RaiseRotary : weft::impl::RaiseRotaryBase<RaiseRotary> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    RaisingContext raising(getOperation());
    patterns.add(extendRotary);
    addPattern(patterns, raising, raiseRotary);
    addPattern(patterns, raising, raisePairs);
    populateCanonicalization(patterns);
    if (failed(rewriteAndReport(*this, getOperation(), std::move(patterns), raising.missedRemarks)))
      signalPassFailure();
  }
};
} // namespace

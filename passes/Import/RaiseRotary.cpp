#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/RotaryTables.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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
// Where elements come from
//===----------------------------------------------------------------------===//

namespace {
/// A position along a dimension: a number, or as far as along dimension `dim` of what is matched.
struct Coordinate {
  int64_t dim = -1;
  int64_t index = 0;
  bool isNumber() const { return dim < 0; }
  bool operator==(const Coordinate &other) const = default;
};
using Coordinates = SmallVector<Coordinate, 6>;

/// An element of a value, or that negated.
struct Element {
  Value value;
  Coordinates at;
  bool negated = false;
  bool operator==(const Element &other) const = default;
};
} // namespace

/// The coordinates in a view's operand; none where it splits or joins what is not a number.
static std::optional<Coordinates> throughView(const ViewMap &map, ArrayRef<Coordinate> at) {
  Coordinates from(map.fromShape().size());
  for (const ViewMap::Group &group : map.groups()) {
    if (group.from.size() == 1 && group.to.size() == 1) {
      from[group.from.front()] = at[group.to.front()];
      continue;
    }
    int64_t flat = 0;
    for (int64_t to : group.to) {
      if (!at[to].isNumber())
        return std::nullopt;
      flat = flat * map.toShape()[to] + at[to].index;
    }
    for (int64_t dim : llvm::reverse(group.from)) {
      from[dim].index = flat % map.fromShape()[dim];
      flat /= map.fromShape()[dim];
    }
  }
  return from;
}

/// The coordinates in a slice's operand; none where it takes a part along what is not a number.
static std::optional<Coordinates> throughSlice(SliceOp slice, ArrayRef<Coordinate> at) {
  Coordinates from(at);
  for (auto [dim, coordinate] : llvm::enumerate(from)) {
    if (coordinate.isNumber())
      coordinate.index = slice.getStarts()[dim] + coordinate.index * slice.getStrides()[dim];
    else if (shapeOf(slice.getInput())[dim] != shapeOf(slice.getResult())[dim])
      return std::nullopt;
  }
  return from;
}

/// One step from an element of a result to that of an operand; false where there is none.
static bool step(Element &element, Swallowed &swallowed) {
  Operation *op = element.value.getDefiningOp();
  std::optional<Coordinates> from;
  if (std::optional<ViewMap> map = ViewMap::of(op)) {
    from = throughView(*map, element.at);
  } else if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
    from = throughSlice(slice, element.at);
  } else if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    from.emplace();
    for (auto [dim, size] : llvm::zip(broadcast.getDims(), shapeOf(broadcast.getInput())))
      from->push_back(size == 1 ? Coordinate() : element.at[dim]);
  } else if (auto neg = dyn_cast_or_null<NegOp>(op)) {
    element.negated = !element.negated;
    swallowed.insert(neg);
    from = element.at;
  }
  if (from) {
    element = {op->getOperand(0), *from, element.negated};
    return true;
  }
  auto concat = dyn_cast_or_null<ConcatOp>(op);
  if (!concat || !element.at[concat.getAxis()].isNumber())
    return false;
  swallowed.insert(concat);
  Coordinate &along = element.at[concat.getAxis()];
  for (Value input : concat.getInputs()) {
    element.value = input;
    if (along.index < shapeOf(input)[concat.getAxis()])
      break;
    along.index -= shapeOf(input)[concat.getAxis()];
  }
  return true;
}

/// Where an element of `value` comes from, through views, parts and negations.
static Element trace(Element element, Swallowed &swallowed) {
  while (step(element, swallowed))
    ;
  return element;
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
                                            int64_t index, Swallowed &swallowed) {
  Coordinates at;
  for (int64_t dim = 0; dim + 1 < static_cast<int64_t>(shape.size()); ++dim)
    at.push_back(shape[dim] == 1 ? Coordinate() : Coordinate{dim, 0});
  at.push_back({-1, index});
  for (Operation *view : llvm::reverse(term.views)) {
    std::optional<Coordinates> from = throughView(*ViewMap::of(view), at);
    if (!from)
      return std::nullopt;
    at = *from;
  }
  return trace({factor, at}, swallowed);
}

/// Whether `turned` holds for the first of each pair the second one negated, for the second the
/// first.
static bool isTurned(const Term &straight, Value x, const Term &term, Value turned,
                     ArrayRef<int64_t> shape, Pairing pairing, Swallowed &swallowed) {
  int64_t width = shape.back(), apart = pairing == Pairing::Halves ? width / 2 : 1;
  Swallowed others;
  for (int64_t index = 0; index < width; ++index) {
    bool isFirst = pairing == Pairing::Halves ? index < apart : index % 2 == 0;
    auto found = factorElement(term, turned, shape, index, swallowed);
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

static std::optional<RotaryParts> matchRotary(const Term &straight, const Term &turned,
                                              ArrayRef<int64_t> shape, Swallowed &swallowed) {
  for (unsigned x : {0, 1})
    for (unsigned rotated : {0, 1})
      for (Pairing pairing : {Pairing::Halves, Pairing::Interleaved}) {
        MulOp cosine = straight.product, sine = turned.product;
        Swallowed passed;
        if (!isTurned(straight, cosine->getOperand(x), turned, sine->getOperand(rotated), shape,
                      pairing, passed))
          continue;
        auto cos = AngleTable::of(cosine->getOperand(1 - x), straight.views);
        auto sin = AngleTable::of(sine->getOperand(1 - rotated), turned.views);
        if (!cos || !sin)
          continue;
        swallowed.insert(passed.begin(), passed.end());
        swallowed.insert(cosine);
        swallowed.insert(sine);
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

static LogicalResult raiseRotary(AddOp op, Constants &constants, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  std::optional<Term> left = termOf(op.getLhs()), right = termOf(op.getRhs());
  if (shape.size() < 3 || shape.back() % 2 != 0 || !left || !right)
    return rewriter.notifyMatchFailure(op, "not a sum of products");
  Swallowed swallowed;
  std::optional<RotaryParts> parts = matchRotary(*left, *right, shape, swallowed);
  if (!parts)
    parts = matchRotary(*right, *left, shape, swallowed);
  if (!parts)
    return rewriter.notifyMatchFailure(op, "not x times cos plus rotated x times sin");
  const AngleTable &cos = parts->cos, &sin = parts->sin;
  std::optional<int64_t> positions = positionDim(cos.dims(), shape);
  if (!positions || cos.dims() != sin.dims())
    return rewriter.notifyMatchFailure(op, "angles are not those of positions");
  if (!cos.sharesAngles(shape.back(), parts->pairing, constants) ||
      !sin.sharesAngles(shape.back(), parts->pairing, constants))
    return rewriter.notifyMatchFailure(op, "pairs do not share an angle");
  Value x = parts->x;
  for (Operation *view : parts->views)
    x = repeatView(rewriter, x.getLoc(), view, x, view->getResult(0).getType());
  auto build = [&](const AngleTable &table, StringRef name) {
    return table.build(rewriter, shape, *positions, parts->pairing, constants, name);
  };
  Value cosines = build(cos, "rotary_cos"), sines = build(sin, "rotary_sin");
  rewriter.replaceOp(op, createRotary(x, cosines, sines, parts->pairing, *positions,
                                      fuseLocations(op, swallowed.getArrayRef()), rewriter));
  return success();
}

//===----------------------------------------------------------------------===//
// Halves rotated apart
//===----------------------------------------------------------------------===//

namespace {
/// x1·cos - x2·sin and x2·cos + x1·sin.
struct RotatedHalves {
  Value first, second; ///< x1 and x2
  Value cos, sin;
};
} // namespace

static bool isProductOf(Value value, Value x, Value y) {
  auto mul = value.getDefiningOp<MulOp>();
  return mul &&
         ((mul.getLhs() == x && mul.getRhs() == y) || (mul.getLhs() == y && mul.getRhs() == x));
}

/// The x of which `first` is the first half of the last dimension and `second` the other.
static Value wholeOf(Value first, Value second) {
  int64_t low = -1, high = -1, half = shapeOf(first).back();
  Value x = slicedLast(first, low);
  bool isWhole = x && x == slicedLast(second, high) && low == 0 && high == half &&
                 shapeOf(x).back() == 2 * half && shapeOf(first) == shapeOf(second);
  return isWhole ? x : Value();
}

static std::optional<RotatedHalves> matchHalves(SubOp low, AddOp high) {
  auto straight = low.getLhs().getDefiningOp<MulOp>(), turned = low.getRhs().getDefiningOp<MulOp>();
  if (!straight || !turned)
    return std::nullopt;
  for (unsigned x : {0, 1})
    for (unsigned y : {0, 1}) {
      RotatedHalves halves{straight->getOperand(x), turned->getOperand(y),
                           straight->getOperand(1 - x), turned->getOperand(1 - y)};
      auto isSecond = [&](Value cosine, Value sine) {
        return isProductOf(cosine, halves.second, halves.cos) &&
               isProductOf(sine, halves.first, halves.sin);
      };
      if (wholeOf(halves.first, halves.second) &&
          (isSecond(high.getLhs(), high.getRhs()) || isSecond(high.getRhs(), high.getLhs())))
        return halves;
    }
  return std::nullopt;
}

static LogicalResult raiseHalves(ConcatOp op, Constants &constants, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  if (op.getInputs().size() != 2 || shape.size() < 3 || op.getAxis() + 1 != shape.size())
    return rewriter.notifyMatchFailure(op, "not two parts of rows");
  auto low = op.getInputs()[0].getDefiningOp<SubOp>();
  auto high = op.getInputs()[1].getDefiningOp<AddOp>();
  std::optional<RotatedHalves> halves = low && high ? matchHalves(low, high) : std::nullopt;
  if (!halves)
    return rewriter.notifyMatchFailure(op, "not the halves of a rotation");
  AngleTable cos = AngleTable::ofHalves(halves->cos), sin = AngleTable::ofHalves(halves->sin);
  std::optional<int64_t> positions = positionDim(cos.dims(), shape);
  if (!positions || cos.dims() != sin.dims())
    return rewriter.notifyMatchFailure(op, "angles are not those of positions");
  auto build = [&](const AngleTable &table, StringRef name) {
    return table.build(rewriter, shape, *positions, Pairing::Halves, constants, name);
  };
  Value cosines = build(cos, "rotary_cos"), sines = build(sin, "rotary_sin");
  Location loc = fuseLocations(op, {low, high});
  rewriter.replaceOp(op, createRotary(wholeOf(halves->first, halves->second), cosines, sines,
                                      Pairing::Halves, *positions, loc, rewriter));
  return success();
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
    Constants constants(getOperation());
    patterns.add(extendRotary);
    addPattern(patterns, constants, raiseRotary);
    addPattern(patterns, constants, raiseHalves);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

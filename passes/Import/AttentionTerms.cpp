#include "passes/Import/AttentionTerms.h"

#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"

#include <cmath>

using namespace mlir;
using namespace weft;

/// The dimensions of a reshape's operand, if it differs by unit dimensions alone that have a place
/// among those of [b, h, s, t].
static std::optional<Dims> throughUnits(ReshapeOp reshape, ArrayRef<int64_t> dims) {
  Dims others; // of the result, units aside
  for (auto [dim, size] : llvm::zip(dims, shapeOf(reshape.getResult())))
    if (size != 1)
      others.push_back(dim);
  Dims from;
  size_t next = 0;
  for (int64_t size : shapeOf(reshape.getInput())) {
    int64_t dim = from.empty() ? 0 : from.back() + 1;
    if (size != 1) {
      if (next == others.size() || others[next] < dim)
        return std::nullopt;
      dim = others[next++];
    }
    from.push_back(dim);
  }
  if (next != others.size() || (!from.empty() && from.back() > 3) ||
      llvm::count_if(shapeOf(reshape.getInput()), [](int64_t size) { return size != 1; }) !=
          static_cast<int64_t>(others.size()))
    return std::nullopt;
  return from;
}

ScoreTerm weft::withoutBroadcasts(ScoreTerm term) {
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(term.value.getDefiningOp())) {
    if (auto reshape = term.value.getDefiningOp<ReshapeOp>()) {
      std::optional<Dims> through = throughUnits(reshape, term.dims);
      if (!through)
        return term;
      term = {reshape.getInput(), *through};
      continue;
    }
    auto broadcast = term.value.getDefiningOp<BroadcastOp>();
    Dims dims;
    for (auto [dim, size] : llvm::zip(broadcast.getDims(), shapeOf(broadcast.getInput()))) {
      if (size == 1 && shapeOf(term.value)[dim] != 1)
        return term; // canonical broadcasts have no unit dimensions to repeat
      dims.push_back(term.dims[dim]);
    }
    term = {broadcast.getInput(), dims};
  }
  return term;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {
/// A table of visibility over [s, t].
struct Visibility {
  int64_t queries, keys;
  std::vector<int64_t> visible;
  bool at(int64_t query, int64_t key) const { return visible[query * keys + key] != 0; }
};
} // namespace

/// The [s, t] part of a known mask, if it is the same for all batches and heads.
static std::optional<Visibility> visibilityOf(const Tensor &mask, ArrayRef<int64_t> dims,
                                              ArrayRef<int64_t> scores) {
  if (mask.isSplat() || dims.size() < 2 || dims.take_back(2) != ArrayRef<int64_t>{2, 3} ||
      mask.shape().take_back(2) != scores.take_back(2))
    return std::nullopt;
  Visibility table{mask.shape()[dims.size() - 2], mask.shape().back(), numbersOf<int64_t>(mask)};
  size_t count = table.queries * table.keys;
  for (size_t i = count; i < table.visible.size(); ++i)
    if (table.visible[i] != table.visible[i - count])
      return std::nullopt;
  table.visible.resize(count);
  return table;
}

static bool agrees(const Visibility &table, const Positions &positions) {
  for (int64_t query = 0; query < table.queries; ++query)
    for (int64_t key = 0; key < table.keys; ++key) {
      int64_t distance = query + positions.offset - key;
      bool visible = !positions.causal || distance >= 0;
      if (positions.window)
        visible &=
            distance < *positions.window && (positions.causal || -distance < *positions.window);
      if (visible != table.at(query, key))
        return false;
    }
  return true;
}

/// Causality and window of a table, found from its first and last rows and then checked everywhere.
static std::optional<Positions> positionsOf(const Visibility &table) {
  int64_t first = 0, last = table.keys - 1;
  while (first < table.keys && !table.at(table.queries - 1, first))
    ++first;
  while (last >= 0 && !table.at(0, last))
    --last;
  if (first == table.keys || last < 0)
    return std::nullopt;
  Positions causal{/*causal=*/true, /*offset=*/last, std::nullopt};
  if (first > 0)
    causal.window = table.queries - 1 + causal.offset - first + 1;
  if (agrees(table, causal))
    return causal;
  Positions symmetric{/*causal=*/false, table.keys - table.queries, std::nullopt};
  symmetric.window = last - symmetric.offset + 1;
  if (*symmetric.window >= 1 && agrees(table, symmetric))
    return symmetric;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

void AttentionTerms::addMask(ScoreTerm whole) {
  SmallVector<ScoreTerm> pending = {whole};
  while (!pending.empty()) {
    ScoreTerm term = withoutBroadcasts(pending.pop_back_val());
    if (!seenMasks.insert({term.value.getAsOpaquePointer(), term.dims}).second) {
      changed = true; // one mask twice hides no more
    } else if (auto both = term.value.getDefiningOp<AndOp>()) {
      pending.push_back({both.getRhs(), term.dims});
      pending.push_back({both.getLhs(), term.dims});
    } else if (followsFromPositions(term)) {
      changed = true;
    } else {
      masks.push_back(term);
    }
  }
}

/// Whether a mask hides nothing or is told by `positions`, which are set from the first that has
/// some.
bool AttentionTerms::followsFromPositions(const ScoreTerm &mask) {
  FailureOr<Tensor> known = constants.valueOf(mask.value);
  if (failed(known))
    return false;
  auto isVisible = [](int64_t one) { return one != 0; };
  if (llvm::all_of(storedNumbersOf<int64_t>(*known), isVisible))
    return true;
  std::optional<Visibility> table = visibilityOf(*known, mask.dims, scores);
  if (!table || positions)
    return false;
  positions = positionsOf(*table);
  return positions.has_value();
}

bool AttentionTerms::isSimplerThan(Value mask) const {
  return changed || ShapedType::getNumElements(unionShape(masks)) <
                        cast<ShapedType>(mask.getType()).getNumElements();
}

/// Whether every query sees at least one key, whatever the operands.
bool AttentionTerms::everyRowSees() const {
  if (!masks.empty() || !biases.empty())
    return false;
  return !positions || (positions->offset >= 0 && scores[2] + positions->offset <= scores[3]);
}

void AttentionTerms::apply(AttentionOp op) const {
  if (positions) {
    op.setCausal(positions->causal);
    op.setQueryOffset(positions->offset);
    if (positions->window)
      op.setWindow(*positions->window);
  }
  // Where no row can be fully masked, by a bias of -inf neither, the rule for such rows says
  // nothing.
  if (!op.getBias() && everyRowSees())
    op.setMaskedRows(MaskedRows::Nan);
}

/// The number that a splat or a constant branch adds where a mask is false, if scores are lost in
/// it.
static std::optional<double> leastOf(Value value) {
  std::optional<double> number = splatNumber(value);
  return number && *number <= lostBelow ? number : std::nullopt;
}

/// A known table of zeros and one least number, as a mask.
static std::optional<MaskTerm> tableAsMask(Constants &constants, const ScoreTerm &term) {
  FailureOr<Tensor> known = constants.valueOf(term.value);
  if (failed(known))
    return std::nullopt;
  std::vector<int64_t> visible;
  std::optional<double> least;
  for (double number : storedNumbersOf<double>(*known)) {
    visible.push_back(number == 0);
    if (number == 0)
      continue;
    if (!(number <= lostBelow) || (least && *least != number))
      return std::nullopt;
    least = number;
  }
  Type boolean = IntegerType::get(term.value.getContext(), 1);
  Tensor table =
      tensorOf(RankedTensorType::get(known->shape(), boolean), visible, known->isSplat());
  return MaskTerm{term, /*negated=*/false, table, least.value_or(-INFINITY)};
}

/// The i1 value of which a float expression is made; null if there is none near.
static Value findCondition(Value value, int depth = 6) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op); cast && elementOf(cast.getInput()).isInteger(1))
    return cast.getResult();
  if (depth == 0 || !isa_and_nonnull<AddOp, SubOp, MulOp, DivOp, NegOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (Value found = findCondition(operand, depth - 1))
      return found;
  return {};
}

/// (1 - c)·least and the like, with c converted from i1.
static std::optional<MaskTerm> arithmeticAsMask(const ScoreTerm &term) {
  Value number = findCondition(term.value);
  MatchedOps matched;
  std::optional<Polynomial> c = number ? polynomialIn(term.value, number, matched) : std::nullopt;
  if (!c || (*c)[2] != 0 || (*c)[3] != 0)
    return std::nullopt;
  ScoreTerm condition{number.getDefiningOp<CastOp>().getInput(), term.dims};
  double onFalse = (*c)[0], onTrue = (*c)[0] + (*c)[1];
  if (onTrue == 0 && onFalse <= lostBelow)
    return MaskTerm{condition, /*negated=*/false, std::nullopt, onFalse};
  if (onFalse == 0 && onTrue <= lostBelow)
    return MaskTerm{condition, /*negated=*/true, std::nullopt, onTrue};
  return std::nullopt;
}

std::optional<MaskTerm> weft::asMask(Constants &constants, ScoreTerm term) {
  term = withoutBroadcasts(term);
  if (auto select = term.value.getDefiningOp<SelectOp>()) {
    ScoreTerm condition{select.getCondition(), term.dims};
    if (splatNumber(select.getOnTrue()) == 0.0)
      if (std::optional<double> least = leastOf(select.getOnFalse()))
        return MaskTerm{condition, /*negated=*/false, std::nullopt, *least};
    if (splatNumber(select.getOnFalse()) == 0.0)
      if (std::optional<double> least = leastOf(select.getOnTrue()))
        return MaskTerm{condition, /*negated=*/true, std::nullopt, *least};
  }
  if (std::optional<MaskTerm> mask = arithmeticAsMask(term))
    return mask;
  return tableAsMask(constants, term);
}

void AttentionTerms::addMask(const MaskTerm &mask) {
  ScoreTerm visible = mask.condition;
  if (mask.table)
    visible.value = constants.create(builder, visible.value.getLoc(), *mask.table, "mask");
  else if (mask.negated)
    visible.value = NotOp::create(builder, visible.value.getLoc(), visible.value);
  addMask(visible);
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

/// Whether a number or a weight holds finite numbers; none if the value is neither.
static std::optional<bool> isFiniteLeaf(Constants &constants, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false; // an input may hold anything
  if (auto load = dyn_cast<LoadOp>(op)) {
    WeightOp weight = constants.weightOf(load);
    if (weight && weight.getKind() == WeightKind::Parameter)
      return true;
  }
  if (!isa<ConstantOp, LoadOp>(op))
    return std::nullopt;
  FailureOr<Tensor> known = constants.valueOf(value);
  return succeeded(known) && llvm::all_of(storedNumbersOf<double>(*known),
                                          [](double number) { return std::isfinite(number); });
}

bool weft::isFinite(Constants &constants, Value value) {
  constexpr size_t maxValues = 64; // biases are shallow; keeps the search linear
  llvm::SmallSetVector<Value, 16> pending;
  pending.insert(value);
  for (size_t i = 0; i < pending.size(); ++i) {
    if (!isa<FloatType>(elementOf(pending[i])))
      continue;
    std::optional<bool> leaf = isFiniteLeaf(constants, pending[i]);
    if (leaf && *leaf)
      continue;
    Operation *op = pending[i].getDefiningOp();
    if (leaf || pending.size() > maxValues ||
        !isa<AddOp, BroadcastOp, CastOp, ConcatOp, DotGeneralOp, GatherOp, GatherElementsOp, MulOp,
             NegOp, ReshapeOp, SelectOp, SliceOp, SubOp, TransposeOp>(op))
      return false;
    pending.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

SmallVector<int64_t> AttentionTerms::unionShape(ArrayRef<ScoreTerm> terms) const {
  SmallVector<int64_t> shape(4, 1);
  for (const ScoreTerm &term : terms)
    for (auto [dim, size] : llvm::zip(term.dims, shapeOf(term.value)))
      shape[dim] = std::max(shape[dim], size);
  return shape;
}

/// A term as a tensor of four dimensions.
Value AttentionTerms::whole(const ScoreTerm &term, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> own(4, 1);
  for (auto [dim, size] : llvm::zip(term.dims, shapeOf(term.value)))
    own[dim] = size;
  auto type = [&](ArrayRef<int64_t> of) {
    return RankedTensorType::get(of, elementOf(term.value));
  };
  if (ArrayRef<int64_t>(own) == shape)
    return builder.createOrFold<ReshapeOp>(loc, type(shape), term.value);
  return builder.createOrFold<BroadcastOp>(loc, type(shape), term.value,
                                           builder.getDenseI64ArrayAttr(term.dims));
}

template <typename Join> Value AttentionTerms::join(ArrayRef<ScoreTerm> terms) {
  Value all;
  SmallVector<int64_t> shape = unionShape(terms);
  for (const ScoreTerm &term : terms) {
    Value next = whole(term, shape);
    all = all ? Join::create(builder, loc, all, next) : next;
  }
  return all;
}

Value AttentionTerms::mask() { return join<AndOp>(masks); }

Value AttentionTerms::bias() { return join<AddOp>(biases); }

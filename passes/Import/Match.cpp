#include "passes/Import/Match.h"

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/MissedRemarks.h"
#include "passes/Import/ViewMap.h"

#include <cmath>

using namespace mlir;
using namespace weft;

std::string weft::describeOutsideUse(Operation *root, const MatchedOps &matched) {
  auto isOwn = [&](Operation *user) { return user == root || matched.contains(user); };
  for (Operation *op : matched)
    if (isa<DotGeneralOp, ErfOp, ExpOp, ReduceOp, RsqrtOp, SoftmaxOp, SqrtOp, TanhOp>(op) &&
        !llvm::all_of(op->getUsers(), isOwn))
      return describe(op) + " is read by others, too";
  return "";
}

/// The most by which rounding to the nearest of a type turns one of two numbers into the other.
static double roundingBetween(double left, double right, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int exponent = std::max<int>(std::min(std::ilogb(left), std::ilogb(right)),
                               APFloat::semanticsMinExponent(semantics));
  return std::ldexp(1.0, exponent - static_cast<int>(APFloat::semanticsPrecision(semantics)));
}

bool weft::isClose(double value, double expected, Type element, int roundings) {
  constexpr double ownArithmetic = 4 * 0x1p-53; // of matchers, in double
  auto type = dyn_cast<FloatType>(element);
  auto isWithin = [&](double value, double expected) {
    double rounded = type ? roundings * roundingBetween(value, expected, type) : 0;
    return std::abs(value - expected) <= rounded + ownArithmetic * std::abs(expected);
  };
  return std::isfinite(expected) &&
         (isWithin(value, expected) || isWithin(1 / value, 1 / expected));
}

/// The operand of a product with, or quotient by, a number; null if the operation is neither.
static Value numberTimes(Operation *op, double &scale) {
  if (auto mul = dyn_cast_or_null<MulOp>(op)) {
    for (auto [number, other] :
         {std::pair(mul.getRhs(), mul.getLhs()), std::pair(mul.getLhs(), mul.getRhs())})
      if (std::optional<double> factor = splatNumber(number)) {
        scale *= *factor;
        return other;
      }
  }
  if (auto div = dyn_cast_or_null<DivOp>(op))
    if (std::optional<double> divisor = splatNumber(div.getRhs());
        divisor && isa<FloatType>(elementOf(div.getRhs()))) {
      scale /= *divisor;
      return div.getLhs();
    }
  return {};
}

Scaled weft::stripScale(OpBuilder &builder, Value value, MatchedOps &matched) {
  Scaled result{value};
  Operation *op = value.getDefiningOp();
  if (Value inner = numberTimes(op, result.scale)) {
    matched.insert(op);
    Scaled rest = stripScale(builder, inner, matched);
    return {rest.value, rest.scale * result.scale};
  }
  if (isa_and_nonnull<ReshapeOp, TransposeOp>(op)) {
    Scaled rest = stripScale(builder, op->getOperand(0), matched);
    if (rest.scale == 1)
      return result;
    matched.insert(op);
    return {repeatView(builder, op->getLoc(), op, rest.value, value.getType()), rest.scale};
  }
  return result;
}

static std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product = {};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      double term = a[i] * b[j];
      if (term != 0 && i + j >= product.size())
        return std::nullopt;
      if (term != 0)
        product[i + j] += term;
    }
  return product;
}

static std::optional<Polynomial> combine(Operation *op, const Polynomial &a, const Polynomial &b) {
  Polynomial sum = {};
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] = isa<SubOp>(op) ? a[i] - b[i] : a[i] + b[i];
  return isa<MulOp>(op) ? multiply(a, b) : sum;
}

static std::optional<Polynomial> polynomial(Value value, Value x, int depth, MatchedOps &matched) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (std::optional<double> number = splatNumber(value))
    return Polynomial{*number, 0, 0, 0};
  Operation *op = value.getDefiningOp();
  double scale = 1;
  if (depth == 0 || !isa_and_nonnull<AddOp, SubOp, MulOp, DivOp, NegOp>(op))
    return std::nullopt;
  matched.insert(op);
  if (isa<NegOp>(op)) {
    std::optional<Polynomial> inner = polynomial(op->getOperand(0), x, depth - 1, matched);
    return inner ? multiply(*inner, {-1, 0, 0, 0}) : std::nullopt;
  }
  if (isa<DivOp>(op)) {
    Value inner = numberTimes(op, scale);
    std::optional<Polynomial> numerator;
    if (inner)
      numerator = polynomial(inner, x, depth - 1, matched);
    return numerator ? multiply(*numerator, {scale, 0, 0, 0}) : std::nullopt;
  }
  std::optional<Polynomial> lhs = polynomial(op->getOperand(0), x, depth - 1, matched);
  std::optional<Polynomial> rhs;
  if (lhs)
    rhs = polynomial(op->getOperand(1), x, depth - 1, matched);
  return rhs ? combine(op, *lhs, *rhs) : std::nullopt;
}

std::optional<Polynomial> weft::polynomialIn(Value value, Value x, MatchedOps &matched) {
  constexpr int maxDepth = 8; // formulas are shallow; keeps the search linear
  return polynomial(value, x, maxDepth, matched);
}

Product weft::factorsOf(Value value, MatchedOps &matched) {
  constexpr size_t maxFactors = 8;
  Product product;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (std::optional<double> number = splatNumber(next)) {
      product.scale *= *number;
    } else if (Value inner =
                   isa_and_nonnull<DivOp>(op) ? numberTimes(op, product.scale) : Value()) {
      matched.insert(op);
      pending.push_back(inner);
    } else if (isa_and_nonnull<MulOp>(op) && pending.size() + product.factors.size() < maxFactors &&
               (next == value || op->hasOneUse())) {
      matched.insert(op);
      pending.push_back(op->getOperand(1));
      pending.push_back(op->getOperand(0));
    } else {
      product.factors.push_back(next);
    }
  }
  return product;
}

std::optional<ScaledSum> weft::scaledSumOf(Value value, MatchedOps &matched) {
  ScaledSum result{{}, 1};
  Operation *op = value.getDefiningOp();
  Value sum = numberTimes(op, result.scale);
  result.sum = sum ? sum.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!result.sum || result.sum.getKind() != ReduceKind::Sum || result.sum.getDims().empty())
    return std::nullopt;
  matched.insert(op);
  matched.insert(result.sum);
  return result;
}

std::string weft::whyNoMean(const ScaledSum &mean) {
  ReduceOp sum = mean.sum;
  auto dims = static_cast<int64_t>(sum.getDims().size());
  if (mean.axis() + dims != rankOf(sum.getInput()))
    return "the mean is over " + describeDims(sum.getDims()) + ", not over the last ones";
  int64_t count = 1;
  for (int64_t size : shapeOf(sum.getInput()).drop_front(mean.axis()))
    count *= size;
  if (isClose(mean.scale, 1.0 / static_cast<double>(count), elementOf(sum.getResult())))
    return "";
  return "the sum of " + std::to_string(count) + " elements is divided by " +
         describeNumber(1 / mean.scale);
}

Value weft::withoutRepetition(Value value, MatchedOps &matched) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    matched.insert(broadcast);
    value = broadcast.getInput();
  }
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The operand of a broadcast along exactly the dimensions of [0, rank) for which `kept` is false,
/// units aside.
static Value repeated(Value value, function_ref<bool(int64_t)> kept, MatchedOps &matched) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> expected, present;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (kept(dim) && size != 1)
      expected.push_back(dim);
  for (auto [dim, size] : llvm::zip(broadcast.getDims(), shapeOf(broadcast.getInput())))
    if (size != 1)
      present.push_back(dim);
  if (expected != present)
    return {};
  matched.insert(broadcast);
  return broadcast.getInput();
}

Value weft::repeatedAlongRows(Value value, int64_t axis, MatchedOps &matched) {
  Value input = repeated(value, [&](int64_t dim) { return dim < axis; }, matched);
  auto reshape = input ? input.getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!reshape)
    return input;
  auto others = [](Value of) {
    SmallVector<int64_t> sizes;
    llvm::copy_if(shapeOf(of), std::back_inserter(sizes), [](int64_t size) { return size != 1; });
    return sizes;
  };
  return others(reshape.getInput()) == others(input) ? reshape.getInput() : input;
}

Value weft::repeatedForRows(Value value, int64_t axis, MatchedOps &matched) {
  return repeated(value, [&](int64_t dim) { return dim >= axis; }, matched);
}

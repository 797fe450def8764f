// Elementwise operations of one operand (WeftElementwise.td), alphabetical.
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Map.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include <bit>
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft;

/// `function` on doubles.
template <typename Function>
static Tensor mapFloat(Operation *op, const Tensor &input, Function function) {
  return mapNumbers<double>(resultType(op), function, input);
}

/// `function` on numbers of whichever type the input has.
template <typename Function>
static Tensor mapAny(Operation *op, const Tensor &input, Function function) {
  return withNumber(input.kind(), [&](auto number) {
    return mapNumbers<decltype(number)>(resultType(op), function, input);
  });
}

static Tensor castTo(Operation *op, const Tensor &input) {
  RankedTensorType type = resultType(op);
  if (type == input.type())
    return input;
  return withNumber(input.kind(), [&](auto number) {
    using Number = decltype(number);
    if (type.getElementType().isInteger(1))
      return mapNumbers<Number, int64_t>(type, [](Number x) { return x != 0; }, input);
    return mapNumbers<Number>(type, [](Number x) { return x; }, input);
  });
}

static double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
static double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

template <typename Number> static Number negate(Number x) {
  if constexpr (std::is_same_v<Number, double>)
    return -x;
  else
    return Number(-uint64_t(x));
}
template <typename Number> static Number absolute(Number x) {
  if constexpr (std::is_same_v<Number, double>)
    return std::fabs(x);
  else
    return x < 0 ? negate(x) : x;
}
template <typename Number> static Number complement(Number x) { return Number(~uint64_t(x)); }
template <typename Number> static Number signOf(Number x) {
  return x != x ? x : Number(x > 0) - Number(x < 0);
}

/// `function` on the bits of integers alone, those above the width zero.
template <typename Function>
static Tensor mapBits(Operation *op, const Tensor &input, Function function) {
  uint64_t mask = ~uint64_t(0) >> (64 - elementBits(input.kind()));
  auto masked = [&](uint64_t x) { return uint64_t(function(x & mask)); };
  return mapNumbers<uint64_t>(resultType(op), masked, input);
}

Evaluated weft::evaluateUnary(Operation *op, ArrayRef<Tensor> operands) {
  if (operands.size() != 1)
    return otherFamily();
  const Tensor &in = operands[0];
  auto flag = [&](auto function) {
    return single(mapNumbers<double, int64_t>(resultType(op), function, in));
  };
  auto map = [&](auto function) { return single(mapFloat(op, in, function)); };
  auto bits = [&](auto function) { return single(mapBits(op, in, function)); };
  auto mapNumber = [&](auto function) { return single(mapAny(op, in, function)); };
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<AbsOp>([&](auto) { return mapNumber([](auto x) { return absolute(x); }); })
      .Case<AcosOp>([&](auto) { return map([](double x) { return std::acos(x); }); })
      .Case<AsinOp>([&](auto) { return map([](double x) { return std::asin(x); }); })
      .Case<AtanOp>([&](auto) { return map([](double x) { return std::atan(x); }); })
      .Case<BarrierOp, StopGradientOp>([&](auto) { return single(in); })
      .Case<CastOp>([&](auto) { return single(castTo(op, in)); })
      .Case<CbrtOp>([&](auto) { return map([](double x) { return std::cbrt(x); }); })
      .Case<CeilOp>([&](auto) { return map([](double x) { return std::ceil(x); }); })
      .Case<CosOp>([&](auto) { return map([](double x) { return std::cos(x); }); })
      .Case<CoshOp>([&](auto) { return map([](double x) { return std::cosh(x); }); })
      .Case<CountLeadingZerosOp>([&](auto) {
        int above = 64 - elementBits(in.kind());
        return bits([above](uint64_t x) { return std::countl_zero(x) - above; });
      })
      .Case<ErfOp>([&](auto) { return map([](double x) { return std::erf(x); }); })
      .Case<ExpOp>([&](auto) { return map([](double x) { return std::exp(x); }); })
      .Case<Expm1Op>([&](auto) { return map([](double x) { return std::expm1(x); }); })
      .Case<FloorOp>([&](auto) { return map([](double x) { return std::floor(x); }); })
      .Case<GeluOp>([&](GeluOp gelu_) {
        return gelu_.getForm() == GeluForm::Erf ? map(gelu) : map(geluTanh);
      })
      .Case<IsInfOp>([&](auto) { return flag([](double x) { return std::isinf(x); }); })
      .Case<IsNanOp>([&](auto) { return flag([](double x) { return std::isnan(x); }); })
      .Case<Log1pOp>([&](auto) { return map([](double x) { return std::log1p(x); }); })
      .Case<LogOp>([&](auto) { return map([](double x) { return std::log(x); }); })
      .Case<NegOp>([&](auto) { return mapNumber([](auto x) { return negate(x); }); })
      .Case<NotOp>([&](auto) { return mapNumber([](auto x) { return complement(x); }); })
      .Case<PopcountOp>([&](auto) { return bits([](uint64_t x) { return std::popcount(x); }); })
      .Case<ReciprocalOp>([&](auto) { return map([](double x) { return 1 / x; }); })
      .Case<RoundOp>([&](auto) { return map([](double x) { return std::nearbyint(x); }); })
      .Case<RsqrtOp>([&](auto) { return map([](double x) { return 1 / std::sqrt(x); }); })
      .Case<SigmoidOp>([&](auto) { return map([](double x) { return 1 / (1 + std::exp(-x)); }); })
      .Case<SignOp>([&](auto) { return mapNumber([](auto x) { return signOf(x); }); })
      .Case<SinOp>([&](auto) { return map([](double x) { return std::sin(x); }); })
      .Case<SinhOp>([&](auto) { return map([](double x) { return std::sinh(x); }); })
      .Case<SqrtOp>([&](auto) { return map([](double x) { return std::sqrt(x); }); })
      .Case<TanOp>([&](auto) { return map([](double x) { return std::tan(x); }); })
      .Case<TanhOp>([&](auto) { return map([](double x) { return std::tanh(x); }); })
      .Default([](Operation *) { return otherFamily(); });
}

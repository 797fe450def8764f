#include "frontends/stablehlo/FloatBits.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

static constexpr int mantissaBits = 23, exponents = 256, bias = 127;

/// What the last bit of the mantissa is worth, by the biased exponent; the least one is that of
/// numbers without a leading one, too.
static Value makeScales(Emitter &emit) {
  std::vector<double> scales;
  for (int exponent = 0; exponent < exponents; ++exponent)
    scales.push_back(
        std::ldexp(1.0, std::min(std::max(exponent, 1), exponents - 2) - bias - mantissaBits));
  auto type = RankedTensorType::get({exponents}, emit.builder.getF32Type());
  return emit.constant(tensorOf(type, scales));
}

static Value equals(Emitter &emit, Value x, double number) {
  return emit.compare(CompareDirection::EQ, x, emit.like(x, number));
}

Value stablehlo::emitFloatOfBits(Emitter &emit, Value bits) {
  Type f32 = emit.builder.getF32Type();
  double hidden = std::ldexp(1.0, mantissaBits);
  Value mantissa = emit.binary<AndOp>(bits, emit.like(bits, hidden - 1));
  Value above = emit.binary<ShiftRightOp>(bits, emit.like(bits, mantissaBits));
  Value exponent = emit.binary<AndOp>(above, emit.like(bits, exponents - 1));
  Value isNegative = emit.compare(CompareDirection::GE, above, emit.like(bits, exponents));
  Value leading =
      emit.select(equals(emit, exponent, 0), emit.like(bits, 0), emit.like(bits, hidden));
  Value significand = emit.cast(emit.binary<AddOp>(mantissa, leading), f32);
  Value scale = emit.gather(makeScales(emit), emit.cast(exponent, emit.builder.getI64Type()), 0);
  Value size = emit.binary<MulOp>(significand, scale);
  Value none = emit.like(size, std::numeric_limits<double>::quiet_NaN());
  Value infinity = emit.like(size, std::numeric_limits<double>::infinity());
  Value special = emit.select(equals(emit, mantissa, 0), infinity, none);
  size = emit.select(equals(emit, exponent, exponents - 1), special, size);
  return emit.select(isNegative, emit.unary<NegOp>(size), size);
}

namespace {
/// A number in [1, 2) and the exponent that was taken from it.
struct Scaled {
  Value number, exponent;

  /// Takes 2^by out where `condition` holds.
  void take(Emitter &emit, Value condition, int by) {
    Value scaled = emit.binary<MulOp>(number, emit.like(number, std::ldexp(1.0, -by)));
    number = emit.select(condition, scaled, number);
    Value moved = emit.binary<AddOp>(exponent, emit.like(exponent, by));
    exponent = emit.select(condition, moved, exponent);
  }
};
} // namespace

/// The bits of finite numbers above 0 with a leading one.
static Value normalBits(Emitter &emit, Value size) {
  Type i32 = emit.builder.getI32Type();
  Scaled scaled{size, emit.splat(typeOf(size).clone(i32), bias)};
  for (int by : {64, 32, 16, 8, 4, 2, 1}) {
    Value bound = emit.like(size, std::ldexp(1.0, by));
    scaled.take(emit, emit.compare(CompareDirection::GE, scaled.number, bound), by);
  }
  for (int by : {64, 32, 16, 8, 4, 2, 1}) {
    Value bound = emit.like(size, std::ldexp(1.0, 1 - by));
    scaled.take(emit, emit.compare(CompareDirection::LT, scaled.number, bound), -by);
  }
  Value rest = emit.binary<SubOp>(scaled.number, emit.like(size, 1));
  rest = emit.binary<MulOp>(rest, emit.like(size, std::ldexp(1.0, mantissaBits)));
  Value high = emit.binary<ShiftLeftOp>(scaled.exponent, emit.like(scaled.exponent, mantissaBits));
  return emit.binary<AddOp>(high, emit.cast(rest, i32));
}

Value stablehlo::emitBitsOfFloat(Emitter &emit, Value x) {
  Type i32 = emit.builder.getI32Type();
  auto ui32 = IntegerType::get(i32.getContext(), 32, IntegerType::Unsigned);
  Value size = emit.unary<AbsOp>(x);
  // Below the least number with a leading one, the bits count multiples of 2^-149.
  Value isSmall = emit.compare(CompareDirection::LT, size, emit.like(x, std::ldexp(1.0, 1 - bias)));
  Value count = emit.binary<MulOp>(size, emit.like(x, std::ldexp(1.0, 75)));
  count = emit.cast(emit.binary<MulOp>(count, emit.like(x, std::ldexp(1.0, 74))), i32);
  Value safe = emit.select(isSmall, emit.like(x, 1), size);
  Value bits = emit.select(isSmall, count, normalBits(emit, safe));
  Value isInfinite = equals(emit, size, std::numeric_limits<double>::infinity());
  bits = emit.select(isInfinite, emit.like(bits, 0x7f800000), bits);
  Value isNan = emit.create<IsNanOp>(typeOf(x).clone(emit.builder.getI1Type()), x);
  bits = emit.cast(emit.select(isNan, emit.like(bits, 0x7fc00000), bits), ui32);
  // -0 is found by its reciprocal.
  Value zero = emit.like(x, 0);
  Value below = emit.compare(CompareDirection::LT, emit.unary<ReciprocalOp>(x), zero);
  Value isNegative = emit.binary<OrOp>(emit.compare(CompareDirection::LT, x, zero),
                                       emit.binary<AndOp>(equals(emit, x, 0), below));
  Value withSign = emit.binary<OrOp>(bits, emit.like(bits, std::ldexp(1.0, 31)));
  return emit.select(isNegative, withSign, bits);
}

// Elementwise operations of several operands (WeftElementwise.td), alphabetical.
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Map.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace weft;

template <typename Function>
static Tensor mapPair(Operation *op, ArrayRef<Tensor> in, Function function) {
  return withNumber(in[0].kind(), [&](auto number) {
    return mapNumbers<decltype(number)>(resultType(op), function, in[0], in[1]);
  });
}

template <typename Function>
static Tensor mapBits(Operation *op, ArrayRef<Tensor> in, Function function) {
  return mapNumbers<uint64_t>(resultType(op), function, in[0], in[1]);
}

template <typename Function>
static Tensor mapIntegers(Operation *op, ArrayRef<Tensor> in, Function function) {
  if (isUnsigned(in[0].kind()))
    return mapNumbers<uint64_t>(resultType(op), function, in[0], in[1]);
  return mapNumbers<int64_t>(resultType(op), function, in[0], in[1]);
}

static Tensor compare(CompareOp op, ArrayRef<Tensor> in) {
  return withNumber(in[0].kind(), [&](auto number) {
    using Number = decltype(number);
    auto map = [&](auto function) {
      return mapNumbers<Number, int64_t>(resultType(op), function, in[0], in[1]);
    };
    switch (op.getDirection()) {
    case CompareDirection::EQ:
      return map([](Number a, Number b) { return a == b; });
    case CompareDirection::NE:
      return map([](Number a, Number b) { return a != b; });
    case CompareDirection::LT:
      return map([](Number a, Number b) { return a < b; });
    case CompareDirection::LE:
      return map([](Number a, Number b) { return a <= b; });
    case CompareDirection::GT:
      return map([](Number a, Number b) { return a > b; });
    case CompareDirection::GE:
      return map([](Number a, Number b) { return a >= b; });
    }
    return Tensor();
  });
}

/// Quotients of integers: rounded towards zero, all bits set by 0; the least integer by -1 wraps
/// around to itself.
struct Quotient {
  int64_t operator()(int64_t a, int64_t b) const {
    return b == 0 ? -1 : b == -1 ? int64_t(-uint64_t(a)) : a / b;
  }
  uint64_t operator()(uint64_t a, uint64_t b) const { return b == 0 ? ~uint64_t(0) : a / b; }
  double operator()(double a, double b) const { return a / b; }
};
/// Remainders of integers: by 0 the dividend.
struct Remainder {
  int64_t operator()(int64_t a, int64_t b) const { return b == 0 ? a : b == -1 ? 0 : a % b; }
  uint64_t operator()(uint64_t a, uint64_t b) const { return b == 0 ? a : a % b; }
  double operator()(double a, double b) const { return std::fmod(a, b); }
};

/// Bits moved by a number of places; from the width on, only what moves in is left.
template <typename Number> static Number shiftLeft(Number a, Number places, uint64_t width) {
  return uint64_t(places) >= width ? 0 : Number(uint64_t(a) << places);
}
template <typename Number> static Number shiftRight(Number a, Number places, uint64_t width) {
  return uint64_t(places) < width ? a >> places : a < 0 ? Number(-1) : 0;
}

/// Integer powers wrap around; a negative exponent gives 1/base rounded towards zero (0 for base
/// 0).
template <typename Number> static Number power(Number base, Number exponent) {
  if constexpr (std::is_same_v<Number, double>) {
    return std::pow(base, exponent);
  } else {
    if (exponent < 0)
      return base == 1 ? 1 : base == Number(-1) ? (exponent & 1 ? base : 1) : 0;
    uint64_t result = 1, square = base;
    for (uint64_t rest = exponent; rest != 0; rest >>= 1, square *= square)
      result *= rest & 1 ? square : 1;
    return result;
  }
}

/// Threefry-2x32 with 20 rounds; low and high halves are the words.
static uint64_t threefry(uint64_t counter, uint64_t key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t keys[3] = {uint32_t(key), uint32_t(key >> 32)};
  keys[2] = 0x1BD11BDA ^ keys[0] ^ keys[1];
  uint32_t x = uint32_t(counter) + keys[0], y = uint32_t(counter >> 32) + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return uint64_t(y) << 32 | x;
}

static Tensor selectFrom(Operation *op, ArrayRef<Tensor> in) {
  if (in[0].isSplat())
    return in[0].data()[0] ? in[1] : in[2];
  Tensor onTrue = in[1].dense(), onFalse = in[2].dense();
  Tensor result = Tensor::allocate(resultType(op));
  int64_t width = result.elementBytes();
  for (int64_t i = 0, end = result.size(); i < end; ++i) {
    const Tensor &from = in[0].data()[i] ? onTrue : onFalse;
    std::copy_n(from.data() + i * width, width, result.mutableData() + i * width);
  }
  return result;
}

Evaluated weft::evaluateElementwise(Operation *op, ArrayRef<Tensor> in) {
  auto map = [&](auto function) { return single(mapPair(op, in, function)); };
  auto bits = [&](auto function) { return single(mapBits(op, in, function)); };
  auto integers = [&](auto function) { return single(mapIntegers(op, in, function)); };
  uint64_t width = in.empty() ? 0 : elementBits(in[0].kind());
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<AddOp>([&](auto) { return map([](auto a, auto b) { return addNumbers(a, b); }); })
      .Case<AndOp>([&](auto) { return bits([](uint64_t a, uint64_t b) { return a & b; }); })
      .Case<Atan2Op>([&](auto) { return map([](double y, double x) { return std::atan2(y, x); }); })
      .Case<CompareOp>([&](CompareOp compareOp) { return single(compare(compareOp, in)); })
      .Case<DivOp>([&](auto) { return map(Quotient()); })
      .Case<MaxOp>([&](auto) { return map([](auto a, auto b) { return maxNumbers(a, b); }); })
      .Case<MinOp>([&](auto) { return map([](auto a, auto b) { return minNumbers(a, b); }); })
      .Case<MulOp>([&](auto) { return map([](auto a, auto b) { return multiplyNumbers(a, b); }); })
      .Case<OrOp>([&](auto) { return bits([](uint64_t a, uint64_t b) { return a | b; }); })
      .Case<PowOp>([&](auto) { return map([](auto a, auto b) { return power(a, b); }); })
      .Case<RandomBitsOp>(
          [&](auto) { return bits([](uint64_t a, uint64_t b) { return threefry(a, b); }); })
      .Case<RemOp>([&](auto) { return map(Remainder()); })
      .Case<SelectOp>([&](auto) { return single(selectFrom(op, in)); })
      .Case<ShiftLeftOp>(
          [&](auto) { return integers([&](auto a, auto b) { return shiftLeft(a, b, width); }); })
      .Case<ShiftRightOp>(
          [&](auto) { return integers([&](auto a, auto b) { return shiftRight(a, b, width); }); })
      .Case<SubOp>([&](auto) { return map([](auto a, auto b) { return subtractNumbers(a, b); }); })
      .Case<XorOp>([&](auto) { return bits([](uint64_t a, uint64_t b) { return a ^ b; }); })
      .Default([](Operation *) { return otherFamily(); });
}

// Operations on the bits of integers, by arithmetic on unsigned ones.

#include "frontends/stablehlo/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

Type stablehlo::unsignedOf(Type element) {
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth(),
                          IntegerType::Unsigned);
}

static Value toUnsigned(Emitter &emit, Value x) {
  if (!elementOf(x).isInteger() || elementOf(x).isInteger(1))
    throw ImportError("expected integers, got " + describe(x));
  return emit.cast(x, unsignedOf(elementOf(x)));
}

static double widthOf(Value x) { return elementOf(x).getIntOrFloatBitWidth(); }

static Value isBelow(Emitter &emit, Value x, double bound) {
  return emit.compare(CompareDirection::LT, x, emit.like(x, bound));
}

/// 2^shift, which wraps around to 0 from the type's width on.
static Value powerOfTwo(Emitter &emit, Value shift) {
  return emit.binary<PowOp>(emit.like(shift, 2), shift);
}

/// x / 2^shift of unsigned integers, 0 from the type's width on.
static Value shiftRight(Emitter &emit, Value x, Value shift) {
  Value legal = isBelow(emit, shift, widthOf(x)), zero = emit.like(x, 0);
  Value power = powerOfTwo(emit, emit.select(legal, shift, zero));
  return emit.select(legal, emit.binary<DivOp>(x, power), zero);
}

static std::pair<Value, Value> twoOperands(Instruction &op) {
  op.expectOperands(2);
  auto [x, shift] = op.emit.together(op.operand(0), op.operand(1));
  Value left = toUnsigned(op.emit, x);
  return {left, toUnsigned(op.emit, shift)};
}

static Type elementOfResult(Instruction &op) { return op.resultType().getElementType(); }

static void importShiftLeft(Instruction &op) {
  auto [x, shift] = twoOperands(op);
  Value shifted = op.emit.binary<MulOp>(x, powerOfTwo(op.emit, shift));
  op.result(op.emit.cast(shifted, elementOfResult(op)));
}

static void importShiftRightLogical(Instruction &op) {
  auto [x, shift] = twoOperands(op);
  op.result(op.emit.cast(shiftRight(op.emit, x, shift), elementOfResult(op)));
}

/// A negative number's complement shifts in zeros; its complement again, ones.
static void importShiftRightArithmetic(Instruction &op) {
  Emitter &emit = op.emit;
  auto [bits, shift] = twoOperands(op);
  Value x = emit.broadcast(op.operand(0), shapeOf(bits));
  Value top = emit.like(bits, std::ldexp(1.0, widthOf(bits) - 1));
  Value isNegative = emit.compare(CompareDirection::GE, bits, top);
  Value positive = emit.select(isNegative, emit.unary<NotOp>(bits), bits);
  Value shifted = shiftRight(emit, positive, shift);
  shifted = emit.select(isNegative, emit.unary<NotOp>(shifted), shifted);
  op.result(emit.cast(shifted, elementOf(x)));
}

static Value shiftRightBy(Emitter &emit, Value x, int bits) {
  return emit.binary<DivOp>(x, emit.like(x, std::ldexp(1.0, bits)));
}

/// A constant that repeats `byte` in each byte.
static Value repeated(Emitter &emit, Value like, uint8_t byte) {
  Value result = emit.like(like, byte);
  for (int width = 8; width < widthOf(like); width *= 2)
    result = emit.binary<AddOp>(
        result, emit.binary<MulOp>(result, emit.like(result, std::ldexp(1.0, width))));
  return result;
}

/// Sums of neighbouring bits, of pairs, of nibbles; then all bytes into the highest one.
static Value countOnes(Emitter &emit, Value x) {
  auto masked = [&](Value v, uint8_t mask) {
    return emit.binary<AndOp>(v, repeated(emit, v, mask));
  };
  x = emit.binary<SubOp>(x, masked(shiftRightBy(emit, x, 1), 0x55));
  x = emit.binary<AddOp>(masked(x, 0x33), masked(shiftRightBy(emit, x, 2), 0x33));
  x = masked(emit.binary<AddOp>(x, shiftRightBy(emit, x, 4)), 0x0f);
  return shiftRightBy(emit, emit.binary<MulOp>(x, repeated(emit, x, 0x01)), widthOf(x) - 8);
}

static void importPopcnt(Instruction &op) {
  Value count = countOnes(op.emit, toUnsigned(op.emit, op.operand(0)));
  op.result(op.emit.cast(count, elementOfResult(op)));
}

/// Ones from the highest bit down, counted.
static void importCountLeadingZeros(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = toUnsigned(emit, op.operand(0));
  for (int shift = 1; shift < widthOf(x); shift *= 2)
    x = emit.binary<OrOp>(x, shiftRightBy(emit, x, shift));
  op.result(emit.cast(countOnes(emit, emit.unary<NotOp>(x)), elementOfResult(op)));
}

void stablehlo::addBits(OpTable &table) {
  table["stablehlo.count_leading_zeros"] = importCountLeadingZeros;
  table["stablehlo.popcnt"] = importPopcnt;
  table["stablehlo.shift_left"] = importShiftLeft;
  table["stablehlo.shift_right_arithmetic"] = importShiftRightArithmetic;
  table["stablehlo.shift_right_logical"] = importShiftRightLogical;
}

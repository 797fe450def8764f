// Operations on the bits of elements.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/FloatBits.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

static void expectIntegers(Value value) {
  if (!elementOf(value).isInteger() || elementOf(value).isInteger(1))
    throw ImportError("expected integers, got " + describe(value));
}

static Type unsignedOf(Type element) {
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth(),
                          IntegerType::Unsigned);
}

static unsigned widthOf(Type element) { return element.getIntOrFloatBitWidth(); }

template <typename Op> static void unaryInteger(Instruction &op) {
  expectIntegers(op.operand(0));
  op.result(op.emit.unary<Op>(op.operand(0)));
}

template <typename Op> static void binaryInteger(Instruction &op) {
  op.expectOperands(2);
  expectIntegers(op.operand(0));
  op.result(op.emit.binary<Op>(op.operand(0), op.operand(1)));
}

/// The same bits as another type of the same width: integers, f32, and bf16, the upper half of one.
static Value bitcast(Emitter &emit, Value x, Type element) {
  Type from = elementOf(x), f32 = emit.builder.getF32Type(), ui32 = unsignedOf(f32);
  if (from == element || (from.isInteger() && element.isInteger()))
    return emit.cast(x, element);
  for (Type type : {from, element})
    if (isa<FloatType>(type) && !type.isF32() && !type.isBF16())
      throw ImportError("the bits of " + describe(x) +
                        " are not supported: those of f32 and bf16 "
                        "are");
  if (from.isBF16()) {
    Value wide = emitBitsOfFloat(emit, emit.cast(x, f32));
    Value half = emit.binary<ShiftRightOp>(wide, emit.like(wide, 16));
    return bitcast(emit, emit.cast(half, unsignedOf(from)), element);
  }
  if (element.isBF16()) {
    Value wide = emit.cast(bitcast(emit, x, unsignedOf(element)), ui32);
    wide = emit.binary<ShiftLeftOp>(wide, emit.like(wide, 16));
    return emit.cast(emitFloatOfBits(emit, wide), element);
  }
  if (from.isF32())
    return emit.cast(emitBitsOfFloat(emit, x), element);
  return emitFloatOfBits(emit, emit.cast(x, ui32));
}

/// Unsigned integers shift in zeros.
static void importShiftRightLogical(Instruction &op) {
  Emitter &emit = op.emit;
  op.expectOperands(2);
  auto [x, amount] = emit.together(op.operand(0), op.operand(1));
  expectIntegers(x);
  Type element = elementOf(x), bits = unsignedOf(element);
  Value shifted = emit.binary<ShiftRightOp>(bitcast(emit, x, bits), bitcast(emit, amount, bits));
  op.result(bitcast(emit, shifted, element));
}

/// Signed integers shift in their sign.
static void importShiftRightArithmetic(Instruction &op) {
  Emitter &emit = op.emit;
  op.expectOperands(2);
  auto [x, amount] = emit.together(op.operand(0), op.operand(1));
  expectIntegers(x);
  Type element = elementOf(x);
  Type bits = IntegerType::get(element.getContext(), widthOf(element));
  Value shifted = emit.binary<ShiftRightOp>(bitcast(emit, x, bits), bitcast(emit, amount, bits));
  op.result(bitcast(emit, shifted, element));
}

/// A wider element is its parts along a new last dimension, the lowest bits first.
static Value splitBits(Emitter &emit, Value x, Type part) {
  Value bits = bitcast(emit, x, unsignedOf(elementOf(x)));
  Shape column(shapeOf(x));
  column.push_back(1);
  SmallVector<Value> parts;
  for (unsigned at = 0; at < widthOf(elementOf(x)); at += widthOf(part)) {
    Value shifted = emit.binary<ShiftRightOp>(bits, emit.like(bits, at));
    Value low = emit.cast(shifted, unsignedOf(part));
    parts.push_back(emit.reshape(bitcast(emit, low, part), column));
  }
  return emit.concat(parts, column.size() - 1);
}

static Value joinBits(Emitter &emit, Value x, Type whole) {
  int64_t last = typeOf(x).getRank() - 1;
  if (last < 0 || shapeOf(x)[last] * widthOf(elementOf(x)) != widthOf(whole))
    throw ImportError("expected the parts of an element along the last dimension of " +
                      describe(x));
  Value bits = bitcast(emit, x, unsignedOf(elementOf(x))), joined;
  for (int64_t part = 0; part < shapeOf(x)[last]; ++part) {
    Value column = emit.reshape(emit.sliceDim(bits, last, part, 1), shapeOf(x).drop_back());
    Value wide = emit.cast(column, unsignedOf(whole));
    double at = double(part) * widthOf(elementOf(x));
    Value shifted = emit.binary<ShiftLeftOp>(wide, emit.like(wide, at));
    joined = joined ? emit.binary<OrOp>(joined, shifted) : shifted;
  }
  return bitcast(emit, joined, whole);
}

static void importBitcastConvert(Instruction &op) {
  Value x = op.operand(0);
  Type from = elementOf(x), to = op.resultType().getElementType();
  if (from == to)
    return op.result(x);
  if (from.isInteger(1) || to.isInteger(1))
    throw ImportError("the bits of booleans are not supported");
  if (widthOf(from) > widthOf(to))
    return op.result(splitBits(op.emit, x, to));
  op.result(widthOf(from) < widthOf(to) ? joinBits(op.emit, x, to) : bitcast(op.emit, x, to));
}

void stablehlo::addBits(OpTable &table) {
  table["stablehlo.bitcast_convert"] = importBitcastConvert;
  table["stablehlo.count_leading_zeros"] = unaryInteger<CountLeadingZerosOp>;
  table["stablehlo.popcnt"] = unaryInteger<PopcountOp>;
  table["stablehlo.shift_left"] = binaryInteger<ShiftLeftOp>;
  table["stablehlo.shift_right_arithmetic"] = importShiftRightArithmetic;
  table["stablehlo.shift_right_logical"] = importShiftRightLogical;
}

// Operators that compute each element of the result from one element of each operand.

#include "frontends/onnx/ops/OpTable.h"

#include "frontends/common/Composites.h"
#include "frontends/common/SpecialFunctions.h"
#include "frontends/onnx/Tensors.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

template <typename Op> static void unary(Node &node) {
  node.result(node.emit.unary<Op>(node.operand(0)));
}

template <typename Op> static void unaryFloat(Node &node) {
  expectFloat(node.operand(0));
  unary<Op>(node);
}

/// Before opset 7 the right operand's dimensions could be aligned with those of the left from
/// `axis` on, instead of with its last ones.
static std::pair<Value, Value> twoOperands(Node &node) {
  Value lhs = node.operand(0), rhs = node.operand(1);
  if (node.opset >= 7)
    return {lhs, rhs};
  node.ignore({"broadcast"});
  int64_t last = typeOf(lhs).getRank() - typeOf(rhs).getRank(), axis = node.getInt("axis", last);
  Shape shape(shapeOf(rhs));
  if (last > 0)
    shape.append(last - node.dim(axis, last, /*inclusive=*/true), 1);
  return {lhs, node.emit.reshape(rhs, shape)};
}

template <typename Op> static void binary(Node &node) {
  auto [lhs, rhs] = twoOperands(node);
  node.result(node.emit.binary<Op>(lhs, rhs));
}

/// Operators on integers (and, with `Width` 1, on bools alone).
template <typename Op, unsigned Width = 0> static void bitwise(Node &node) {
  for (Value operand : node.allOperands())
    if (!elementOf(operand).isInteger() || (Width && !elementOf(operand).isInteger(Width)))
      throw ImportError((Width ? "expected bools, got " : "expected integers, got ") +
                        describe(operand));
  if constexpr (Op::template hasTrait<OpTrait::OneOperand>())
    unary<Op>(node);
  else
    binary<Op>(node);
}

template <CompareDirection Direction> static void compare(Node &node) {
  auto [lhs, rhs] = twoOperands(node);
  node.result(node.emit.compare(Direction, lhs, rhs));
}

/// Any number of operands, joined from the left.
template <typename Op> static Value join(Node &node) {
  SmallVector<Value> operands = node.allOperands();
  Value result = operands.front();
  for (Value operand : ArrayRef(operands).drop_front())
    result = node.emit.binary<Op>(result, operand);
  return result;
}

template <typename Op> static void variadic(Node &node) { node.result(join<Op>(node)); }

template <Value (*Function)(Emitter &, Value)> static void composite(Node &node) {
  expectFloat(node.operand(0));
  node.result(Function(node.emit, node.operand(0)));
}

static void importCast(Node &node) {
  node.ignore({"saturate", "round_mode"}); // of 8-bit floats
  Type element = elementType(node.emit.builder.getContext(), node.requiredInt("to"));
  node.result(node.emit.cast(node.operand(0), element));
}

static void importCastLike(Node &node) {
  node.ignore({"saturate", "round_mode"});
  node.result(node.emit.cast(node.operand(0), elementOf(node.operand(1))));
}

static void importClip(Node &node) {
  Emitter &emit = node.emit;
  Value result = node.operand(0), low, high;
  if (node.opset >= 11) {
    low = node.optional(1);
    high = node.optional(2);
  } else {
    if (node.attribute("min"))
      low = emit.like(result, node.getFloat("min", 0));
    if (node.attribute("max"))
      high = emit.like(result, node.getFloat("max", 0));
  }
  if (low)
    result = emit.binary<MaxOp>(result, emit.broadcast(low, shapeOf(result)));
  if (high)
    result = emit.binary<MinOp>(result, emit.broadcast(high, shapeOf(result)));
  node.result(result);
}

static void importIsInf(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  Value result = emit.create<IsInfOp>(typeOf(x).clone(emit.builder.getI1Type()), x);
  bool negative = node.getInt("detect_negative", 1), positive = node.getInt("detect_positive", 1);
  if (!negative || !positive) {
    CompareDirection side = negative ? CompareDirection::LT : CompareDirection::GT;
    Value wanted =
        negative || positive ? emit.compare(side, x, emit.like(x, 0)) : emit.like(result, 0);
    result = emit.binary<AndOp>(result, wanted);
  }
  node.result(result);
}

static void importIsNaN(Node &node) {
  Value x = node.operand(0);
  expectFloat(x);
  node.result(node.emit.create<IsNanOp>(typeOf(x).clone(node.emit.builder.getI1Type()), x));
}

static void importMean(Node &node) {
  Value sum = join<AddOp>(node);
  node.result(node.emit.binary<DivOp>(sum, node.emit.like(sum, double(node.operands()))));
}

/// With fmod, the remainder has the dividend's sign, else the divisor's.
static void importMod(Node &node) {
  Value lhs = node.operand(0), rhs = node.operand(1);
  bool ofDividend = node.getInt("fmod", 0) != 0;
  node.result(ofDividend ? node.emit.binary<RemOp>(lhs, rhs)
                         : emitFloorRemainder(node.emit, lhs, rhs));
}

/// The result has the base's type; where one side is of floats, the power is computed in floats.
static void importPow(Node &node) {
  Emitter &emit = node.emit;
  auto [base, exponent] = twoOperands(node);
  Type type = elementOf(base), compute = type;
  if (!isa<FloatType>(type) && isa<FloatType>(elementOf(exponent)))
    compute = elementOf(exponent);
  Value power = emit.binary<PowOp>(emit.cast(base, compute), emit.cast(exponent, compute));
  node.result(emit.cast(power, type));
}

static void importBitShift(Node &node) {
  std::string direction = node.getString("direction", "");
  if (direction == "LEFT")
    return bitwise<ShiftLeftOp>(node);
  if (direction != "RIGHT")
    throw ImportError("direction '" + direction + "' is not known");
  bitwise<ShiftRightOp>(node);
}

static void importWhere(Node &node) {
  node.result(node.emit.select(node.operand(0), node.operand(1), node.operand(2)));
}

void weft::frontend::addElementwise(OpTable &table) {
  table["Abs"] = unary<AbsOp>;
  table["Acos"] = unaryFloat<AcosOp>;
  table["Acosh"] = composite<emitAcosh>;
  table["Add"] = binary<AddOp>;
  table["And"] = bitwise<AndOp, 1>;
  table["Asin"] = unaryFloat<AsinOp>;
  table["Asinh"] = composite<emitAsinh>;
  table["Atan"] = unaryFloat<AtanOp>;
  table["Atanh"] = composite<emitAtanh>;
  table["BitShift"] = importBitShift;
  table["BitwiseAnd"] = bitwise<AndOp>;
  table["BitwiseNot"] = bitwise<NotOp>;
  table["BitwiseOr"] = bitwise<OrOp>;
  table["BitwiseXor"] = bitwise<XorOp>;
  table["Cast"] = importCast;
  table["CastLike"] = importCastLike;
  table["Ceil"] = unaryFloat<CeilOp>;
  table["Clip"] = importClip;
  table["Cos"] = unaryFloat<CosOp>;
  table["Cosh"] = unaryFloat<CoshOp>;
  table["Div"] = binary<DivOp>;
  table["Equal"] = compare<CompareDirection::EQ>;
  table["Erf"] = unaryFloat<ErfOp>;
  table["Exp"] = unaryFloat<ExpOp>;
  table["Floor"] = unaryFloat<FloorOp>;
  table["Greater"] = compare<CompareDirection::GT>;
  table["GreaterOrEqual"] = compare<CompareDirection::GE>;
  table["IsInf"] = importIsInf;
  table["IsNaN"] = importIsNaN;
  table["Less"] = compare<CompareDirection::LT>;
  table["LessOrEqual"] = compare<CompareDirection::LE>;
  table["Log"] = unaryFloat<LogOp>;
  table["Max"] = variadic<MaxOp>;
  table["Mean"] = importMean;
  table["Min"] = variadic<MinOp>;
  table["Mod"] = importMod;
  table["Mul"] = binary<MulOp>;
  table["Neg"] = unary<NegOp>;
  table["Not"] = bitwise<NotOp, 1>;
  table["Or"] = bitwise<OrOp, 1>;
  table["Pow"] = importPow;
  table["Reciprocal"] = unaryFloat<ReciprocalOp>;
  table["Round"] = unaryFloat<RoundOp>;
  table["Sign"] = unary<SignOp>;
  table["Sin"] = unaryFloat<SinOp>;
  table["Sinh"] = unaryFloat<SinhOp>;
  table["Sqrt"] = unaryFloat<SqrtOp>;
  table["Sub"] = binary<SubOp>;
  table["Sum"] = variadic<AddOp>;
  table["Tan"] = unaryFloat<TanOp>;
  table["Where"] = importWhere;
  table["Xor"] = bitwise<XorOp, 1>;
}

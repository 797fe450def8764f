// Bounds of numbers, and whether they are numbers at all.

#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// The lower bound first: where the bounds cross, the upper one holds.
static void clampTo(Node &node, StringRef low, StringRef high) {
  SmallVector<StringRef> names{"self"};
  for (StringRef name : {low, high})
    if (!name.empty() && node.has(name))
      names.push_back(name);
  if (names.size() == 1)
    throw ImportError("expected a bound");
  Type type = promotedType(node, names);
  Value x = operandAs(node, "self", type);
  for (StringRef name : ArrayRef(names).drop_front()) {
    Value bound = operandAs(node, name, type);
    x = name == low ? node.emit.binary<MaxOp>(x, bound) : node.emit.binary<MinOp>(x, bound);
  }
  node.result(x);
}

static void importClamp(Node &node) { clampTo(node, "min", "max"); }
static void importClampMax(Node &node) { clampTo(node, "", "max"); }
static void importClampMin(Node &node) { clampTo(node, "min", ""); }

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

static RankedTensorType boolsLike(Emitter &emit, Value x) {
  return typeOf(x).clone(emit.builder.getI1Type());
}

static Value isNan(Emitter &emit, Value x) { return emit.create<IsNanOp>(boolsLike(emit, x), x); }
static Value isInf(Emitter &emit, Value x) { return emit.create<IsInfOp>(boolsLike(emit, x), x); }
static Value isFinite(Emitter &emit, Value x) {
  return emit.unary<NotOp>(emit.binary<OrOp>(isNan(emit, x), isInf(emit, x)));
}
template <CompareDirection Direction> static Value isInfOfSign(Emitter &emit, Value x) {
  return emit.binary<AndOp>(isInf(emit, x), emit.compare(Direction, x, emit.like(x, 0)));
}

/// Integers give the same answer for all.
template <Value (*Predicate)(Emitter &, Value), bool OfIntegers> static void predicate(Node &node) {
  Value x = node.tensor("self");
  if (isa<FloatType>(elementOf(x)))
    return node.result(Predicate(node.emit, x));
  node.result(node.emit.splat(boolsLike(node.emit, x), OfIntegers));
}

/// |self - other| ≤ atol + rtol·|other|, or equal.
static void importIsClose(Node &node) {
  Emitter &emit = node.emit;
  auto [x, y] = emit.together(node.tensor("self"), node.tensor("other"));
  expectFloat(x);
  Value same = emit.compare(CompareDirection::EQ, x, y);
  Value size = emit.unary<AbsOp>(y);
  Value allowed = emit.binary<MulOp>(size, emit.like(size, node.real("rtol", 1e-5)));
  allowed = emit.binary<AddOp>(allowed, emit.like(allowed, node.real("atol", 1e-8)));
  Value distance = emit.unary<AbsOp>(emit.binary<SubOp>(x, y));
  Value near = emit.binary<AndOp>(emit.compare(CompareDirection::LE, distance, allowed),
                                  isFinite(emit, distance));
  Value result = emit.binary<OrOp>(same, near);
  if (node.flag("equal_nan", false))
    result = emit.binary<OrOp>(result, emit.binary<AndOp>(isNan(emit, x), isNan(emit, y)));
  node.result(result);
}

/// Of -0.0 and of NaN with a sign, too: as 1/x for zeros, but weft has no sign bits of NaN.
static void importSignbit(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Value negative = emit.compare(CompareDirection::LT, x, emit.like(x, 0));
  if (isa<FloatType>(elementOf(x))) {
    Value inverse = emit.unary<ReciprocalOp>(x);
    negative =
        emit.binary<OrOp>(negative, emit.compare(CompareDirection::LT, inverse, emit.like(x, 0)));
  }
  node.result(negative);
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

template <typename Op> static void importShift(Node &node) {
  Type type = promotedType(node, {"self", "other"});
  if (!type.isInteger())
    throw ImportError("expected integers, got " + describe(node.tensor("self")));
  node.result(node.emit.binary<Op>(operandAs(node, "self", type), operandAs(node, "other", type)));
}

void weft::frontend::aten::addBounds(OpTable &table) {
  table["aten.__lshift__.Scalar"] = importShift<ShiftLeftOp>;
  table["aten.__lshift__.Tensor"] = importShift<ShiftLeftOp>;
  table["aten.__rshift__.Scalar"] = importShift<ShiftRightOp>;
  table["aten.__rshift__.Tensor"] = importShift<ShiftRightOp>;
  table["aten.bitwise_left_shift.Tensor"] = importShift<ShiftLeftOp>;
  table["aten.bitwise_left_shift.Tensor_Scalar"] = importShift<ShiftLeftOp>;
  table["aten.bitwise_right_shift.Tensor"] = importShift<ShiftRightOp>;
  table["aten.bitwise_right_shift.Tensor_Scalar"] = importShift<ShiftRightOp>;
  table["aten.clamp.Tensor"] = importClamp;
  table["aten.clamp.default"] = importClamp;
  table["aten.clamp_max.Tensor"] = importClampMax;
  table["aten.clamp_max.default"] = importClampMax;
  table["aten.clamp_min.Tensor"] = importClampMin;
  table["aten.clamp_min.default"] = importClampMin;
  table["aten.isclose.default"] = importIsClose;
  table["aten.isfinite.default"] = predicate<isFinite, true>;
  table["aten.isinf.default"] = predicate<isInf, false>;
  table["aten.isnan.default"] = predicate<isNan, false>;
  table["aten.isneginf.default"] = predicate<isInfOfSign<CompareDirection::LT>, false>;
  table["aten.isposinf.default"] = predicate<isInfOfSign<CompareDirection::GT>, false>;
  table["aten.signbit.default"] = importSignbit;
}

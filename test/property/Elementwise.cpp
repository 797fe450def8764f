// Elementwise operations of random models.
#include "compiler/Interpret/Numbers.h"
#include "test/property/Generator.h"

#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::property;

/// |x| + 1/2.
Node Generator::positive(const Node &node) {
  Node magnitude = apply("abs", {node}, true);
  return apply("add", {magnitude, splat(node.type(), 0.5)});
}

/// 0.8 · tanh(x).
Node Generator::unitRange(const Node &node) {
  Node bounded = apply("tanh", {node});
  return apply("mul", {bounded, splat(node.type(), 0.8)});
}

bool Generator::smooth() {
  static constexpr const char *names[] = {"atan",    "cos", "erf",  "expm1", "neg",
                                          "sigmoid", "sin", "tanh", "abs"};
  const char *name = inTurn(names);
  bool exact = name == std::string("neg") || name == std::string("abs");
  return bool(apply(name, {pick()}, exact));
}

bool Generator::positiveArgument() {
  static constexpr const char *names[] = {"log",  "log1p", "reciprocal", "rsqrt", "sqrt",
                                          "cbrt", "atan2", "pow",        "div"};
  StringRef name = inTurn(names);
  Node node = pick();
  if (name == "div" || name == "atan2")
    return bool(apply(name, {node, positive(partner(node))}));
  Node base = positive(node);
  if (name == "pow")
    return bool(apply(name, {base, unitRange(partner(node))}));
  return bool(apply(name, {base}));
}

bool Generator::unitArgument() {
  static constexpr const char *names[] = {"acos", "asin", "cosh", "exp", "sinh", "tan"};
  return bool(apply(inTurn(names), {unitRange(pick())}));
}

bool Generator::jump() {
  static constexpr const char *names[] = {"ceil", "floor", "round", "sign", "rem"};
  StringRef name = inTurn(names);
  Node node = pick(0, /*exact=*/true);
  if (name == "rem")
    return bool(
        apply(name, {node, splat(node.type(), random.pick<double>({0.75, 1.5, -1.25}))}, true));
  return bool(apply(name, {node}, true));
}

bool Generator::arithmetic() {
  static constexpr const char *names[] = {"add", "max", "min", "mul", "sub"};
  StringRef name = inTurn(names);
  Node node = pick();
  return bool(apply(name, {node, partner(node)}, name == "max" || name == "min"));
}

bool Generator::integerArithmetic() {
  static constexpr const char *names[] = {"abs", "add", "div", "max",  "min",
                                          "mul", "neg", "rem", "sign", "sub"};
  StringRef name = inTurn(names);
  Node node = pickInteger();
  if (name == "abs" || name == "neg" || name == "sign")
    return bool(apply(name, {node}, true));
  Node other =
      name == "div" || name == "rem" || random.oneIn(2) ? leaf(node.type(), 1, 9) : partner(node);
  return bool(apply(name, {node, other}, true));
}

bool Generator::bits() {
  static constexpr const char *names[] = {
      "and", "not", "or", "xor", "popcount", "count_leading_zeros", "shift_left", "shift_right"};
  StringRef name = inTurn(names);
  bool isLogical = name == "and" || name == "not" || name == "or" || name == "xor";
  if (isLogical && random.oneIn(2)) {
    Node flag = condition(randomShape(random.between(1, 3)));
    return name == "not" ? bool(apply(name, {flag}, true))
                         : bool(apply(name, {flag, leaf(flag.type(), 0, 1)}, true));
  }
  Type words[] = {builder.getIntegerType(8),         builder.getIntegerType(8, false),
                  builder.getIntegerType(16, false), builder.getI32Type(),
                  builder.getIntegerType(32, false), builder.getI64Type(),
                  builder.getIntegerType(64, false)};
  Node node = cast(pickInteger(), words[random.below(7)]);
  if (name == "not" || name == "popcount" || name == "count_leading_zeros")
    return bool(apply(name, {node}, true));
  return bool(apply(name, {node, leaf(node.type(), 0, isLogical ? 100 : 70)}, true));
}

bool Generator::compareOrSelect() {
  Node node = pick(0, /*exact=*/true);
  auto direction = CompareDirection(random.below(6));
  Node bound = leaf(node.type(), -2, 2); // exact too: a rounding error must not turn the order
  Node flag =
      take(CompareOp::create(builder, location(), direction, node.value, bound.value), true);
  Node value = partner(node), other = partner(node);
  return bool(
      take(SelectOp::create(builder, location(), node.type(), flag.value, value.value, other.value),
           value.exact && other.exact));
}

Node Generator::cast(const Node &node, Type element) {
  return take(CastOp::create(builder, location(), node.type().clone(element), node.value),
              node.exact);
}

bool Generator::castStep() {
  switch (random.below(4)) {
  case 0: // floats to integers
    return bool(cast(pick(0, /*exact=*/true), builder.getI64Type()));
  case 1: // integers to floats
    return bool(cast(pickInteger(), builder.getF32Type()));
  case 2: // flags to floats
    return bool(cast(condition(randomShape(random.between(1, 3))), builder.getF32Type()));
  default: { // there and back through i32
    Node narrow = cast(pickInteger(), builder.getI32Type());
    return bool(cast(narrow, builder.getI64Type()));
  }
  }
}

bool Generator::classify() {
  double special[] = {std::numeric_limits<double>::infinity(),
                      -std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::quiet_NaN(), 0.0, 1.5};
  RankedTensorType type = f32({random.pick<int64_t>({2, 4, 8}), random.pick<int64_t>({2, 3, 4})});
  std::vector<double> numbers(type.getNumElements());
  for (double &number : numbers)
    number = special[random.below(5)];
  Node node = addConstant(tensorOf(type, numbers));
  if (random.oneIn(2))
    return bool(take(IsInfOp::create(builder, location(), node.value), true));
  return bool(take(IsNanOp::create(builder, location(), node.value), true));
}

bool Generator::gelu() {
  Node node = pick();
  auto form = random.oneIn(2) ? GeluForm::Erf : GeluForm::Tanh;
  return bool(take(GeluOp::create(builder, location(), node.type(), node.value, form), false));
}

// Arithmetic of sizes. All sizes are known, so that every such node is a number.

#include "frontends/torch_export/ops/OpTable.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <functional>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// A Python operator of two numbers: integers stay integers, bools count as such.
template <typename OnIntegers, typename OnFloats>
static void python(Node &node, OnIntegers onIntegers, OnFloats onFloats) {
  auto number = [&](size_t index) {
    Number given = node.numberAt(index);
    auto *truth = std::get_if<bool>(&given);
    return truth ? Number(int64_t(*truth)) : given;
  };
  Number a = number(0), b = number(1);
  auto *left = std::get_if<int64_t>(&a), *right = std::get_if<int64_t>(&b);
  if (left && right)
    node.result(Number(onIntegers(*left, *right)));
  else
    node.result(Number(onFloats(asDouble(a), asDouble(b))));
}

static int64_t checked(bool overflow, int64_t value) {
  if (overflow)
    throw ImportError("the number exceeds 64 bits");
  return value;
}

static void checkDivisor(double divisor) {
  if (divisor == 0)
    throw ImportError("division by zero");
}

/// Sums, differences and products: of integers by an `Exact` that tells of overflow.
template <int64_t (*Exact)(int64_t, int64_t, int64_t &), typename Rounded>
static void arithmetic(Node &node) {
  python(
      node,
      [](int64_t a, int64_t b) {
        int64_t result;
        bool overflow = Exact(a, b, result);
        return checked(overflow, result);
      },
      Rounded());
}

static int64_t floorDivide(int64_t a, int64_t b) {
  checkDivisor(b);
  if (b == -1) // the only quotient that may overflow
    return checked(a == std::numeric_limits<int64_t>::min(), -(a + (a == INT64_MIN)));
  return llvm::divideFloorSigned(a, b);
}

static void importFloorDiv(Node &node) {
  python(node, floorDivide, [](double a, double b) {
    checkDivisor(b);
    return std::floor(a / b);
  });
}

static void importMod(Node &node) { // with the divisor's sign
  python(
      node, [](int64_t a, int64_t b) { return b == -1 ? 0 : a - b * floorDivide(a, b); },
      [](double a, double b) {
        checkDivisor(b);
        return a - b * std::floor(a / b);
      });
}

static void importTrueDiv(Node &node) {
  auto divide = [](double a, double b) {
    checkDivisor(b);
    return a / b;
  };
  python(node, divide, divide);
}

static void importPow(Node &node) {
  python(
      node,
      [](int64_t a, int64_t b) {
        double power = std::pow(double(a), double(b));
        if (b < 0 || std::abs(power) > 0x1p53)
          throw ImportError("a power out of range");
        return int64_t(power);
      },
      [](double a, double b) { return std::pow(a, b); });
}

static void importMax(Node &node) {
  python(
      node, [](int64_t a, int64_t b) { return std::max(a, b); },
      [](double a, double b) { return std::max(a, b); });
}

static void importMin(Node &node) {
  python(
      node, [](int64_t a, int64_t b) { return std::min(a, b); },
      [](double a, double b) { return std::min(a, b); });
}

template <typename Compare> static void importCompare(Node &node) {
  python(node, Compare(), Compare());
}

static void importNot(Node &node) { node.result(Number(asDouble(node.numberAt(0)) == 0)); }

/// `and` and `or` of bools.
template <typename Join> static void importLogical(Node &node) {
  node.result(Number(Join()(asDouble(node.numberAt(0)) != 0, asDouble(node.numberAt(1)) != 0)));
}

static void importNeg(Node &node) {
  Number number = node.numberAt(0);
  if (auto *integer = std::get_if<int64_t>(&number))
    return node.result(
        Number(checked(*integer == INT64_MIN, -(*integer + (*integer == INT64_MIN)))));
  node.result(Number(-asDouble(number)));
}

static void importFloat(Node &node) { node.result(Number(asDouble(node.numberAt(0)))); }

/// Rounds a number to an integer.
template <double (*round)(double)> static void importRound(Node &node) {
  Number number = node.numberAt(0);
  if (std::holds_alternative<int64_t>(number))
    return node.result(number);
  double rounded = round(asDouble(number));
  if (!(std::abs(rounded) < 0x1p63))
    throw ImportError("the number exceeds 64 bits");
  node.result(Number(int64_t(rounded)));
}

template <double (*function)(double)> static void importMath(Node &node) {
  node.result(Number(function(asDouble(node.numberAt(0)))));
}

static void importSymSize(Node &node) {
  Value self = node.tensor("self");
  int64_t dim = node.dim(node.integer("dim"), typeOf(self).getRank());
  if (typeOf(self).getRank() == 0)
    throw ImportError("a scalar has no sizes");
  node.result(Number(shapeOf(self)[dim]));
}

static void importSymNumel(Node &node) {
  node.result(Number(typeOf(node.tensor("self")).getNumElements()));
}

void weft::frontend::aten::addSymbolic(OpTable &table) {
  table["_operator.add"] = arithmetic<llvm::AddOverflow<int64_t>, std::plus<double>>;
  table["_operator.and_"] = importLogical<std::logical_and<bool>>;
  table["_operator.eq"] = importCompare<std::equal_to<>>;
  table["_operator.floordiv"] = importFloorDiv;
  table["_operator.ge"] = importCompare<std::greater_equal<>>;
  table["_operator.gt"] = importCompare<std::greater<>>;
  table["_operator.le"] = importCompare<std::less_equal<>>;
  table["_operator.lt"] = importCompare<std::less<>>;
  table["_operator.mod"] = importMod;
  table["_operator.mul"] = arithmetic<llvm::MulOverflow<int64_t>, std::multiplies<double>>;
  table["_operator.ne"] = importCompare<std::not_equal_to<>>;
  table["_operator.neg"] = importNeg;
  table["_operator.not_"] = importNot;
  table["_operator.or_"] = importLogical<std::logical_or<bool>>;
  table["_operator.pow"] = importPow;
  table["_operator.sub"] = arithmetic<llvm::SubOverflow<int64_t>, std::minus<double>>;
  table["_operator.truediv"] = importTrueDiv;
  table["aten.sym_numel.default"] = importSymNumel;
  table["aten.sym_size.int"] = importSymSize;
  table["math.ceil"] = importRound<std::ceil>;
  table["math.floor"] = importRound<std::floor>;
  table["math.sqrt"] = importMath<std::sqrt>;
  table["math.trunc"] = importRound<std::trunc>;
  table["torch.sym_float"] = importFloat;
  table["torch.sym_int"] = importRound<std::trunc>;
  table["torch.sym_max"] = importMax;
  table["torch.sym_min"] = importMin;
  table["torch.sym_not"] = importNot;
  table["torch.sym_sqrt"] = importMath<std::sqrt>;
}

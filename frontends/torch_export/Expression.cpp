#include "frontends/torch_export/Expression.h"

#include "frontends/common/ImportError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace weft::frontend;
using namespace weft::frontend::aten;
using llvm::StringRef;

namespace {

/// An exact fraction, or unknown where it depends on a symbol without a value.
struct Fraction {
  int64_t above = 0, below = 1; ///< below ≥ 1, in lowest terms
  bool known = true;

  static Fraction unknown() { return {0, 1, false}; }
};

[[noreturn]] void fail(StringRef text, const std::string &why) {
  constexpr size_t shown = 200;
  throw ImportError("the size '" + text.take_front(shown).str() + "' " + why);
}

class Parser {
public:
  Parser(StringRef text, SymbolValues symbols) : text(text), rest(text), symbols(symbols) {}

  Fraction whole() {
    Fraction value = sum();
    skipSpace();
    if (!rest.empty())
      malformed();
    return value;
  }

private:
  static constexpr int maxDepth = 200;

  [[noreturn]] void malformed() { fail(text, "is no expression that is understood"); }
  void skipSpace() { rest = rest.ltrim(); }
  bool take(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  int64_t checked(bool overflow, int64_t value) {
    if (overflow)
      fail(text, "exceeds 64 bits");
    return value;
  }
  int64_t times(int64_t a, int64_t b) {
    int64_t product;
    bool overflow = llvm::MulOverflow(a, b, product);
    return checked(overflow, product);
  }
  int64_t plus(int64_t a, int64_t b) {
    int64_t total;
    bool overflow = llvm::AddOverflow(a, b, total);
    return checked(overflow, total);
  }
  Fraction fraction(int64_t above, int64_t below) {
    if (below == 0)
      fail(text, "divides by zero");
    constexpr int64_t least = std::numeric_limits<int64_t>::min();
    if (above == least || below == least)
      fail(text, "exceeds 64 bits");
    int64_t common = std::gcd(above, below) * (below < 0 ? -1 : 1);
    return {above / common, below / common};
  }
  Fraction add(Fraction a, Fraction b) {
    if (!a.known || !b.known)
      return Fraction::unknown();
    return fraction(plus(times(a.above, b.below), times(b.above, a.below)),
                    times(a.below, b.below));
  }
  Fraction multiply(Fraction a, Fraction b) {
    if (!a.known || !b.known)
      return Fraction::unknown();
    return fraction(times(a.above, b.above), times(a.below, b.below));
  }
  Fraction divide(Fraction a, Fraction b) {
    if (!a.known || !b.known)
      return Fraction::unknown();
    return fraction(times(a.above, b.below), times(a.below, b.above));
  }
  Fraction negate(Fraction a) { return multiply(a, {-1}); }
  Fraction floor(Fraction a) { return {llvm::divideFloorSigned(a.above, a.below), 1, a.known}; }
  Fraction remainder(Fraction a, Fraction b) { // with the sign of b, as Python's
    return add(a, negate(multiply(b, floor(divide(a, b)))));
  }
  Fraction power(Fraction base, Fraction exponent) {
    constexpr int64_t most = 64;
    if (!base.known || !exponent.known)
      return Fraction::unknown();
    if (exponent.below != 1 || exponent.above < -most || exponent.above > most)
      malformed();
    Fraction result{1};
    for (int64_t i = 0; i < std::abs(exponent.above); ++i)
      result = multiply(result, base);
    return exponent.above < 0 ? divide({1}, result) : result;
  }
  bool less(Fraction a, Fraction b) { return add(a, negate(b)).above < 0; }
  Fraction extreme(Fraction a, Fraction b, bool larger) {
    if (!a.known || !b.known)
      return Fraction::unknown();
    return less(a, b) == larger ? b : a;
  }

  //===--------------------------------------------------------------------===//
  // Grammar
  //===--------------------------------------------------------------------===//

  Fraction sum() {
    if (++depth > maxDepth)
      malformed();
    Fraction value = product();
    for (;;)
      if (take("+"))
        value = add(value, product());
      else if (take("-"))
        value = add(value, negate(product()));
      else
        break;
    --depth;
    return value;
  }
  Fraction product() {
    Fraction value = unary();
    for (;;)
      if (take("//"))
        value = floor(divide(value, unary()));
      else if (take("/"))
        value = divide(value, unary());
      else if (take("%"))
        value = remainder(value, unary());
      else if (take("*"))
        value = multiply(value, unary());
      else
        return value;
  }
  Fraction unary() {
    bool minus = false;
    while (take("-"))
      minus = !minus;
    Fraction value = primary();
    if (take("**"))
      value = power(value, unaryExponent());
    return minus ? negate(value) : value;
  }
  Fraction unaryExponent() { return take("-") ? negate(primary()) : primary(); }
  Fraction primary() {
    skipSpace();
    if (take("(")) {
      Fraction value = sum();
      return take(")") ? value : (malformed(), value);
    }
    if (!rest.empty() && llvm::isDigit(rest.front())) {
      int64_t number;
      if (rest.consumeInteger(10, number))
        fail(text, "exceeds 64 bits");
      return {number};
    }
    StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name.empty())
      malformed();
    rest = rest.drop_front(name.size());
    if (!take("("))
      return symbol(name);
    return name == "Symbol" ? namedSymbol() : call(name);
  }
  Fraction symbol(StringRef name) {
    std::optional<int64_t> value = symbols(name);
    return value ? Fraction{*value} : Fraction::unknown();
  }
  /// Symbol('s0', positive=True, …), behind the parenthesis.
  Fraction namedSymbol() {
    skipSpace();
    if (!take("'"))
      malformed();
    StringRef name = rest.take_until([](char c) { return c == '\''; });
    rest = rest.drop_front(name.size());
    StringRef others = rest.take_until([](char c) { return c == ')'; });
    rest = rest.drop_front(others.size());
    if (!take(")"))
      malformed();
    return symbol(name);
  }
  std::optional<Fraction> callOne(StringRef name, Fraction a);
  std::optional<Fraction> callTwo(StringRef name, Fraction a, Fraction b);
  std::optional<Fraction> callMany(StringRef name, llvm::ArrayRef<Fraction> operands);
  Fraction call(StringRef name);

  StringRef text, rest;
  SymbolValues symbols;
  int depth = 0;
};

std::optional<Fraction> Parser::callOne(StringRef name, Fraction a) {
  if (name == "Integer" || name == "Identity" || name == "ToFloat")
    return a;
  if (name == "floor" || name == "FloorToInt")
    return floor(a);
  if (name == "ceiling" || name == "CeilToInt")
    return negate(floor(negate(a)));
  if (name == "Abs")
    return less(a, {}) ? negate(a) : a;
  if (name == "TruncToInt")
    return less(a, {}) ? negate(floor(negate(a))) : floor(a);
  return std::nullopt;
}

std::optional<Fraction> Parser::callTwo(StringRef name, Fraction a, Fraction b) {
  if (name == "FloorDiv" || name == "CleanDiv")
    return floor(divide(a, b));
  if (name == "CeilDiv")
    return negate(floor(negate(divide(a, b))));
  if (name == "Rational" || name == "IntTrueDiv" || name == "FloatTrueDiv")
    return divide(a, b);
  if (name == "Mod" || name == "PythonMod")
    return remainder(a, b);
  if (name == "Pow" || name == "PowByNatural")
    return power(a, b);
  if (name == "LShift")
    return multiply(a, power({2}, b));
  if (name == "RShift")
    return floor(divide(a, power({2}, b)));
  return std::nullopt;
}

/// A function of any number of operands, joined from the left.
std::optional<Fraction> Parser::callMany(StringRef name, llvm::ArrayRef<Fraction> operands) {
  Fraction value = operands.front();
  for (Fraction operand : operands.drop_front())
    if (name == "Add")
      value = add(value, operand);
    else if (name == "Mul")
      value = multiply(value, operand);
    else
      value = extreme(value, operand, name == "Max");
  bool isKnown = name == "Add" || name == "Mul" || name == "Max" || name == "Min";
  return isKnown ? std::optional(value) : std::nullopt;
}

/// A call, behind its opening parenthesis.
Fraction Parser::call(StringRef name) {
  std::vector<Fraction> operands;
  do
    operands.push_back(sum());
  while (take(","));
  if (!take(")"))
    malformed();
  std::optional<Fraction> value;
  if (operands.size() == 1)
    value = callOne(name, operands[0]);
  else if (operands.size() == 2)
    value = callTwo(name, operands[0], operands[1]);
  else if (operands.size() == 3 && name == "ModularIndexing")
    value = remainder(floor(divide(operands[0], operands[1])), operands[2]);
  if (!value)
    value = callMany(name, operands);
  if (!value)
    fail(text, "holds the unknown function '" + name.str() + "'");
  return *value;
}

} // namespace

std::optional<int64_t> weft::frontend::aten::evaluateExpression(StringRef text,
                                                                SymbolValues symbols) {
  Fraction value = Parser(text, symbols).whole();
  if (!value.known)
    return std::nullopt;
  if (value.below != 1)
    fail(text, "is no integer");
  return value.above;
}

std::vector<std::string> weft::frontend::aten::symbolsOf(StringRef text) {
  std::vector<std::string> names;
  auto collect = [&](StringRef name) -> std::optional<int64_t> {
    if (!llvm::is_contained(names, name))
      names.push_back(name.str());
    return std::nullopt;
  };
  Parser(text, collect).whole();
  return names;
}

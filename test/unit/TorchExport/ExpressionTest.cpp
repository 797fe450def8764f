// Sizes as text, in both forms that torch has written: sympy's srepr and str.
#include "frontends/torch_export/Expression.h"

#include "frontends/common/ImportError.h"
#include <catch2/catch.hpp>

using namespace weft::frontend;
using namespace weft::frontend::aten;

/// The value with s0 = 7 and s1 = 3; other symbols have none.
static std::optional<int64_t> value(llvm::StringRef text) {
  return evaluateExpression(text, [](llvm::StringRef symbol) -> std::optional<int64_t> {
    if (symbol == "s0")
      return 7;
    return symbol == "s1" ? std::optional<int64_t>(3) : std::nullopt;
  });
}

TEST_CASE("both forms give the same value") {
  CHECK(value("2*s0 + 1") == 15);
  CHECK(value("Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))") == 15);
  CHECK(value("s0**2 - s1") == 46);
  CHECK(value("Add(Pow(Symbol('s0'), Integer(2)), Mul(Integer(-1), Symbol('s1')))") == 46);
  CHECK(value("-(s0 - 10)") == 3);
}

TEST_CASE("quotients round down, remainders have the divisor's sign, fractions are exact") {
  CHECK(value("s0//2") == 3);
  CHECK(value("FloorDiv(Mul(Integer(-1), Symbol('s0')), Integer(2))") == -4);
  CHECK(value("CeilDiv(s0, 2)") == 4);
  CHECK(value("Mod(-s0, s1)") == 2);
  CHECK(value("-s0 % s1") == 2);
  CHECK(value("floor(Mul(Rational(1, 2), Symbol('s0')))") == 3);
  CHECK(value("2*(s0/2)") == 7);
  CHECK(value("TruncToInt(-s0/2)") == -3);
  CHECK(value("ModularIndexing(s0, 2, 2)") == 1);
  CHECK(value("Max(1, s1, Min(s0, 5))") == 5);
}

TEST_CASE("a symbol without a value gives none, wherever it stands") {
  CHECK(value("u0") == std::nullopt);
  CHECK(value("s0 + Max(1, u0)") == std::nullopt);
  CHECK(symbolsOf("Add(Symbol('s1'), Mul(Symbol('s0'), Symbol('s1')))") ==
        std::vector<std::string>{"s1", "s0"});
}

TEST_CASE("what is no size is refused") {
  for (const char *text : {"", "2*", "(s0", "s0)", "Symbol(s0)", "Frobnicate(s0)", "s0/2",
                           "s0 // 0", "1 % 0", "9223372036854775808", "9223372036854775807 + 1",
                           "s0**64", "s0**s0**s0", "s0**-1", "Add(", "Symbol('s0", "2 3", "s0.5"}) {
    INFO(text);
    CHECK_THROWS_AS(value(text), ImportError);
  }
  CHECK_THROWS_AS(value(std::string(100000, '(')), ImportError);
  CHECK(value(std::string(100000, '-') + "1") == 1);
}

//===- NumberChecks.cpp - numbers on the command line ---------------------===//

#include "tools/weft/NumberChecks.h"

#include <cmath>
#include <fmt/format.h>

using namespace weft;

/// The check of numbers that `accepts` tells; messages say `range` of them, the help `inHelp`.
static CLI::Validator makeCheck(const std::string &range, const std::string &inHelp,
                                std::function<bool(double)> accepts) {
  auto check = [range, accepts](const std::string &text) -> std::string {
    double number = 0;
    if (CLI::detail::lexical_cast(text, number) && std::isfinite(number) && accepts(number))
      return "";
    return fmt::format("expected a number{}, got: {}", range, text);
  };
  return CLI::Validator(check, inHelp);
}

CLI::Validator tool::isNumber() {
  return makeCheck("", "", [](double) { return true; });
}

CLI::Validator tool::isAtLeast(double least) {
  return makeCheck(fmt::format(" of at least {}", least), fmt::format("at least {}", least),
                   [=](double number) { return number >= least; });
}

CLI::Validator tool::isAbove(double bound) {
  return makeCheck(fmt::format(" above {}", bound), fmt::format("above {}", bound),
                   [=](double number) { return number > bound; });
}

CLI::Validator tool::isWithin(double least, double most) {
  return makeCheck(fmt::format(" from {} to {}", least, most), fmt::format("{} to {}", least, most),
                   [=](double number) { return least <= number && number <= most; });
}

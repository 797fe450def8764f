//===- NumberChecks.cpp - numbers on the command line ---------------------===//

#include "tools/weft/NumberChecks.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fmt/format.h>
#include <optional>

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

/// Bytes of a size; none where it is none, or no int64_t holds it.
static std::optional<int64_t> readSize(llvm::StringRef text) {
  static constexpr llvm::StringLiteral units = "kmgtpe";
  text = text.trim();
  text.consume_back_insensitive("b");
  double factor = 1, number = 0;
  bool isBinary = text.consume_back_insensitive("i");
  size_t unit = text.empty() ? llvm::StringRef::npos : units.find(llvm::toLower(text.back()));
  if (unit != llvm::StringRef::npos) {
    factor = std::exp2(10.0 * static_cast<double>(unit + 1));
    text = text.drop_back().rtrim();
  } else if (isBinary) {
    return std::nullopt;
  }
  if (text.rtrim().getAsDouble(number) || !(std::abs(number * factor) < 0x1p63))
    return std::nullopt;
  return std::llround(number * factor);
}

CLI::Validator tool::isSize() {
  auto read = [](std::string &text) -> std::string {
    std::optional<int64_t> bytes = readSize(text);
    if (!bytes || *bytes < 1)
      return fmt::format("expected a size of at least 1 byte, as 16GiB, got: {}", text);
    text = std::to_string(*bytes);
    return "";
  };
  return CLI::Validator(read, "");
}

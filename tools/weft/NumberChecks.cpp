//===- NumberChecks.cpp - numbers on the command line ---------------------===//

#include "tools/weft/NumberChecks.h"

#include <charconv>
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
static std::optional<int64_t> readSize(const std::string &text) {
  static constexpr std::string_view units = "kmgtpe";
  std::string size = CLI::detail::to_lower(CLI::detail::trim_copy(text));
  double number = 0;
  auto [rest, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  std::string unit = CLI::detail::trim_copy(rest);
  if (unit.ends_with('b'))
    unit.pop_back();
  if (unit.size() == 2 && unit.back() == 'i')
    unit.pop_back();
  size_t power = unit.empty() ? 0 : units.find(unit) + 1; // npos + 1 is 0
  bool isUnit = unit.empty() || (unit.size() == 1 && power > 0);
  double bytes = number * std::exp2(10.0 * static_cast<double>(power));
  if (error != std::errc() || !isUnit || !(std::abs(bytes) < 0x1p63))
    return std::nullopt;
  return std::llround(bytes);
}

CLI::Validator tool::asSize() {
  auto read = [](std::string &text) -> std::string {
    std::optional<int64_t> bytes = readSize(text);
    if (!bytes || *bytes < 1)
      return fmt::format("expected a size of at least 1 byte, as 16GiB, got: {}", text);
    text = std::to_string(*bytes);
    return "";
  };
  return CLI::Validator(read, "");
}

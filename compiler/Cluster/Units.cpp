#include "compiler/Cluster/Units.h"

#include <array>
#include <utility>

using namespace weft;

std::string_view weft::getBaseUnit(Dimension dimension) {
  switch (dimension) {
  case Dimension::Number:
    return "1";
  case Dimension::Seconds:
    return "s";
  case Dimension::Bytes:
    return "B";
  case Dimension::BytesPerSecond:
    return "B/s";
  case Dimension::FlopPerSecond:
    return "FLOP/s";
  }
  return "";
}

/// Of `text` as a prefix of large units; none if it is not one.
static std::optional<double> getLargePrefix(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 10> prefixes{{
      {"", 1},
      {"k", 1e3},
      {"M", 1e6},
      {"G", 1e9},
      {"T", 1e12},
      {"P", 1e15},
      {"Ki", 0x1p10},
      {"Mi", 0x1p20},
      {"Gi", 0x1p30},
      {"Ti", 0x1p40},
  }};
  for (auto [name, factor] : prefixes)
    if (name == text)
      return factor;
  return std::nullopt;
}

/// `unit` is a prefix of large units and `base`.
static std::optional<double> getPrefixed(std::string_view unit, std::string_view base) {
  if (!unit.ends_with(base))
    return std::nullopt;
  return getLargePrefix(unit.substr(0, unit.size() - base.size()));
}

static std::optional<double> getSeconds(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  for (auto [name, factor] : units)
    if (name == unit)
      return factor;
  return std::nullopt;
}

std::optional<double> weft::getUnitFactor(std::string_view unit, Dimension dimension) {
  switch (dimension) {
  case Dimension::Number:
    return unit == "1" ? std::optional<double>(1) : std::nullopt;
  case Dimension::Seconds:
    return getSeconds(unit);
  case Dimension::Bytes:
    return getPrefixed(unit, "B");
  case Dimension::BytesPerSecond:
    if (std::optional<double> bits = getPrefixed(unit, "bit/s"))
      return *bits / 8;
    return getPrefixed(unit, "B/s");
  case Dimension::FlopPerSecond:
    return getPrefixed(unit, "FLOP/s");
  }
  return std::nullopt;
}

double weft::inBaseUnits(const cluster::Quantity &quantity, Dimension dimension) {
  return quantity.value() * getUnitFactor(quantity.unit(), dimension).value_or(0);
}

//===- Bytes.cpp - numbers of bytes for people ----------------------------===//

#include "tools/weft/Bytes.h"

#include <fmt/format.h>
#include <iterator>

std::string weft::tool::formatBytes(int64_t bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

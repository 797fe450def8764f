//===- Seconds.cpp - times for people -------------------------------------===//

#include "tools/weft/Seconds.h"

#include <cmath>
#include <fmt/format.h>

std::string weft::tool::formatSeconds(double seconds) {
  if (std::abs(seconds) >= 1)
    return fmt::format("{:.3f} s", seconds);
  if (seconds == 0)
    return "0 s";
  return std::abs(seconds) >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                                   : fmt::format("{:.3g} us", seconds * 1e6);
}

//===- Bytes.h - numbers of bytes in messages -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SUPPORT_BYTES_H
#define WEFT_COMPILER_SUPPORT_BYTES_H

#include "llvm/Support/FormatVariadic.h"

#include <iterator>
#include <string>

namespace weft {

/// `0.50 KiB`, `200.00 KiB`, `75.50 GiB`.
inline std::string describeBytes(double bytes) {
  static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = bytes / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return llvm::formatv("{0:f2} {1}", value, units[unit]);
}

} // namespace weft

#endif // WEFT_COMPILER_SUPPORT_BYTES_H

//===- Seconds.h - times for people -----------------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_SECONDS_H
#define WEFT_TOOLS_WEFT_SECONDS_H

#include <string>

namespace weft::tool {

/// `1.234 s`, `12.3 ms`, `45.6 us`, `0 s`
std::string formatSeconds(double seconds);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SECONDS_H

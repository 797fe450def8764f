//===- Usage.h - what was wrong with a command line -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_USAGE_H
#define WEFT_TOOLS_WEFT_USAGE_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weft::tool {

/// One sentence about the command line that `app` refused with `error`, the nearest command or
/// option included; `words` are the arguments behind the program's name.
std::string explainUsage(const CLI::App &app, const CLI::ParseError &error,
                         const std::vector<std::string> &words);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_USAGE_H

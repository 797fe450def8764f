//===- Output.h - what a command writes -------------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_OUTPUT_H
#define WEFT_TOOLS_WEFT_OUTPUT_H

#include "runtime/Support/OutputFile.h"
#include "tools/weft/Command.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace weft::tool {

/// Prints JSON and a line's end; bytes of names that are no UTF-8 are replaced.
void printJsonValue(const nlohmann::ordered_json &json, int indent = 2);

/// Adds -o, the path of what a command writes.
CLI::Option *addOutputOption(CLI::App &command, std::string &path, const std::string &help);

/// Opens the file of `option` (`-o`), if one is named, before the work whose result it takes.
/// Refuses with the exit code that is returned, having said why, where --json wants the standard
/// output too.
int openOutput(const char *option, const std::string &path, const Common &common,
               std::optional<runtime::OutputFile> &file);

/// Whether the file of an option is the standard output.
bool isStandardOutput(const std::optional<runtime::OutputFile> &file);

/// Whether the standard output is left for tables: it is not the file of -o.
bool hasTables(const std::optional<runtime::OutputFile> &file, const Common &common);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_OUTPUT_H

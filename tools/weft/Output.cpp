//===- Output.cpp - what a command writes ---------------------------------===//

#include "tools/weft/Output.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Messages.h"

using namespace weft;
using namespace weft::tool;

void weft::tool::printJsonValue(const nlohmann::ordered_json &json, int indent) {
  runtime::printText(
      json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

CLI::Option *weft::tool::addOutputOption(CLI::App &command, std::string &path,
                                         const std::string &help) {
  return command.add_option("-o,--output", path, help)->check([](const std::string &given) {
    return given.empty() ? "expected a path, got: ''" : "";
  });
}

bool weft::tool::isStandardOutput(const std::optional<runtime::OutputFile> &file) {
  return file && file->getKind() == runtime::OutputKind::StandardOutput;
}

int weft::tool::openOutput(const char *option, const std::string &path, const Common &common,
                           std::optional<runtime::OutputFile> &file) {
  if (!path.empty())
    file.emplace(path);
  if (common.json && isStandardOutput(file))
    return fail(
        Exit::Usage,
        fmt::format("{} {} and --json both want the standard output; name a file", option, path));
  return Exit::Ok;
}

bool weft::tool::hasTables(const std::optional<runtime::OutputFile> &file, const Common &common) {
  return !common.quiet && !isStandardOutput(file);
}

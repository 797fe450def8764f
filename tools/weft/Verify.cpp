//===- Verify.cpp - weft verify -------------------------------------------===//

#include "runtime/Verify/Verify.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Error.h"
#include "tools/weft/Command.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Output.h"

#include <fmt/format.h>

using namespace weft::tool;
using namespace weft::runtime;

namespace {

void report(const std::string &path, const Common &common, const std::vector<std::string> &reasons,
            const std::string &summary) {
  if (common.json) {
    nlohmann::ordered_json json = {
        {"executable", path}, {"valid", reasons.empty()}, {"reasons", reasons}};
    printJsonValue(json);
    return;
  }
  for (const std::string &reason : reasons)
    fail(Exit::Mismatch, reason);
  if (reasons.empty() && !common.quiet)
    print("{}: valid ({})\n", path, summary);
}

std::string summarize(const Executable &executable) {
  size_t instructions = 0;
  for (const weft::program::Program &program : executable.proto.classes())
    for (const weft::program::Segment &segment : program.segments())
      instructions += segment.instructions_size();
  return fmt::format("{} ranks, {} rank classes, {} instructions, {} kernels, {} weights",
                     executable.getNumRanks(), executable.proto.classes_size(), instructions,
                     executable.proto.kernels_size(), executable.proto.weights_size());
}

int verify(const std::string &path, const Common &common) {
  findFolder(path); // where nothing is there is bad input, and no flaw of an executable
  std::vector<std::string> reasons;
  std::string summary;
  try {
    Executable executable = loadExecutable(path);
    reasons = verifyPrograms(executable.proto);
    std::vector<std::string> files = verifyFiles(executable);
    reasons.insert(reasons.end(), files.begin(), files.end());
    summary = summarize(executable);
  } catch (const Error &error) {
    reasons.push_back(error.what());
  }
  report(path, common, reasons, summary);
  return reasons.empty() ? Exit::Ok : Exit::Mismatch;
}

} // namespace

CLI::App *weft::tool::addVerify(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("verify", "check an executable, independently of what wrote it");
  auto path = std::make_shared<std::string>();
  command->add_option("executable", *path, "an executable, written by weft compile")
      ->required()
      ->type_name("NAME.weft");
  command->footer("Exit code 6 with the reasons where anything is wrong: arenas, lifetimes, "
                  "shapes, collectives,\nweights, kernels, hashes of every file.\n\n"
                  "Example:\n  weft verify gpt2.weft");
  run = [path, &common] { return verify(*path, common); };
  return command;
}

//===- Usage.cpp - what was wrong with a command line ---------------------===//

#include "tools/weft/Usage.h"
#include "runtime/Support/Suggest.h"

#include <algorithm>
#include <fmt/format.h>

using namespace weft::tool;

/// "--mesh" of "--mesh=data=2"; empty for a word that is no long option.
static std::string getOptionName(const std::string &word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : "";
}

static std::vector<std::string> listOptions(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::string weft::tool::explainUsage(const CLI::App &app, const CLI::ParseError &error,
                                     const std::vector<std::string> &words) {
  std::vector<CLI::App *> parsed = app.get_subcommands();
  if (parsed.empty()) {
    std::vector<std::string> commands;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
      commands.push_back(command->get_name());
    if (words.empty())
      return fmt::format("weft needs a command: {}", fmt::join(commands, ", "));
    if (!words[0].starts_with("-"))
      return fmt::format("no command '{}'; {}", words[0], runtime::suggest(words[0], commands));
    return error.what();
  }
  std::vector<std::string> options = listOptions(*parsed[0]);
  for (const std::string &word : words)
    if (std::string name = getOptionName(word);
        !name.empty() && std::find(options.begin(), options.end(), name) == options.end())
      return fmt::format("weft {} has no option '{}'; {}", parsed[0]->get_name(), name,
                         runtime::suggest(name, options));
  return fmt::format("weft {}: {}", parsed[0]->get_name(), error.what());
}

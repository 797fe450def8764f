//===- Messages.cpp - what a command says on stderr -----------------------===//

#include "tools/weft/Messages.h"
#include "runtime/Support/Console.h"

using namespace weft;

static bool quietness = false;

void weft::tool::setQuiet(bool quiet) { quietness = quiet; }

bool weft::tool::isQuiet() { return quietness; }

int weft::tool::fail(Exit code, const std::string &message) {
  runtime::printError("error: {}\n", message);
  return code;
}

void weft::tool::warn(const std::string &message) {
  if (!quietness)
    runtime::printError("warning: {}\n", message);
}

void weft::tool::note(const std::string &message) {
  if (!quietness)
    runtime::printError("note: {}\n", message);
}

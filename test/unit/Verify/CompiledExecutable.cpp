#include "test/unit/Verify/CompiledExecutable.h"

#include <cstdlib>
#include <stdexcept>

static std::string getFolder(const char *variable) {
  const char *folder = std::getenv(variable);
  if (!folder)
    throw std::runtime_error(std::string(variable) + " names no executable");
  return folder;
}

std::string weft::test::getCompiledFolder() { return getFolder("WEFT_TEST_EXECUTABLE"); }

const weft::runtime::Executable &weft::test::getCompiled() {
  static const runtime::Executable executable = runtime::loadExecutable(getCompiledFolder());
  return executable;
}

const weft::runtime::Executable &weft::test::getCompiledParts() {
  static const runtime::Executable executable =
      runtime::loadExecutable(getFolder("WEFT_TEST_PARTS"));
  return executable;
}

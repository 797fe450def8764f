#include "test/unit/Verify/CompiledExecutable.h"

#include <cstdlib>
#include <stdexcept>

std::string weft::test::getCompiledFolder() {
  const char *folder = std::getenv("WEFT_TEST_EXECUTABLE");
  if (!folder)
    throw std::runtime_error("WEFT_TEST_EXECUTABLE names no executable");
  return folder;
}

const weft::runtime::Executable &weft::test::getCompiled() {
  static const runtime::Executable executable = runtime::loadExecutable(getCompiledFolder());
  return executable;
}

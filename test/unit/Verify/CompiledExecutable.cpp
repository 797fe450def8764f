#include "test/unit/Verify/CompiledExecutable.h"

#include "runtime/Verify/Verify.h"

#include <catch2/catch.hpp>
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

const weft::runtime::Executable &weft::test::getCompiledConvolution() {
  static const runtime::Executable executable =
      runtime::loadExecutable(getFolder("WEFT_TEST_CONVOLUTION"));
  return executable;
}

const weft::runtime::Executable &weft::test::getCompiledAttention() {
  static const runtime::Executable executable =
      runtime::loadExecutable(getFolder("WEFT_TEST_ATTENTION"));
  return executable;
}

std::string weft::test::joinReasons(const program::Executable &executable) {
  std::string all;
  for (const std::string &reason : runtime::verifyPrograms(executable))
    all += reason + "\n";
  return all;
}

void weft::test::checkRejected(const runtime::Executable &executable,
                               const std::vector<Mutation> &mutations) {
  for (const Mutation &mutation : mutations) {
    INFO(mutation.what);
    program::Executable changed = executable.proto;
    mutation.apply(changed);
    CHECK_THAT(joinReasons(changed), Catch::Contains(mutation.reason));
  }
}

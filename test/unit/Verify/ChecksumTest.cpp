//===- ChecksumTest.cpp - every byte of an executable is under a checksum -===//

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Verify/Verify.h"
#include "test/unit/Runtime/Fixture.h"
#include "test/unit/Verify/CompiledExecutable.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace weft::test;
using namespace weft::runtime;
namespace fs = std::filesystem;

namespace {

/// A copy of the executable that a test may damage.
struct Copy {
  Copy() { fs::copy(getCompiledFolder(), folder(), fs::copy_options::recursive); }
  std::string folder() const { return temporary / "model.weft"; }
  TemporaryFolder temporary;
};

bool isAccepted(const std::string &folder) {
  try {
    return verifyFiles(loadExecutable(folder)).empty();
  } catch (const Error &) {
    return false;
  }
}

std::string readAll(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void writeAll(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Flips one bit of every `step`th byte and of the last one; returns the places that went
/// unnoticed.
std::vector<size_t> findUnchecked(const Copy &copy, const std::string &file, size_t step) {
  std::string path = copy.folder() + "/" + file, whole = readAll(path);
  std::vector<size_t> unnoticed;
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  auto put = [&](size_t at, char byte) {
    out.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
  };
  auto check = [&](size_t at) {
    put(at, static_cast<char>(whole[at] ^ (1 << at % 8)));
    if (isAccepted(copy.folder()))
      unnoticed.push_back(at);
    put(at, whole[at]);
  };
  for (size_t at = 0; at < whole.size(); at += step)
    check(at);
  check(whole.size() - 1);
  return unnoticed;
}

} // namespace

TEST_CASE("A flipped bit anywhere in the program is noticed") {
  Copy copy;
  REQUIRE(isAccepted(copy.folder()));
  CHECK(findUnchecked(copy, "executable.pb", 1) == std::vector<size_t>());
  CHECK(isAccepted(copy.folder()));
}

TEST_CASE("A flipped bit in kernels or weights is noticed") {
  Copy copy;
  CHECK(findUnchecked(copy, "kernels/cpu.so", 211) == std::vector<size_t>());
  CHECK(findUnchecked(copy, "weights/model.safetensors", 9973) == std::vector<size_t>());
  CHECK(isAccepted(copy.folder()));
}

TEST_CASE("Missing, extra and truncated files are noticed") {
  Copy copy;
  writeAll(copy.folder() + "/weights/extra", "x");
  CHECK(!isAccepted(copy.folder()));
  fs::remove(copy.folder() + "/weights/extra");
  CHECK(isAccepted(copy.folder()));
  std::string file = GENERATE("executable.pb", "kernels/cpu.so", "weights/model.safetensors");
  std::string path = copy.folder() + "/" + file;
  fs::resize_file(path, fs::file_size(path) - 1);
  CHECK(!isAccepted(copy.folder()));
  fs::remove(path);
  CHECK(!isAccepted(copy.folder()));
}

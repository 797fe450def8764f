//===- OutputFileTest.cpp - files that a user named to be written ---------===//

#include "runtime/Support/OutputFile.h"

#include "runtime/Support/Error.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

using namespace weft::runtime;
using namespace weft::test;
namespace fs = std::filesystem;

namespace {

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int permissionsOf(const std::string &path) {
  return static_cast<int>(fs::status(path).permissions());
}

size_t countFiles(const TemporaryFolder &folder) {
  return std::distance(fs::directory_iterator(folder.getPath()), fs::directory_iterator());
}

/// The Error that writing ends with, as "exit code: message"; empty where it ends well.
std::string writeAndTell(const std::string &path, const std::string &text) {
  try {
    writeOutput(path, text);
  } catch (const Error &error) {
    return fmt::format("{}: {}", error.getExitCode(), error.what());
  }
  return "";
}

} // namespace

TEST_CASE("a file is replaced whole, with its permission bits, or not at all") {
  TemporaryFolder folder;
  std::string path = folder / "file";
  writeOutput(path, "first");
  CHECK(read(path) == "first");
  fs::permissions(path, fs::perms(0640));
  fs::create_hard_link(path, folder / "old");
  writeOutput(path, "second");
  CHECK(read(path) == "second");
  CHECK(read(folder / "old") == "first"); // whoever has the old one open reads on
  CHECK(permissionsOf(path) == 0640);
  fs::permissions(path, fs::perms(0440));
  writeOutput(path, "third");
  CHECK(permissionsOf(path) == 0440);
  {
    OutputFile dropped(path);
    dropped.write("never put in place");
    CHECK(countFiles(folder) == 3);
  }
  CHECK(read(path) == "third");
  CHECK(countFiles(folder) == 2);
}

TEST_CASE("what cannot be written is said, and leaves nothing") {
  TemporaryFolder folder;
  fs::create_directory(folder / "taken");
  CHECK(writeAndTell(folder / "taken", "x") ==
        "3: cannot write '" + folder / "taken" + "': it is a folder");
  CHECK(writeAndTell(folder / "no/file", "x") ==
        "3: cannot write '" + folder / "no/file" + "': No such file or directory");
  CHECK(writeAndTell("", "x") == "3: cannot write '': No such file or directory");
  fs::create_symlink("loop", folder / "loop");
  CHECK_THAT(writeAndTell(folder / "loop", "x"), Catch::Contains("Too many levels"));
  CHECK(countFiles(folder) == 2);
}

TEST_CASE("links are followed and stay") {
  TemporaryFolder folder;
  fs::create_directories(folder / "elsewhere");
  writeOutput(folder / "elsewhere/file", "old");
  fs::create_symlink("elsewhere/file", folder / "near");
  fs::create_symlink(folder / "near", folder / "far");
  writeOutput(folder / "far", "new");
  CHECK(fs::is_symlink(folder / "near"));
  CHECK(fs::is_symlink(folder / "far"));
  CHECK(read(folder / "elsewhere/file") == "new");
  fs::create_symlink("elsewhere/later", folder / "dangling");
  writeOutput(folder / "dangling", "there now");
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(read(folder / "elsewhere/later") == "there now");
  CHECK(countFiles(folder) == 4);
}

TEST_CASE("a pipe is written through, also what is staged for it") {
  TemporaryFolder folder;
  std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  fs::create_symlink("pipe", folder / "link");
  for (const std::string &name : {path, folder / "link"}) {
    auto reader = std::async(std::launch::async, [&] { return read(path); });
    writeOutput(name, "appended");
    CHECK(reader.get() == "appended");
  }
  auto reader = std::async(std::launch::async, [&] { return read(path); });
  {
    OutputFile parts(folder / "link");
    parts.getStaged().writeAt(5, "world", 5);
    parts.getStaged().writeAt(0, "hello", 5);
    CHECK(countFiles(folder) == 3);
    parts.commit();
  }
  CHECK(reader.get() == "helloworld");
  CHECK(fs::is_fifo(path));
  CHECK(countFiles(folder) == 2);
}

TEST_CASE("a device is written through; a full one is a failure, and stays") {
  TemporaryFolder folder;
  std::string null = folder / "null", full = folder / "full";
  if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 ||
      mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 || !std::ofstream(null)) {
    WARN("skipped: no devices can be made here");
    return;
  }
  CHECK(writeAndTell(null, "x") == "");
  CHECK(writeAndTell(full, "x") == "5: cannot write '" + full + "': No space left on device");
  CHECK(fs::is_character_file(null));
  CHECK(fs::is_character_file(full));
  CHECK(countFiles(folder) == 2);
}

TEST_CASE("an open file of a process is written through: its name may be another's by now") {
  TemporaryFolder folder;
  int open = ::open((folder / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(open >= 0);
  writeOutput(fmt::format("/proc/self/fd/{}", open), "through");
  struct stat status;
  CHECK((::fstat(open, &status) == 0 && status.st_size == 7));
  ::close(open);
  CHECK(countFiles(folder) == 1);
}

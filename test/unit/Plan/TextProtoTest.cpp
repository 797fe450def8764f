#include "compiler/Plan/TextProto.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

namespace {
struct Folder {
  fs::path path = fs::temp_directory_path() / ("weft-text-" + std::to_string(getpid()));
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
};
} // namespace

TEST_CASE("an empty file is an empty text; a folder and a missing file are problems") {
  Folder folder;
  std::string problem;
  std::ofstream(folder.path / "empty").close();
  CHECK(readTextFile(folder.path / "empty", "plan", problem) == "");
  CHECK(problem.empty());
  CHECK_FALSE(readTextFile(folder.path, "plan", problem));
  CHECK(problem == "cannot read plan " + folder.path.string());
  CHECK_FALSE(readTextFile(folder.path / "missing", "plan", problem));
}

TEST_CASE("a file is replaced whole or not at all") {
  Folder folder;
  std::string problem;
  const fs::path file = folder.path / "file";
  CHECK(replaceTextFile(file, "plan", "first") == "");
  CHECK(replaceTextFile(file, "plan", "second") == "");
  CHECK(readTextFile(file, "plan", problem) == "second");

  const fs::path taken = folder.path / "taken"; // a folder cannot be replaced by a file
  fs::create_directory(taken);
  CHECK_THAT(replaceTextFile(taken, "plan", "text"),
             Catch::Matchers::StartsWith("cannot write plan " + taken.string()));
  CHECK_FALSE(fs::exists(folder.path / "taken.partial"));
  CHECK(replaceTextFile(folder.path / "no" / "file", "plan", "text") ==
        "cannot write plan " + (folder.path / "no" / "file").string());
}

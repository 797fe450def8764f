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
  CHECK(problem == "cannot read plan " + folder.path.string() + ": Is a directory");
  CHECK_FALSE(readTextFile(folder.path / "missing", "plan", problem));
  CHECK(problem ==
        "cannot read plan " + (folder.path / "missing").string() + ": No such file or directory");
}

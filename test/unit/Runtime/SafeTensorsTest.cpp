//===- SafeTensorsTest.cpp - tables of .safetensors files -----------------===//

#include "runtime/Io/SafeTensors.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/OutputFile.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>

using namespace weft::runtime;
namespace program = weft::program;

TEST_CASE("what formatSafeTensors says is what readSafeTensors finds") {
  weft::test::TemporaryFolder folder;
  std::string path = folder / "a.safetensors";
  std::vector<SafeTensor> tensors{{"b", program::BF16, "", {2, 3}, 0},
                                  {"a", program::I1, "", {}, 0},
                                  {"none", program::F32, "", {0, 4}, 0}};
  std::string bytes = formatSafeTensors(tensors);
  CHECK(bytes.size() % 8 == 0);
  CHECK(tensors[0].offset == bytes.size());
  CHECK(tensors[1].offset == bytes.size() + 12);
  writeOutput(path, bytes + std::string(13, '\1'));
  std::vector<SafeTensor> found = readSafeTensors(path);
  REQUIRE(found.size() == tensors.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].name == tensors[i].name);
    CHECK(found[i].dtype == tensors[i].dtype);
    CHECK(found[i].shape == tensors[i].shape);
    CHECK(found[i].offset == tensors[i].offset);
  }
  CHECK(found[1].typeName == "BOOL");
  writeOutput(path, bytes + std::string(12, '\1'));
  CHECK_THROWS_WITH(readSafeTensors(path), Catch::Contains("lie beyond the end of the file"));
}

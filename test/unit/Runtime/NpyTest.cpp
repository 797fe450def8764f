//===- NpyTest.cpp - .npy files -------------------------------------------===//

#include "runtime/Io/Npy.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace weft::runtime;
namespace program = weft::program;

namespace {

/// A folder of this process, removed at the end of the test.
class Folder {
public:
  Folder() : path(std::filesystem::temp_directory_path() / fmt::format("weft-npy-{}", getpid())) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return path / name; }

private:
  std::filesystem::path path;
};

void writeFile(const std::string &path, const std::string &content) {
  File file = File::create(path);
  file.writeAt(0, content.data(), content.size());
}

std::string messageOf(const std::string &path) {
  try {
    readNpy(path);
  } catch (const Error &error) {
    CHECK(error.getExitCode() == 3);
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("every element type survives a write and a read") {
  Folder folder;
  for (int i = program::I1; i <= program::F64; ++i) {
    auto dtype = static_cast<DType>(i);
    if (dtype == program::BF16)
      continue;
    NpyArray array{dtype, {2, 0, 3}, {}};
    writeNpy(folder / "x.npy", array);
    CHECK(readNpy(folder / "x.npy").shape == array.shape);
    array.shape = {3, 2};
    for (int64_t k = 0; k < 6 * getElementSize(dtype); ++k)
      array.data.push_back(std::byte(k % 2));
    writeNpy(folder / "x.npy", array);
    NpyArray back = readNpy(folder / "x.npy");
    CHECK(back.dtype == dtype);
    CHECK(back.shape == array.shape);
    CHECK(back.data == array.data);
    CHECK(readNpyHeader(folder / "x.npy").dataOffset % 64 == 0);
  }
}

TEST_CASE("bf16 is written as f32") {
  Folder folder;
  NpyArray array{program::BF16, {2}, std::vector<std::byte>(4)};
  uint16_t values[] = {floatToBfloat(1.5f), floatToBfloat(-3.0f)};
  std::memcpy(array.data.data(), values, sizeof(values));
  writeNpy(folder / "x.npy", array);
  NpyArray back = readNpy(folder / "x.npy");
  CHECK(back.dtype == program::F32);
  CHECK(readAsDouble(back.dtype, back.data.data(), 0) == 1.5);
  CHECK(readAsDouble(back.dtype, back.data.data(), 1) == -3.0);
}

TEST_CASE("small floats round to nearest even and keep NaN") {
  CHECK(bfloatToFloat(floatToBfloat(1.00390625f)) == 1.0f);
  CHECK(bfloatToFloat(floatToBfloat(1.01171875f)) == 1.015625f);
  CHECK(std::isnan(bfloatToFloat(floatToBfloat(NAN))));
  CHECK(halfToFloat(floatToHalf(65504.0f)) == 65504.0f);
  CHECK(std::isinf(halfToFloat(floatToHalf(1e6f))));
  CHECK(halfToFloat(floatToHalf(5.9604645e-8f)) == 5.9604645e-8f);
}

TEST_CASE("column-major and version 2 files are read") {
  Folder folder;
  std::string text = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  std::string content("\x93NUMPY\x02\x00", 8);
  content += {static_cast<char>(text.size()), '\0', '\0', '\0'};
  content += text;
  for (char c : {0, 3, 1, 4, 2, 5})
    content += {c, '\0'};
  writeFile(folder / "x.npy", content);
  NpyArray array = readNpy(folder / "x.npy");
  for (int64_t i = 0; i < 6; ++i)
    CHECK(readAsDouble(array.dtype, array.data.data(), i) == double(i));
}

TEST_CASE("bad files are refused with the reason") {
  Folder folder;
  std::string good = formatNpyHeader(program::F32, {4}) + std::string(16, 'x');
  std::string path = folder / "x.npy";
  CHECK(messageOf(folder / "absent.npy").find("cannot read") != std::string::npos);
  CHECK(messageOf("/tmp").find("not a regular file") != std::string::npos);
  for (size_t length = 0; length < good.size(); ++length) {
    writeFile(path, good.substr(0, length));
    CHECK(messageOf(path).find(path) != std::string::npos);
  }
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    writeFile(path, bad);
    return messageOf(path);
  };
  CHECK(replaced("NUMPY", "numpy").find("magic") != std::string::npos);
  CHECK(replaced("<f4", ">f4").find("element type '>f4'") != std::string::npos);
  CHECK(replaced("<f4", "<c8").find("element type '<c8'") != std::string::npos);
  CHECK(replaced("(4,)", "(-4)").find("dimension") != std::string::npos);
  std::string padded = "(4,), }" + std::string(18, ' ');
  CHECK(replaced(padded, "(9999999999999999999,), }").find("bounds") != std::string::npos);
  CHECK(replaced(padded, "(99999999999999999,), }  ").find("truncated") != std::string::npos);
  CHECK(replaced("'shape'", "'shave'").find("unknown key 'shave'") != std::string::npos);
}

TEST_CASE("names become file names") {
  CHECK(getNpyFileName("logits") == "logits.npy");
  CHECK(getNpyFileName("/h.0/a b:0") == "%2Fh.0%2Fa%20b%3A0.npy");
}

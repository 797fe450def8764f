//===- onnx_mutations.cpp - damaged models must be refused ----------------===//
//
// onnx_mutations MODEL COUNT [SEED]: imports COUNT damaged copies of MODEL (cut short, some bits
// flipped, or a run of bytes overwritten; seeded, the graph's part of the file preferred) in this
// process, so that a crash is seen, raises what is imported all the same, and prints how many were
// imported and how many refused with a message.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <unistd.h>

namespace fs = std::filesystem;

static std::string damage(std::string bytes, unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](size_t bound) { return random() % bound; };
  switch (below(4)) {
  case 0:
    bytes.resize(below(bytes.size()));
    break;
  case 1:
  case 2: // Structure lies at the start and, between weights, everywhere else.
    for (size_t count = 1 + below(8); count-- > 0;)
      bytes[below(below(2) ? bytes.size() / 8 : bytes.size())] ^= char(1 << below(8));
    break;
  default:
    size_t start = below(bytes.size());
    for (size_t at = start; at < std::min(bytes.size(), start + below(64)); ++at)
      bytes[at] = char(random());
  }
  return bytes;
}

enum class Outcome { Imported, Refused, Silent };

static Outcome import(const std::string &path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  bool said = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    said = true;
    return mlir::success();
  });
  auto module = weft::importOnnx(context, path, {});
  if (module) {
    mlir::PassManager manager(&context);
    weft::buildImportPipeline(manager);
    if (succeeded(manager.run(*module)))
      return Outcome::Imported;
  }
  return said ? Outcome::Refused : Outcome::Silent;
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4)
    return std::fprintf(stderr, "usage: onnx_mutations MODEL COUNT [SEED]\n"), 2;
  std::ifstream stream(argv[1], std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  fs::path scratch =
      fs::temp_directory_path() / ("onnx_mutations_" + std::to_string(getpid()) + ".onnx");
  int counts[3] = {}, count = std::atoi(argv[2]), first = argc > 3 ? std::atoi(argv[3]) : 0;
  for (int seed = first; seed < first + count; ++seed) {
    std::ofstream(scratch, std::ios::binary) << damage(bytes, seed);
    Outcome outcome = import(scratch.string());
    ++counts[int(outcome)];
    if (outcome == Outcome::Silent)
      std::printf("seed %d: refused without a message\n", seed);
  }
  fs::remove(scratch);
  std::printf("%d mutations: %d imported, %d refused\n", count, counts[0], counts[1]);
  return counts[2] ? 1 : 0;
}

//===- weft-damage.cpp - damaged models must be refused -------------------===//
//
// weft-damage FORMAT MODEL COUNT [SEED]: imports COUNT damaged copies of MODEL in this process, so
// that a crash is seen, raises what is imported all the same, and prints how many were imported and
// how many refused with a message. Half of the copies are damaged as a file (cut short, some bits
// flipped, a run of bytes overwritten; seeded), half behind the format's own checks.
//
// weft-damage FORMAT --replay FILE…: the same for files as they are: what fuzzing once found.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace weft::fuzz;
namespace fs = std::filesystem;

namespace {

struct Counts {
  int imported = 0, refused = 0, silent = 0;

  void importOne(const Format &format, const std::string &path, const std::string &what) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Outcome outcome = importFile(format, context, path);
    imported += outcome == Outcome::Imported;
    refused += outcome == Outcome::Refused;
    silent += outcome == Outcome::Silent;
    if (outcome == Outcome::Silent)
      std::printf("%s: refused without a message\n", what.c_str());
  }
};

void damage(const Format &format, const std::string &model, int count, int first, Counts &counts) {
  auto buffer = llvm::MemoryBuffer::getFile(model);
  llvm::StringRef bytes = buffer ? (*buffer)->getBuffer() : llvm::StringRef();
  fs::path scratch = fs::temp_directory_path() /
                     ("weft_damage_" + std::to_string(getpid()) + format.extension.str());
  for (int seed = first; seed < first + count; ++seed) {
    Random random(seed);
    std::string damaged = seed % 2 ? format.mutate(bytes, random) : damageBytes(bytes, random);
    std::ofstream(scratch, std::ios::binary) << damaged;
    counts.importOne(format, scratch.string(), "seed " + std::to_string(seed));
  }
  fs::remove(scratch);
}

const Format *findFormat(llvm::StringRef name) {
  for (const Format *format : {&onnxFormat, &torchExportFormat})
    if (format->name == name)
      return format;
  return nullptr;
}

} // namespace

int main(int argc, char **argv) {
  const Format *format = argc > 3 ? findFormat(argv[1]) : nullptr;
  if (!format)
    return std::fprintf(stderr, "usage: weft-damage FORMAT MODEL COUNT [SEED]\n"
                                "       weft-damage FORMAT --replay FILE...\n"),
           2;
  Counts counts;
  if (std::string(argv[2]) == "--replay")
    for (int i = 3; i < argc; ++i)
      counts.importOne(*format, argv[i], argv[i]);
  else
    damage(*format, argv[2], std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : 0, counts);
  std::printf("%d files: %d imported, %d refused\n",
              counts.imported + counts.refused + counts.silent, counts.imported, counts.refused);
  return counts.silent ? 1 : 0;
}

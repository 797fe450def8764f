//===- weft-damage.cpp - damaged models must be refused -------------------===//
//
// weft-damage FORMAT MODEL COUNT [SEED]: imports COUNT damaged copies of MODEL in this process, so
// that a crash is seen, raises what is imported all the same, and prints how many were imported and
// how many refused with a message. Half of the copies are damaged as a file (cut short, some bits
// flipped, a run of bytes overwritten; seeded), half behind the format's own checks.
//
// weft-damage FORMAT --replay FILE…: the same for files as they are: what fuzzing once found.
//
// Importing one file may take 4 GiB of addresses and 20 seconds of the processor; what takes more
// is a crash, too, and says which file it was.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

using namespace weft::fuzz;
namespace fs = std::filesystem;

namespace {

constexpr rlim_t mostAddresses = rlim_t(4) << 30;
constexpr int mostSeconds = 20;

/// An allocation that fails ends the process: importers would take it for an error in the file.
void limitMemory() {
#if !__has_feature(address_sanitizer) // whose shadow takes more addresses than there is memory
  rlimit limit{mostAddresses, mostAddresses};
  setrlimit(RLIMIT_AS, &limit);
#endif
  std::set_new_handler([] { std::abort(); });
}

/// From now on, in time of the processor: a busy machine changes nothing.
void restartClock() {
  std::signal(SIGPROF, [](int) { std::abort(); });
  itimerval timer{{0, 0}, {mostSeconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

struct Counts {
  int imported = 0, refused = 0, silent = 0;

  void importOne(const Format &format, const std::string &path, const std::string &what) {
    llvm::PrettyStackTraceString place(what.c_str());
    restartClock();
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
  for (const Format *format : {&onnxFormat, &stableHloFormat, &torchExportFormat})
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
  llvm::EnablePrettyStackTrace();
  limitMemory();
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

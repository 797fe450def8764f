//===- FuzzTarget.cpp - a libFuzzer target of one frontend ----------------===//
//
// Compiled once for each frontend, with WEFT_FORMAT naming its Format. An input is a model file.
// Findings are crashes, sanitizer reports, hangs, memory beyond bounds, and refusals without a
// word.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Format.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace weft::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Types and attributes stay in a context for good; a new one now and then keeps memory bounded.
static constexpr int inputsPerContext = 64;

/// The path of a file in memory with these bytes.
static std::string writeInput(llvm::StringRef bytes) {
  static const int file = memfd_create("weft_fuzz", 0);
  bool written = file >= 0 && ftruncate(file, off_t(bytes.size())) == 0 &&
                 pwrite(file, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size());
  if (!written)
    std::perror("the input cannot be written"), std::exit(1);
  return "/proc/self/fd/" + std::to_string(file);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int used = 0;
  if (used++ % inputsPerContext == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  std::string path = writeInput({reinterpret_cast<const char *>(data), size});
  if (importFile(WEFT_FORMAT, *context, path) == Outcome::Silent) {
    std::fprintf(stderr, "refused without a message\n");
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  Random random(seed);
  if (below(random, 8) == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string changed = WEFT_FORMAT.mutate({reinterpret_cast<const char *>(data), size}, random);
  if (changed.empty() || changed.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

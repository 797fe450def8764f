#include "test/fuzz/Format.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"

using namespace weft::fuzz;

int64_t weft::fuzz::pickNumber(Random &random) {
  static constexpr int64_t numbers[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        64,
                                        1000,
                                        1 << 16,
                                        (int64_t(1) << 31) - 1,
                                        int64_t(1) << 32,
                                        int64_t(1) << 40,
                                        int64_t(1) << 48,
                                        int64_t(1) << 62,
                                        INT64_MAX};
  int64_t number = pick(random, numbers);
  return below(random, 3) ? number : -number;
}

Outcome weft::fuzz::importFile(const Format &format, mlir::MLIRContext &context,
                               const std::string &path) {
  bool said = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    said = true;
    return mlir::success();
  });
  if (auto module = format.import(context, path)) {
    mlir::PassManager manager(&context);
    weft::buildImportPipeline(manager);
    if (succeeded(manager.run(*module)))
      return Outcome::Imported;
  }
  return said ? Outcome::Refused : Outcome::Silent;
}

std::string weft::fuzz::damageBytes(llvm::StringRef input, Random &random) {
  std::string bytes = input.str();
  if (bytes.empty())
    return bytes;
  switch (below(random, 4)) {
  case 0:
    bytes.resize(below(random, bytes.size()));
    break;
  case 1:
  case 2: // Structure lies at the start and, between weights, everywhere else.
    for (size_t count = 1 + below(random, 8); count-- > 0;)
      bytes[below(random, below(random, 2) ? bytes.size() / 8 + 1 : bytes.size())] ^=
          char(1 << below(random, 8));
    break;
  default:
    size_t start = below(random, bytes.size());
    size_t end = std::min(bytes.size(), start + below(random, 64));
    for (size_t at = start; at < end; ++at)
      bytes[at] = char(random());
  }
  return bytes;
}

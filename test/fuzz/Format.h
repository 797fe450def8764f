//===- Format.h - a kind of model file, and how it is damaged ---*- C++ -*-===//
//
// What fuzz targets (FuzzTarget.cpp), replays of their findings and damaged copies of whole models
// (weft-damage.cpp) share: an importer, and a mutator that knows the format, so that damage lies
// behind the container's own checks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_FORMAT_H
#define WEFT_TEST_FUZZ_FORMAT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <random>
#include <string>

namespace weft::fuzz {

using Random = std::mt19937;

/// A number below `bound`, which is above 0.
inline size_t below(Random &random, size_t bound) { return random() % bound; }

template <typename Range> auto &pick(Random &random, Range &&range) {
  return range[below(random, std::size(range))];
}

/// Sizes and positions at which arithmetic goes wrong.
int64_t pickNumber(Random &random);

struct Format {
  llvm::StringRef name;
  llvm::StringRef extension;
  mlir::OwningOpRef<mlir::ModuleOp> (*import)(mlir::MLIRContext &context, llvm::StringRef path);
  /// One change behind the container's checks; the input itself where it is not of this format.
  std::string (*mutate)(llvm::StringRef bytes, Random &random);
};

extern const Format onnxFormat, stableHloFormat, torchExportFormat;

enum class Outcome {
  Imported,
  Refused, ///< with an error
  Silent   ///< refused without one, which is a defect
};

/// Imports the file as `weft import` does, raising included, and checks what came out.
Outcome importFile(const Format &format, mlir::MLIRContext &context, const std::string &path);

/// Cut short, some bits flipped, or a run of bytes overwritten.
std::string damageBytes(llvm::StringRef bytes, Random &random);

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_FORMAT_H

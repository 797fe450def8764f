//===- Case.h - a random model on a random mesh -----------------*- C++ -*-===//

#ifndef WEFT_TEST_PROPERTY_CASE_H
#define WEFT_TEST_PROPERTY_CASE_H

#include "test/property/Generator.h"

#include <string>
#include <vector>

namespace weft::property {

/// What a seed stands for: a model, a mesh of 1 to 8 ranks with 1 to 3 axes, and pins as on the
/// command line.
struct Case {
  uint64_t seed = 0;
  Model model;
  std::string mesh;              ///< `data=2,model=4`
  std::vector<std::string> pins; ///< `VALUE=[{data},{}]`
  bool chosen = false;           ///< the compiler chooses shardings beside the pins

  /// The model's text, mesh and pins, for reports.
  std::string describe() const;
};

/// The case of a seed. Its weights name `weightsPath` as their file.
Case makeCase(mlir::MLIRContext &context, uint64_t seed, llvm::StringRef weightsPath);

/// Gives a case a pin that cannot be, of a unit that does not divide or of a dimension too many;
/// the name of the pinned value.
std::string addUnfitPin(Case &test);

/// What `value` computed differs from `expected`: nothing if integers are equal and floats differ
/// by at most `tolerance` of the largest magnitude, else which output, and by how much.
std::string compareOutputs(llvm::ArrayRef<Tensor> outputs, llvm::ArrayRef<Tensor> expected,
                           double tolerance);

/// How often each operation occurred, and how the cases were split.
struct Coverage {
  std::map<std::string, int> operations;
  std::map<std::string, int> split;       ///< how many of them had a result in several blocks
  std::map<std::string, int> collectives; ///< dist operations of the programs
  int cases = 0;
  int splitCases = 0;  ///< with a split of something else than a first dimension
  int paddedCases = 0; ///< with a split whose blocks are padded
  int refused = 0;     ///< whose weights are pinned as no view of them can show

  void add(const Coverage &more);
  /// The table, and what it lacks: each operation of the dialect at least ten times, a third of
  /// cases split elsewhere than in the first dimension, half of them by what does not divide, few
  /// refused.
  std::string table() const;
  std::vector<std::string> shortcomings() const;
};

} // namespace weft::property

#endif // WEFT_TEST_PROPERTY_CASE_H

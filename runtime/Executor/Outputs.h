//===- Outputs.h - what a run hands out -------------------------*- C++ -*-===//
//
// One NAME.npy a whole tensor, or the stack of those of many steps, written once and at once; of
// equal copies the first rank's is taken. Each rank looks at its part of an output once, whether it
// is written, compared, or both.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_OUTPUTS_H
#define WEFT_RUNTIME_EXECUTOR_OUTPUTS_H

#include "runtime/Executor/Ports.h"

#include <memory>

namespace weft::runtime {

/// How an output compares with what was expected.
struct Comparison {
  std::string name;
  std::string file;
  double difference = 0; ///< largest absolute difference of finite elements
  double magnitude = 0;  ///< largest absolute expected element
  int64_t elements = 0;
  int64_t nonfiniteMismatches =
      0;                 ///< elements of which one alone is NaN, or infinities that differ
  int64_t worst = 0;     ///< row-major position of the largest difference
  bool shapeFits = true; ///< whether the expected tensor has the output's shape

  /// The difference over the magnitude.
  double getRelative() const;
  bool isWithin(double tolerance) const;
};

/// Where outputs go; an empty folder: nowhere.
struct OutputFolders {
  std::string written;
  std::string expected; ///< holds NAME.npy to compare with
};

/// Checks that every expected file is there and readable; kind BadInput.
void checkExpected(const program::Program &program, const std::string &folder);

/// Writes and compares outputs. Every rank makes the same calls.
class OutputDelivery {
public:
  /// `steps`: of so many steps the outputs are stacked along a new first dimension; 0: of one step
  /// they are what they are. The outputs must outlive the delivery.
  OutputDelivery(Transport &transport, const std::vector<PortBlock> &outputs,
                 const OutputFolders &folders, int64_t steps);
  ~OutputDelivery();

  /// Takes this rank's part of the outputs of a step.
  void add(int64_t step, const PortAccess &access);
  /// Puts the files in place. Every rank gets the whole comparisons.
  std::vector<Comparison> finish();

private:
  struct Files;
  struct Comparisons;

  Transport &transport;
  const std::vector<PortBlock> &outputs;
  int64_t steps;
  std::unique_ptr<Files> files; ///< null: not written
  std::unique_ptr<Comparisons> comparisons;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_OUTPUTS_H

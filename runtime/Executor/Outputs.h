//===- Outputs.h - what a run hands out -------------------------*- C++ -*-===//
//
// One NAME.npy a whole tensor, written once and at once; of equal copies the first rank's is taken.
// Each rank looks at its part of an output once, whether it is written, compared, or both.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_OUTPUTS_H
#define WEFT_RUNTIME_EXECUTOR_OUTPUTS_H

#include "runtime/Executor/Ports.h"

namespace weft::runtime {

/// How an output compares with what was expected.
struct Comparison {
  std::string name;
  std::string file;
  double difference = 0; ///< largest absolute difference of finite elements
  double magnitude = 0;  ///< largest absolute expected element
  int64_t elements = 0;
  int64_t unlike = 0;    ///< elements of which one alone is NaN, or infinities that differ
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

/// Writes and compares all outputs; called by every rank, which all get the whole comparisons.
std::vector<Comparison> deliverOutputs(Transport &transport, const std::vector<PortBlock> &outputs,
                                       const OutputFolders &folders, const PortAccess &access);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_OUTPUTS_H

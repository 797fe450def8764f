//===- Weights.h - weights read from where they lie -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_WEIGHTS_H
#define WEFT_RUNTIME_EXECUTOR_WEIGHTS_H

#include "runtime/Executor/Staging.h"
#include "runtime/Io/StridedBlock.h"
#include "runtime/Program/Executable.h"
#include "runtime/Program/Position.h"

#include <optional>

namespace weft::runtime {

/// The place of a file of the executable: inside its folder; else in `weightsDir` where given, else
/// at its relative, then at its absolute path. A folder that overrides weights need not have it. An
/// absent file or one of another size is an Error of kind BadInput that names it.
std::string locateFile(const Executable &executable, const program::File &file,
                       const std::string &weightsDir, bool overrides = false);

/// Where a rank's weights go: an arena's frames on a device, through a stream.
struct WeightsTarget {
  Device &device;
  const DeviceBases &bases;
  Staging &staging;
  Stream &stream;
  std::vector<std::unique_ptr<Command>> &commands; ///< keeps those that the stream is to do
};

/// A weight block of a rank: its place in memory, and in the row-major bytes of the whole weight.
struct PlacedBlock {
  const program::Weight *weight = nullptr;
  View local; ///< what of it is the weight's
  StridedBlock block;
  std::optional<View> padded; ///< the whole block, where that is more
};
PlacedBlock placeBlock(const Executable &executable, const program::Program &program,
                       const program::WeightBlock &block, const Position &position);

/// Sets all bytes of a view to zero.
void clear(const View &view, const WeightsTarget &target);

/// Whether a block is of a state: the step changes it, and it is kept between steps.
bool isState(const program::Program &program, const program::WeightBlock &block);

/// Where the values of weights come from.
struct WeightSources {
  std::string folder;     ///< of the model's files and of others that override weights; or empty
  bool withStates = true; ///< whether states are read; else something else fills them
};

/// Fills the rank's weight blocks, whose arenas are new and so zero, each byte read once and, of
/// the model's files, held against its chunk's hash. Blocks of one file are read in the file's
/// order. The stream may still copy at the end.
void loadWeights(const Executable &executable, const Position &position,
                 const WeightsTarget &target, const WeightSources &sources);

/// Bytes of the blocks of weights that a program holds; states do not count.
int64_t getWeightBytes(const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_WEIGHTS_H

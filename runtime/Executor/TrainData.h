//===- TrainData.h - what training steps are given --------------*- C++ -*-===//
//
// The inputs of one step after another, and where in them a run is: that is in its checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_TRAINDATA_H
#define WEFT_RUNTIME_EXECUTOR_TRAINDATA_H

#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Executor/Ports.h"

#include <memory>
#include <optional>

namespace weft::runtime {

struct TrainDataOptions {
  std::string path;             ///< .npz of inputs stacked by step, or a flat file of tokens
  std::string tokenType;        ///< "u16", "u32"; empty: as the file's name ends, if it does so
  int64_t sequence = 0;         ///< tokens in a row; 0: as the model has it
  std::optional<uint64_t> seed; ///< of the order of rows; none: 0, or the checkpoint's
  std::string labels;           ///< the input that is given the labels; empty: the last
};

class TrainData {
public:
  virtual ~TrainData() = default;

  /// Where the run is once so many steps of this data are done.
  virtual DataPosition getPosition() const = 0;
  /// Begins where another run was; `checkpoint` is its path. Kind BadInput where that was in other
  /// data.
  virtual void moveTo(const DataPosition &position, const std::string &checkpoint) = 0;
  /// Kind BadInput where there is not enough for so many more steps.
  virtual void require(int64_t steps) const = 0;
  /// Reads everything, where that tells what was damaged; kind BadInput. Called by one rank.
  virtual void check() const {}
  /// Fills this rank's parts of the inputs, given in the program's order, with those of the next
  /// step. The stream may still copy at the end.
  virtual void readNext(const std::vector<PortBlock> &inputs, const PortAccess &access) = 0;
};

/// Opens a file; kind BadInput where it does not fit the executable's inputs.
std::unique_ptr<TrainData> openTrainData(const TrainDataOptions &options,
                                         const program::Executable &executable,
                                         const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_TRAINDATA_H

//===- TrainData.cpp - what training steps are given ----------------------===//

#include "runtime/Executor/TrainData.h"

#include "runtime/Executor/Steps.h"
#include "runtime/Executor/Tokens.h"
#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {

/// Arrays stacked by step: step i of the run has index i.
class StackedData : public TrainData {
public:
  StackedData(const std::string &path, const program::Executable &executable,
              const program::Program &program)
      : path(path), data(path, executable, program) {}

  DataPosition getPosition() const override { return {"npz", 0, step, ""}; }

  void moveTo(const DataPosition &position, const std::string &checkpoint) override {
    if (position.kind != "npz")
      throwBadInput("the checkpoint '{}' was made with data of kind {}, '{}' holds arrays by step",
                    checkpoint, position.kind, path);
    require(position.position - step);
    for (; step < position.position; ++step)
      data.skipNext();
  }

  void require(int64_t steps) const override {
    if (steps > data.getNumSteps() - step)
      throwBadInput("data too short: '{}' holds {} steps, {} are needed", path, data.getNumSteps(),
                    step + steps);
  }

  void check() const override { data.check(); }

  void readNext(const std::vector<PortBlock> &inputs, const PortAccess &access) override {
    data.readNext(inputs, access);
    ++step;
  }

private:
  std::string path;
  StepData data;
  int64_t step = 0; ///< the next
};

} // namespace

std::unique_ptr<TrainData> openTrainData(const TrainDataOptions &options,
                                         const program::Executable &executable,
                                         const program::Program &program) {
  if (!options.path.ends_with(".npz"))
    return openTokens(options, executable, program);
  if (!options.tokenType.empty() || options.sequence != 0 || options.seed ||
      !options.labels.empty())
    throw Error(ErrorKind::Usage, fmt::format("--token-type, --seq, --seed and --labels are of "
                                              "files of tokens, '{}' holds arrays",
                                              options.path));
  return std::make_unique<StackedData>(options.path, executable, program);
}

} // namespace weft::runtime

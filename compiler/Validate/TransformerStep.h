//===- TransformerStep.h - a training step as the simulator's program -----===//
//
// Lists the operations of a transformer's training step as Megatron-LM runs it, prices each by the
// cost library, and runs the stages' schedule by the simulator. What is here is knowledge of the
// framework, not of hardware.
//
// Gradients are summed over data-parallel copies layer by layer, on a stream of their own beside
// the backward of the layers before, and weights that are stored in parts are gathered beside the
// forward, where the framework does that; else both stand alone at the step's end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_VALIDATE_TRANSFORMERSTEP_H
#define WEFT_COMPILER_VALIDATE_TRANSFORMERSTEP_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Constants.h"
#include "compiler/Validate/StepTable.h"
#include <array>
#include <set>
#include <string>

namespace weft::validate {

/// What a layer costs the host where layers are timed one at a time (vTrain): constants of that
/// profiler, fitted to its table, not used for real runs.
struct ProfilerConstants {
  double layer = 2.85e-3;    ///< s a layer, five eighths of it forward
  double softmax = 1.337e-3; ///< s a layer where softmax is not one kernel
  double ends = 4.775e-3;    ///< s a microbatch of embedding and head together
};

/// Terms that a prediction is the sum of, in seconds; and terms that can be left out.
enum Part {
  Products,
  Attention,
  Streaming,
  Host,
  Tensor,
  Recomputed,
  Head,
  Pipeline,
  Data,
  Optimizer
};
inline constexpr int numParts = 10;
inline constexpr std::array<const char *, numParts> partNames = {
    "products",  "attention", "streaming", "host", "tensor",
    "recompute", "head",      "pipeline",  "data", "optimizer"};

struct StepOptions {
  CostConstants constants;
  ProfilerConstants profiler;
  std::set<Part> without; ///< terms to leave out, for the ablation
};

struct StepPrediction {
  double seconds = 0;
  std::array<double, numParts> parts{}; ///< they add up to `seconds`
  double memory = 0; ///< B at the peak of the rank that holds most, with the reserve
};

/// Predicts a step on a cluster whose first group holds it.
StepPrediction predictStep(const StepRow &row, const ClusterModel &cluster,
                           const StepOptions &options);

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_TRANSFORMERSTEP_H

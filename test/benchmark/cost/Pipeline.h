//===- Pipeline.h - a small event loop for pipelines ------------*- C++ -*-===//
//
// One step of 1F1B, or of interleaved 1F1B with several chunks of layers a stage (Narayanan et al.
// 2021, section 2.2): each stage runs its list of forwards and backwards in order; each waits for
// its neighbour's message.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_BENCHMARK_COST_PIPELINE_H
#define WEFT_TEST_BENCHMARK_COST_PIPELINE_H

#include <cstdint>
#include <vector>

namespace weft::benchmark {

struct PipelineSpec {
  int64_t stages = 1, chunks = 1, microbatches = 1;
  /// Seconds of chunk c of stage s at [c * stages + s], the order in which a microbatch passes.
  std::vector<double> forward, backward;
  double message = 0;   ///< s between two stages
  bool blocking = true; ///< a message occupies its sender
};

struct PipelineTrace {
  double seconds = 0;            ///< until the last stage is done
  double busiest = 0;            ///< s of work of the stage with most
  std::vector<int64_t> inFlight; ///< per stage, the most chunks' activations held at a time
};

/// Runs the schedule. Interleaving needs microbatches to be a multiple of stages; what is left over
/// runs in a last, shorter round.
PipelineTrace runPipeline(const PipelineSpec &spec);

} // namespace weft::benchmark

#endif // WEFT_TEST_BENCHMARK_COST_PIPELINE_H

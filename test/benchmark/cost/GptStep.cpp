#include "test/benchmark/cost/GptStep.h"

#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Compute.h"
#include "compiler/Cost/Memory.h"
#include "compiler/Cost/Overlap.h"
#include "test/benchmark/cost/Layer.h"
#include "test/benchmark/cost/Pipeline.h"

#include <algorithm>

using namespace weft;
using namespace weft::benchmark;

namespace {

class Step {
public:
  Step(const StepRow &row, const ClusterModel &cluster, const StepOptions &options)
      : row(row), cluster(cluster), group(cluster.groups[0]), options(options),
        layer(row, cluster, options) {}

  StepPrediction predict();

private:
  double getMessage() const;
  double getStageParameters(int64_t stage) const;
  double getGradientBytes() const { return row.dtype == "f16" ? 2 : 4; }
  double getDataSeconds(double backward) const;
  double getOptimizerSeconds() const;
  double getMemory(int64_t inFlight) const;
  int64_t getLayers(int64_t link) const;
  Passes getLink(int64_t link) const;

  const StepRow &row;
  const ClusterModel &cluster;
  const GroupModel &group;
  const StepOptions &options;
  LayerPricer layer;
};

/// Activations to the next stage, split over the tensor group and gathered there over its own
/// links (Narayanan et al. 2021, section 4.1).
double Step::getMessage() const {
  double bytes = static_cast<double>(row.sequence * row.microBatch * row.hidden) /
                 static_cast<double>(row.tensor) * getElementBytes(row.getHeldType());
  int64_t stride = row.tensor * row.data;
  return getSendSeconds(cluster, group, stride, stride, bytes, options.constants);
}

/// Parameters that each device of a stage holds.
double Step::getStageParameters(int64_t stage) const {
  double layers = static_cast<double>(row.layers) / static_cast<double>(row.pipeline);
  double parameters = layers * layer.getParameters();
  if (stage == 0 || stage == row.pipeline - 1)
    parameters +=
        static_cast<double>(row.vocabulary * row.hidden) / static_cast<double>(row.tensor);
  return parameters;
}

/// Gradients over the data-parallel group behind the last backward, or beside it.
double Step::getDataSeconds(double backward) const {
  if (row.data <= 1)
    return 0;
  GroupShape shape = placeGroup(group, row.tensor, row.data);
  double bytes = getStageParameters(0) * getGradientBytes();
  auto price = [&](CollectiveKind kind, double size) {
    return getCollectiveSeconds(cluster, group, shape, kind, size, options.constants);
  };
  double seconds = layer.getSoftware().shardedOptimizer
                       ? price(CollectiveKind::ReduceScatter, bytes) +
                             price(CollectiveKind::AllGather, getStageParameters(0) * 2)
                       : price(CollectiveKind::AllReduce, bytes);
  return layer.getSoftware().overlapData ? getExposedSeconds(seconds, backward, options.constants)
                                         : seconds;
}

/// Adam reads the gradient, the master weight and two moments, writes the last three and the
/// 16-bit weight: 28 bytes a parameter, and the norm's clipping reads the gradients once more.
double Step::getOptimizerSeconds() const {
  double parameters = getStageParameters(0);
  if (layer.getSoftware().shardedOptimizer)
    parameters /= static_cast<double>(row.data);
  double bytes = parameters * (26 + 2 * getGradientBytes());
  return getStreamSeconds(group.device, bytes, options.constants);
}

/// Of the first stage, which has most in flight.
double Step::getMemory(int64_t inFlight) const {
  LayerActivations activations{row.sequence,
                               row.microBatch,
                               row.hidden,
                               row.heads,
                               row.tensor,
                               row.sequenceParallel,
                               layer.getSoftware().fusedAttention,
                               row.recompute};
  MemoryBytes state = getStateBytesPerParameter(layer.getSoftware().shardedOptimizer ? 1 : 0,
                                                row.data, getGradientBytes());
  double perChunk = static_cast<double>(row.layers) /
                    static_cast<double>(row.pipeline * row.chunks) *
                    getLayerActivationBytes(activations);
  std::vector<MemoryEvent> events;
  for (MemoryClass use : {MemoryClass::Weights, MemoryClass::Gradients, MemoryClass::Optimizer})
    events.push_back({0, use, getStageParameters(0) * state[static_cast<size_t>(use)]});
  events.push_back({1, MemoryClass::Activations, static_cast<double>(inFlight) * perChunk});
  double block = 2 * static_cast<double>(row.sequence * row.microBatch * row.hidden);
  events.push_back({1, MemoryClass::Communication, row.pipeline > 1 ? 2 * block : block});
  return foldMemory(std::move(events), options.constants).getPeak();
}

/// Of a part of the pipeline. Where they do not divide, the first and the last part, which have
/// vocabulary besides, are the ones with fewer.
int64_t Step::getLayers(int64_t link) const {
  int64_t links = row.pipeline * row.chunks, turn = link - 1;
  if (link == links - 1)
    turn = links - 1;
  else if (link == 0)
    turn = links - 2;
  return row.layers / links + (turn < row.layers % links ? 1 : 0);
}

Passes Step::getLink(int64_t link) const {
  int64_t links = row.pipeline * row.chunks;
  Passes passes = layer.getLayer();
  passes.scale(static_cast<double>(getLayers(link)));
  if (!options.without.contains(Head)) {
    if (link == 0)
      passes.add(layer.getEmbedding());
    if (link == links - 1)
      passes.add(layer.getHead());
  }
  return passes;
}

StepPrediction Step::predict() {
  int64_t links = row.pipeline * row.chunks;
  PipelineSpec spec{row.pipeline,
                    row.chunks,
                    row.getMicrobatches(),
                    {},
                    {},
                    getMessage(),
                    !layer.getSoftware().overlapMessages};
  std::vector<std::array<double, numParts>> stages(row.pipeline);
  for (int64_t link = 0; link < links; ++link) {
    Passes passes = getLink(link);
    spec.forward.push_back(passes.forward.getTotal());
    spec.backward.push_back(passes.backward.getTotal());
    for (int part = 0; part < numParts; ++part)
      stages[link % row.pipeline][part] +=
          (passes.forward.parts[part] + passes.backward.parts[part]) *
          static_cast<double>(row.getMicrobatches());
  }
  auto getSum = [](const std::array<double, numParts> &parts) {
    double sum = 0;
    for (double part : parts)
      sum += part;
    return sum;
  };
  StepPrediction prediction;
  prediction.parts =
      *std::max_element(stages.begin(), stages.end(),
                        [&](const auto &a, const auto &b) { return getSum(a) < getSum(b); });
  PipelineTrace trace = runPipeline(spec);
  if (!options.without.contains(Pipeline))
    prediction.parts[Pipeline] = trace.seconds - trace.busiest;
  if (!options.without.contains(Data))
    prediction.parts[Data] = getDataSeconds(spec.backward[0] * static_cast<double>(row.chunks));
  if (!options.without.contains(Optimizer))
    prediction.parts[Optimizer] = getOptimizerSeconds();
  prediction.seconds = getSum(prediction.parts);
  prediction.memory = getMemory(trace.inFlight[0]);
  return prediction;
}

} // namespace

StepPrediction weft::benchmark::predictStep(const StepRow &row, const ClusterModel &cluster,
                                            const StepOptions &options) {
  return Step(row, cluster, options).predict();
}

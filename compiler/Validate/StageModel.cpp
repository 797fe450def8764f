#include "compiler/Validate/StageModel.h"

using namespace weft;
using namespace weft::validate;

StageModel::StageModel(const StepRow &row, const ClusterModel &cluster, const StepOptions &options,
                       int64_t numStages)
    : row(row), cluster(cluster), group(cluster.groups[0]), options(options),
      layer(row, cluster, options), layerPasses(layer.getLayer()), numStages(numStages) {}

int64_t StageModel::getLayers(int64_t stage) const {
  int64_t turn = stage - 1;
  if (stage == numStages - 1)
    turn = numStages - 1;
  else if (stage == 0)
    turn = numStages - 2;
  return row.layers / numStages + (turn < row.layers % numStages ? 1 : 0);
}

Passes StageModel::getEnds(int64_t stage) const {
  Passes passes;
  if (options.without.contains(Head))
    return passes;
  if (stage == 0)
    passes.add(layer.getEmbedding());
  if (stage == numStages - 1)
    passes.add(layer.getHead());
  return passes;
}

Passes StageModel::getStage(int64_t stage) const {
  Passes passes = layerPasses;
  passes.scale(static_cast<double>(getLayers(stage)));
  passes.add(getEnds(stage));
  return passes;
}

double StageModel::getMessageSeconds() const {
  if (row.pipeline == 1)
    return 0;
  double bytes = static_cast<double>(row.sequence * row.microBatch * row.hidden) /
                 static_cast<double>(row.tensor) * getElementBytes(row.getHeldType());
  int64_t stride = row.tensor * row.data;
  return getSendSeconds(cluster, group, stride, stride, bytes, options.constants);
}

double StageModel::getEndsParameters(int64_t stage) const {
  bool ends = stage == 0 || stage == numStages - 1;
  return ends ? static_cast<double>(row.vocabulary * row.hidden) / static_cast<double>(row.tensor)
              : 0;
}

double StageModel::getParameters(int64_t stage) const {
  return static_cast<double>(getLayers(stage)) * layer.getParameters() + getEndsParameters(stage);
}

double StageModel::getDataSeconds(CollectiveKind kind, double bytes) const {
  if (row.data <= 1 || options.without.contains(Data))
    return 0;
  return getCollectiveSeconds(cluster, group, placeGroup(group, row.tensor, row.data), kind, bytes,
                              options.constants);
}

double StageModel::getReduceSeconds(double parameters) const {
  return getDataSeconds(getSoftware().shardedOptimizer ? CollectiveKind::ReduceScatter
                                                       : CollectiveKind::AllReduce,
                        parameters * row.getGradientBytes());
}

double StageModel::getGatherSeconds(double parameters) const {
  return getSoftware().shardedOptimizer ? getDataSeconds(CollectiveKind::AllGather, parameters * 2)
                                        : 0;
}

/// Adam reads the gradient, the master weight and two moments, writes the last three and the
/// 16-bit weight: 28 bytes a parameter, and the norm's clipping reads the gradients once more. For
/// products in 8 bits all weights of the device are read and written twice, as they are and
/// transposed.
double StageModel::getUpdateSeconds(double parameters) const {
  if (options.without.contains(Optimizer))
    return 0;
  double cast = row.dtype == "f8" ? 4 * parameters : 0;
  if (getSoftware().shardedOptimizer)
    parameters /= static_cast<double>(row.data);
  return getStreamSeconds(group.device, parameters * (26 + 2 * row.getGradientBytes()) + cast,
                          options.constants);
}

MemoryBytes StageModel::getStateBytes(double parameters) const {
  MemoryBytes bytes = getStateBytesPerParameter(getSoftware().shardedOptimizer ? 1 : 0, row.data,
                                                row.getGradientBytes());
  for (double &entry : bytes)
    entry *= parameters;
  return bytes;
}

double StageModel::getActivationBytes(int64_t stage) const {
  LayerActivations activations{row.sequence,
                               row.microBatch,
                               row.hidden,
                               row.heads,
                               row.tensor,
                               row.sequenceParallel,
                               getSoftware().fusedAttention,
                               row.recompute};
  return static_cast<double>(getLayers(stage)) * getLayerActivationBytes(activations);
}

double StageModel::getBufferBytes() const {
  double block = 2 * static_cast<double>(row.sequence * row.microBatch * row.hidden);
  return row.pipeline > 1 ? 2 * block : block;
}

//===- StageModel.h - what the stages of a step hold and take ---*- C++ -*-===//

#ifndef WEFT_COMPILER_VALIDATE_STAGEMODEL_H
#define WEFT_COMPILER_VALIDATE_STAGEMODEL_H

#include "compiler/Cost/Memory.h"
#include "compiler/Validate/TransformerLayer.h"

namespace weft::validate {

/// The layers of a step cut into stages. Seconds and bytes of one device.
class StageModel {
public:
  StageModel(const StepRow &row, const ClusterModel &cluster, const StepOptions &options,
             int64_t numStages);

  /// Where they do not divide, the first and the last stage, which have vocabulary besides, are the
  /// ones with fewer.
  int64_t getLayers(int64_t stage) const;
  const Passes &getLayer() const { return layerPasses; }
  /// What a stage has besides its layers: the embedding, the head.
  Passes getEnds(int64_t stage) const;
  /// All of a stage for one microbatch.
  Passes getStage(int64_t stage) const;
  const Software &getSoftware() const { return layer.getSoftware(); }

  /// Activations to the next stage, split over the tensor group and gathered there over its own
  /// links (Narayanan et al. 2021, section 4.1).
  double getMessageSeconds() const;

  /// Parameters of a layer, and of a stage's embedding or head, on each device.
  double getLayerParameters() const { return layer.getParameters(); }
  double getEndsParameters(int64_t stage) const;
  double getParameters(int64_t stage) const;

  /// A collective over the data-parallel group for so many parameters: gradients are summed, or
  /// scattered where the optimizer's state is, and weights gathered.
  double getReduceSeconds(double parameters) const;
  double getGatherSeconds(double parameters) const;
  /// Adam on so many parameters, or on this device's part of them.
  double getUpdateSeconds(double parameters) const;

  /// Weights, gradients and optimizer state for so many parameters, by class.
  MemoryBytes getStateBytes(double parameters) const;
  /// Kept of a microbatch until its backward.
  double getActivationBytes(int64_t stage) const;
  double getBufferBytes() const;

private:
  double getDataSeconds(CollectiveKind kind, double bytes) const;

  const StepRow &row;
  const ClusterModel &cluster;
  const GroupModel &group;
  const StepOptions &options;
  LayerPricer layer;
  Passes layerPasses;
  int64_t numStages;
};

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_STAGEMODEL_H

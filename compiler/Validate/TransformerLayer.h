//===- TransformerLayer.h - one layer as operations -------------*- C++ -*-===//

#ifndef WEFT_COMPILER_VALIDATE_TRANSFORMERLAYER_H
#define WEFT_COMPILER_VALIDATE_TRANSFORMERLAYER_H

#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Compute.h"
#include "compiler/Validate/TransformerStep.h"

namespace weft::validate {

/// Seconds of one pass, by term.
struct Pass {
  std::array<double, numParts> parts{};
  int64_t kernels = 0;
  int64_t collectives = 0;

  double getTotal() const;
  void scale(double factor);
  void add(const Pass &other);
};

/// Forward, gradient of the input (with what is computed again for it) and of the weights.
struct Passes {
  Pass forward, input, weight;

  Pass getBackward() const;

  void scale(double factor);
  void add(const Passes &other);
};

/// What the framework does, where the row leaves it open: Megatron-LM of 2021 and 2022 on A100 and
/// older (scores kept, collectives exposed but for the input gradient's beside the weight
/// gradient), Megatron Core of the Hopper generation (fused attention, collectives, messages and
/// gradients beside computation, sharded optimizer, products that add weight gradients to those
/// of the microbatches before). Nothing overlaps where layers are profiled.
struct Software {
  bool fusedAttention, overlapTensor, overlapMessages, overlapData, shardedOptimizer;
  bool fusedAccumulation;
};
Software getSoftware(const StepRow &row, const DeviceModel &device);

/// Prices the parts of a transformer on one device of its tensor group.
class LayerPricer {
public:
  LayerPricer(const StepRow &row, const ClusterModel &cluster, const StepOptions &options);

  /// One layer with its recomputation.
  Passes getLayer() const;
  /// The embedding of the first stage.
  Passes getEmbedding() const;
  /// Final norm, logits and loss of the last stage.
  Passes getHead() const;

  /// Parameters of a layer on one device.
  double getParameters() const;
  const Software &getSoftware() const { return software; }

private:
  void addProduct(Pass &pass, const Matmul &product) const;
  /// A linear map and its bias-free product's operands: from `in` to `out` features.
  struct Linear {
    int64_t in, out;
    std::string dtype;
  };
  Linear makeLinear(int64_t in, int64_t out) const { return {in, out, row.dtype}; }
  void addLinear(Pass &pass, const Linear &linear) const;
  void addBias(Pass &pass, int64_t width, bool backward) const;
  void addBatched(Pass &pass, int64_t m, int64_t n, int64_t k) const;
  void addStream(Pass &pass, double bytes, Part part = Streaming) const;
  void addCast(Pass &pass, int64_t width) const;
  /// A linear map's backward: by its input, and by its weight; seconds of the latter.
  double addLinearBackward(Passes &passes, const Linear &linear) const;
  double getTensorSeconds(CollectiveKind kind) const;
  /// The collective of a linear map's input gradient, beside `weightGradient` seconds.
  void addTensor(Pass &pass, double weightGradient) const;
  double expose(double collective, double beside, bool independent) const;

  void addFusedAttention(Pass &pass, bool backward) const;
  void addAttention(Pass &pass, bool backward) const;
  double getNorm(bool backward) const; ///< B
  Pass getForward() const;
  void addBackward(Passes &passes) const;
  double getHostExcess(const Pass &pass, bool forward) const;
  void addEndsFloor(Pass &pass) const;
  bool has(Part part) const { return !options.without.contains(part); }

  const StepRow &row;
  const ClusterModel &cluster;
  const GroupModel &group;
  const StepOptions &options;
  int64_t tokens;                     ///< of a microbatch
  int64_t queryWidth, keyWidth, wide; ///< features on this device
  int64_t scoreBatch;                 ///< heads on this device times microbatch
  int64_t headSize;
  double outer; ///< elements of a hidden state outside of tensor-parallel products
  bool gated, oneSoftmax;
  Software software;
};

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_TRANSFORMERLAYER_H

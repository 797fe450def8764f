//===- Layer.h - one transformer layer as operations ------------*- C++ -*-===//

#ifndef WEFT_TEST_BENCHMARK_COST_LAYER_H
#define WEFT_TEST_BENCHMARK_COST_LAYER_H

#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Compute.h"
#include "test/benchmark/cost/GptStep.h"

namespace weft::benchmark {

/// Seconds of one pass, by term.
struct Pass {
  std::array<double, numParts> parts{};
  int64_t kernels = 0;
  int64_t collectives = 0;

  double getTotal() const;
};

struct Passes {
  Pass forward, backward;

  void scale(double factor);
  void add(const Passes &other);
};

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
  /// Whether attention is one kernel.
  bool isFused() const { return fused; }

private:
  void addProduct(Pass &pass, int64_t m, int64_t n, int64_t k) const;
  void addBatched(Pass &pass, int64_t m, int64_t n, int64_t k) const;
  void addStream(Pass &pass, double bytes, Part part = Streaming) const;
  /// A linear map's backward: by its input, and by its weight; seconds of the latter.
  double addLinearBackward(Pass &pass, int64_t in, int64_t out) const;
  double getTensorSeconds(CollectiveKind kind) const;
  void addTensor(Pass &pass, double beside) const;

  void addAttention(Pass &pass) const;
  void addAttentionBackward(Pass &pass) const;
  Pass getForward() const;
  Pass getBackward() const;
  void addHostFloor(Pass &pass, bool forward) const;
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
  bool gated, fused, oneSoftmax;
};

} // namespace weft::benchmark

#endif // WEFT_TEST_BENCHMARK_COST_LAYER_H

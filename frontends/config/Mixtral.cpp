//===- Mixtral.cpp - decoders whose feed-forward parts are experts --------===//

#include "frontends/config/Decoder.h"
#include "frontends/config/Experts.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Experts chosen by the softmax, in f32, of a product with the weight `name`.gate.weight.
static Value buildMixture(Layers &layers, const Experts &experts, bool normalizes,
                          const std::string &name, Value x) {
  Value scores = layers.linear(name + ".gate", x, experts.count, /*bias=*/false);
  Value wide = layers.emit.cast(scores, layers.emit.builder.getF32Type());
  Value shares = layers.emit.create<SoftmaxOp>(typeOf(wide), wide, /*axis=*/2);
  Experts::Routing routing = experts.chooseBest(layers, shares, shares);
  if (normalizes)
    routing.gates = normalizeGates(layers, routing.gates);
  return experts.build(layers, name + ".experts", x, routing);
}

static bool allLayers(int64_t) { return true; }

Value weft::frontend::buildMixtral(const Config &config, Layers &layers) {
  Experts experts(config, "num_local_experts", "intermediate_size");
  GroupedForm grouped;
  grouped.isWindowed = allLayers;
  auto feedForward = [&](const std::string &name, int64_t, Value x) {
    return buildMixture(layers, experts, /*normalizes=*/true, name, x);
  };
  return buildGroupedDecoder(config, layers, {}, grouped, feedForward);
}

Value weft::frontend::buildQwen3Moe(const Config &config, Layers &layers) {
  Experts experts(config, "num_experts", "moe_intermediate_size");
  GatedMlp dense{config.getCount("intermediate_size"), experts.activation};
  bool normalizes = config.getFlag("norm_topk_prob", false);
  int64_t step = config.getCount("decoder_sparse_step", 1);
  std::vector<int64_t> denseLayers = config.getWholes("mlp_only_layers");
  GroupedForm grouped = readQwen3Attention(config);
  // Other than in Qwen 3, a window is every layer's.
  if (grouped.isWindowed)
    grouped.isWindowed = allLayers;
  auto feedForward = [&](const std::string &name, int64_t layer, Value x) {
    bool isDense = llvm::is_contained(denseLayers, layer) || (layer + 1) % step != 0;
    return isDense ? dense.build(layers, name, x)
                   : buildMixture(layers, experts, normalizes, name, x);
  };
  return buildGroupedDecoder(config, layers, {}, grouped, feedForward);
}

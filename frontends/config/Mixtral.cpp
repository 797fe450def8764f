//===- Mixtral.cpp - decoders whose feed-forward parts are experts --------===//

#include "frontends/config/Decoder.h"
#include "frontends/config/Experts.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The softmax, in f32, of a product with the weight `name`.gate.weight, [b, s, e].
static Value buildProbabilities(Layers &layers, const std::string &name, Value x, int64_t experts) {
  Value scores = layers.linear(name + ".gate", x, experts, /*bias=*/false);
  Value wide = layers.emit.cast(scores, layers.emit.builder.getF32Type());
  return layers.emit.create<SoftmaxOp>(typeOf(wide), wide, /*axis=*/2);
}

Value weft::frontend::buildMixtral(const Config &config, Layers &layers) {
  Experts experts(config, "num_local_experts", "intermediate_size");
  GroupedForm grouped;
  grouped.isWindowed = [](int64_t) { return true; };
  Value tokens = layers.addTokens("input_ids", layers.sizes.sequence);
  GroupedAttention attention(config, layers, grouped);
  auto feedForward = [&](const std::string &name, int64_t, Value x) {
    Value shares = buildProbabilities(layers, name, x, experts.count);
    Experts::Routing routing = experts.chooseBest(layers, shares, shares);
    routing.gates = normalizeGates(layers, routing.gates);
    return experts.build(layers, name + ".experts", x, routing);
  };
  return buildDecoder(
      config, layers, tokens, {},
      [&](const std::string &name, int64_t layer, Value x) {
        return attention.build(name, layer, x);
      },
      feedForward);
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
    grouped.isWindowed = [](int64_t) { return true; };
  Value tokens = layers.addTokens("input_ids", layers.sizes.sequence);
  GroupedAttention attention(config, layers, grouped);
  auto feedForward = [&](const std::string &name, int64_t layer, Value x) {
    if (llvm::is_contained(denseLayers, layer) || (layer + 1) % step != 0)
      return dense.build(layers, name, x);
    Value shares = buildProbabilities(layers, name, x, experts.count);
    Experts::Routing routing = experts.chooseBest(layers, shares, shares);
    if (normalizes)
      routing.gates = normalizeGates(layers, routing.gates);
    return experts.build(layers, name + ".experts", x, routing);
  };
  return buildDecoder(
      config, layers, tokens, {},
      [&](const std::string &name, int64_t layer, Value x) {
        return attention.build(name, layer, x);
      },
      feedForward);
}

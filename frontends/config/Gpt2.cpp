//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//

#include "frontends/config/Layers.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Causal attention: queries, keys and values of one product.
static Value buildAttention(Layers &layers, const std::string &name, Value x, int64_t heads) {
  int64_t width = shapeOf(x).back();
  Value all = layers.linear(name + ".c_attn", x, 3 * width, WeightOrder::InOut, /*bias=*/true);
  layers.emit.setName(name);
  SmallVector<Value> parts;
  for (int64_t part = 0; part < 3; ++part)
    parts.push_back(
        layers.splitHeads(layers.emit.sliceDim(all, /*dim=*/2, part * width, width), heads));
  double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  Value attended = layers.joinHeads(layers.attend(parts[0], parts[1], parts[2], scale));
  return layers.linear(name + ".c_proj", attended, width, WeightOrder::InOut, /*bias=*/true);
}

static void refuseVariants(const Config &config) {
  for (const char *field : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"})
    if (config.getFlag(field, false))
      throw ImportError(std::string("field '") + field + "': true is not supported");
  if (!config.getFlag("scale_attn_weights", true))
    throw ImportError("field 'scale_attn_weights': false is not supported");
}

Value weft::frontend::buildGpt2(const Config &config, Layers &layers) {
  refuseVariants(config);
  int64_t width = config.getCount("n_embd"), heads = config.getCount("n_head");
  int64_t positions = config.getCount("n_positions"), words = config.getCount("vocab_size");
  int64_t inner = config.getCount("n_inner", 4 * width), depth = config.getCount("n_layer");
  double epsilon = config.getNumber("layer_norm_epsilon", 1e-5);
  std::string activation = config.getText("activation_function", "gelu_new");
  if (width % heads != 0)
    throw ImportError("n_embd = " + std::to_string(width) +
                      " is no multiple of n_head = " + std::to_string(heads));
  if (layers.sequence > positions)
    throw ImportError("the sequence of " + std::to_string(layers.sequence) +
                      " is longer than n_positions = " + std::to_string(positions));
  Value tokens = layers.addTokens("input_ids");
  Value table = layers.addWeight("transformer.wte.weight", {words, width});
  Value places = layers.addWeight("transformer.wpe.weight", {positions, width});
  layers.emit.setName("transformer.embed");
  Value x = layers.add(layers.embed(table, tokens),
                       layers.emit.sliceDim(places, /*dim=*/0, 0, layers.sequence));
  for (int64_t i = 0; i < depth; ++i) {
    std::string name = "transformer.h." + std::to_string(i);
    Value attended =
        buildAttention(layers, name + ".attn", layers.layerNorm(name + ".ln_1", x, epsilon), heads);
    x = layers.add(attended, x);
    Value wide = layers.linear(name + ".mlp.c_fc", layers.layerNorm(name + ".ln_2", x, epsilon),
                               inner, WeightOrder::InOut, /*bias=*/true);
    Value narrow = layers.linear(name + ".mlp.c_proj", layers.activate(activation, wide), width,
                                 WeightOrder::InOut, /*bias=*/true);
    layers.emit.setName(name);
    x = layers.add(x, narrow);
  }
  x = layers.layerNorm("transformer.ln_f", x, epsilon);
  return layers.project(x, config.getFlag("tie_word_embeddings", true)
                               ? table
                               : layers.addWeight("lm_head.weight", {words, width}));
}

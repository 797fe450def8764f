//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//

#include "frontends/config/Layers.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Causal attention: queries, keys and values of one product.
static Value buildAttention(Layers &layers, const std::string &name, Value x, int64_t heads) {
  int64_t width = shapeOf(x).back();
  Value all = layers.linear(name + ".c_attn", x, 3 * width, /*bias=*/true, WeightOrder::InOut);
  layers.emit.setName(name);
  SmallVector<Value> parts;
  for (int64_t part = 0; part < 3; ++part)
    parts.push_back(
        layers.splitHeads(layers.emit.sliceDim(all, /*dim=*/2, part * width, width), heads));
  double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  Value attended =
      layers.joinHeads(layers.attend(parts[0], parts[1], parts[2], {scale, /*isCausal=*/true}));
  return layers.linear(name + ".c_proj", attended, width, /*bias=*/true, WeightOrder::InOut);
}

static void refuseVariants(const Config &config) {
  config.expectFlag("scale_attn_by_inverse_layer_idx", false);
  config.expectFlag("add_cross_attention", false);
  config.expectFlag("scale_attn_weights", true);
}

Value weft::frontend::buildGpt2(const Config &config, Layers &layers) {
  refuseVariants(config);
  int64_t width = config.getCount("n_embd"), heads = config.getCount("n_head");
  int64_t positions = config.getCount("n_positions"), words = config.getCount("vocab_size");
  int64_t inner = config.getCount("n_inner", 4 * width), depth = config.getDepth("n_layer");
  double epsilon = config.getNumber("layer_norm_epsilon", 1e-5);
  std::string activation = config.getText("activation_function", "gelu_new");
  expectMultiple({"n_embd", width}, {"n_head", heads});
  expectAtMost({"the sequence", layers.sizes.sequence}, {"n_positions", positions});
  Value tokens = layers.addTokens("input_ids", layers.sizes.sequence);
  Value table = layers.addTable("transformer.wte", words, width);
  Value places = layers.addTable("transformer.wpe", positions, width);
  layers.emit.setName("transformer.embed");
  Value x =
      layers.add(layers.embed(table, tokens), layers.firstRows(places, layers.sizes.sequence));
  for (int64_t i = 0; i < depth; ++i) {
    std::string name = "transformer.h." + std::to_string(i);
    Value attended =
        buildAttention(layers, name + ".attn", layers.layerNorm(name + ".ln_1", x, epsilon), heads);
    x = layers.add(attended, x);
    Value wide = layers.linear(name + ".mlp.c_fc", layers.layerNorm(name + ".ln_2", x, epsilon),
                               inner, /*bias=*/true, WeightOrder::InOut);
    Value narrow = layers.linear(name + ".mlp.c_proj", layers.activate(activation, wide), width,
                                 /*bias=*/true, WeightOrder::InOut);
    layers.emit.setName(name);
    x = layers.add(x, narrow);
  }
  x = layers.layerNorm("transformer.ln_f", x, epsilon);
  return layers.project(x, config.getFlag("tie_word_embeddings", true)
                               ? table
                               : layers.addTable("lm_head", words, width));
}

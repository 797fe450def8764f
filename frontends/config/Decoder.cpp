#include "frontends/config/Decoder.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

Value weft::frontend::buildDecoder(const Config &config, Layers &layers, Value tokens,
                                   const DecoderForm &form, const BlockPart &attention,
                                   const BlockPart &feedForward) {
  int64_t width = config.getCount("hidden_size"), words = config.getCount("vocab_size");
  double epsilon = config.getNumber("rms_norm_eps", 1e-6);
  auto norm = [&](const std::string &name, Value x) {
    return layers.rmsNorm(name, x, epsilon, form.isGemma);
  };
  Value table = layers.addTable("model.embed_tokens", words, width);
  layers.emit.setName("model.embed_tokens");
  std::optional<int64_t> padding = config.getInteger("pad_token_id");
  Value x = layers.embed(table, tokens, padding ? padding : form.padding);
  if (form.isGemma)
    x = layers.scale(x, std::sqrt(static_cast<double>(width)));
  for (int64_t i = 0, depth = config.getDepth("num_hidden_layers"); i < depth; ++i) {
    std::string name = "model.layers." + std::to_string(i);
    Value attended = attention(name + ".self_attn", i, norm(name + ".input_layernorm", x));
    x = layers.add(x, attended);
    Value expanded = feedForward(name + ".mlp", i, norm(name + ".post_attention_layernorm", x));
    layers.emit.setName(name);
    x = layers.add(x, expanded);
  }
  x = norm("model.norm", x);
  return layers.project(x, config.getFlag("tie_word_embeddings", form.tiesWords)
                               ? table
                               : layers.addTable("lm_head", words, width));
}

//===----------------------------------------------------------------------===//
// Feed-forward
//===----------------------------------------------------------------------===//

Value GatedMlp::build(Layers &layers, const std::string &name, Value x) const {
  int64_t width = shapeOf(x).back(), last = typeOf(x).getRank() - 1;
  Value gate, wide;
  if (isFused) {
    Value both = layers.linear(name + ".gate_up_proj", x, 2 * inner, bias);
    gate = layers.emit.sliceDim(both, last, 0, inner);
    wide = layers.emit.sliceDim(both, last, inner, inner);
    gate = layers.activate(activation, gate);
  } else {
    gate = layers.activate(activation, layers.linear(name + ".gate_proj", x, inner, bias));
    wide = layers.linear(name + ".up_proj", x, inner, bias);
  }
  return layers.linear(name + ".down_proj", layers.multiply(gate, wide), width, bias);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static int64_t getHeadSize(const Config &config) {
  int64_t width = config.getCount("hidden_size"), heads = config.getCount("num_attention_heads");
  if (!config.has("head_dim"))
    expectMultiple({"hidden_size", width}, {"num_attention_heads", heads});
  return config.getCount("head_dim", std::max<int64_t>(1, width / heads));
}

GroupedAttention::GroupedAttention(const Config &config, Layers &layers, GroupedForm form)
    : layers(layers), form(std::move(form)), width(config.getCount("hidden_size")),
      queries(config.getCount("num_attention_heads")),
      keys(config.getCount("num_key_value_heads", queries)), size(getHeadSize(config)),
      epsilon(config.getNumber("rms_norm_eps", 1e-6)), rotary(config, layers, size) {
  expectMultiple({"num_attention_heads", queries}, {"num_key_value_heads", keys});
  if (this->form.isWindowed && config.has("sliding_window"))
    window = config.getCount("sliding_window");
}

std::array<Value, 3> GroupedAttention::project(const std::string &name, Value x) const {
  std::array<Value, 3> parts;
  std::array<int64_t, 3> heads{queries, keys, keys};
  if (form.isFused) {
    Value all = layers.linear(name + ".qkv_proj", x, (queries + 2 * keys) * size, form.inputBias);
    for (int64_t part = 0, start = 0; part < 3; start += heads[part++] * size)
      parts[part] = layers.splitHeads(
          layers.emit.sliceDim(all, /*dim=*/2, start, heads[part] * size), heads[part]);
    return parts;
  }
  std::array<const char *, 3> names{".q_proj", ".k_proj", ".v_proj"};
  for (size_t part = 0; part < 3; ++part)
    parts[part] = layers.splitHeads(
        layers.linear(name + names[part], x, heads[part] * size, form.inputBias), heads[part]);
  return parts;
}

Value GroupedAttention::build(const std::string &name, int64_t layer, Value x) const {
  auto [query, key, value] = project(name, x);
  if (form.normsHeads) {
    query = layers.rmsNorm(name + ".q_norm", query, epsilon);
    key = layers.rmsNorm(name + ".k_norm", key, epsilon);
  }
  layers.emit.setName(name);
  AttentionForm attention{1 / std::sqrt(static_cast<double>(size)), /*isCausal=*/true};
  if (window && form.isWindowed(layer))
    attention.window = window;
  Value attended = layers.attend(rotary.turn(query), rotary.turn(key), value, attention);
  return layers.linear(name + ".o_proj", layers.joinHeads(attended), width, form.outputBias);
}

Value weft::frontend::buildGroupedDecoder(const Config &config, Layers &layers,
                                          const DecoderForm &form, const GroupedForm &grouped,
                                          const BlockPart &feedForward) {
  Value tokens = layers.addTokens("input_ids", layers.sizes.sequence);
  GroupedAttention attention(config, layers, grouped);
  auto attend = [&](const std::string &name, int64_t layer, Value x) {
    return attention.build(name, layer, x);
  };
  return buildDecoder(config, layers, tokens, form, attend, feedForward);
}

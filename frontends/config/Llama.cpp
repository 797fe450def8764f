//===- Llama.cpp - Llama: rotary, grouped queries, gated MLP --------------===//

#include "frontends/config/Layers.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// Sizes of attention, checked.
struct Heads {
  explicit Heads(const Config &config)
      : width(config.getCount("hidden_size")), queries(config.getCount("num_attention_heads")),
        keys(config.getCount("num_key_value_heads", queries)),
        size(config.getCount("head_dim", std::max<int64_t>(1, width / queries))) {
    if (queries % keys != 0)
      throw ImportError("num_attention_heads = " + std::to_string(queries) +
                        " is no multiple of num_key_value_heads = " + std::to_string(keys));
    if (size % 2 != 0)
      throw ImportError("expected an even size of heads, got: " + std::to_string(size));
  }
  int64_t width, queries, keys, size;
};

/// Angles a position apart, of each pair of a head's features; Llama 3.1's scaling slows those
/// whose period is long beside the original context.
class Frequencies {
public:
  Frequencies(const Config &config, int64_t headSize) {
    std::optional<Config> parameters = config.getObject("rope_parameters");
    std::optional<Config> scaling = config.getObject("rope_scaling");
    double base = config.getNumber("rope_theta", 10000);
    if (parameters)
      base = parameters->getNumber("rope_theta", base);
    for (int64_t i = 0; i < headSize / 2; ++i)
      values.push_back(1 / std::pow(base, 2.0 * i / headSize));
    if (const auto &chosen = scaling ? scaling : parameters)
      scale(*chosen);
  }
  std::vector<double> values;

private:
  void scale(const Config &scaling) {
    std::string type = scaling.getText("rope_type", scaling.getText("type", "default"));
    if (type == "default")
      return;
    if (type != "llama3")
      throw ImportError("rope_scaling of type '" + type +
                        "' is not supported; known are default and llama3");
    double factor = scaling.getNumber("factor", 8), low = scaling.getNumber("low_freq_factor", 1);
    double high = scaling.getNumber("high_freq_factor", 4);
    double context = scaling.getNumber("original_max_position_embeddings", 8192);
    for (double &value : values) {
      double turns = context * value / (2 * std::numbers::pi);
      double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
      value *= kept + (1 - kept) / factor;
    }
  }
};

/// One model as it is built.
class Llama {
public:
  Llama(const Config &config, Layers &layers)
      : config(config), layers(layers), heads(config),
        epsilon(config.getNumber("rms_norm_eps", 1e-6)),
        inner(config.getCount("intermediate_size")),
        activation(config.getText("hidden_act", "silu")),
        attentionBias(config.getFlag("attention_bias", false)),
        mlpBias(config.getFlag("mlp_bias", false)) {}

  Value build();

private:
  Value attend(const std::string &name, Value x);
  Value expand(const std::string &name, Value x);
  Value linear(const std::string &name, Value x, int64_t out, bool bias) {
    return layers.linear(name, x, out, WeightOrder::OutIn, bias);
  }

  const Config &config;
  Layers &layers;
  Heads heads;
  double epsilon;
  int64_t inner;
  std::string activation;
  bool attentionBias, mlpBias;
  Value cos, sin;
};

Value Llama::attend(const std::string &name, Value x) {
  auto project = [&](const char *part, int64_t count) {
    return layers.splitHeads(linear(name + part, x, count * heads.size, attentionBias), count);
  };
  auto turn = [&](Value value) {
    return layers.emit.create<RotaryOp>(typeOf(value), value, cos, sin, UnitAttr());
  };
  Value query = turn(project(".q_proj", heads.queries));
  Value key = turn(project(".k_proj", heads.keys)), value = project(".v_proj", heads.keys);
  layers.emit.setName(name);
  double scale = 1 / std::sqrt(static_cast<double>(heads.size));
  Value attended = layers.joinHeads(layers.attend(query, key, value, scale));
  return linear(name + ".o_proj", attended, heads.width, attentionBias);
}

Value Llama::expand(const std::string &name, Value x) {
  Value gate = layers.activate(activation, linear(name + ".gate_proj", x, inner, mlpBias));
  Value wide = layers.multiply(gate, linear(name + ".up_proj", x, inner, mlpBias));
  return linear(name + ".down_proj", wide, heads.width, mlpBias);
}

Value Llama::build() {
  int64_t words = config.getCount("vocab_size"), depth = config.getCount("num_hidden_layers");
  Frequencies frequencies(config, heads.size);
  Value tokens = layers.addTokens("input_ids");
  Value table = layers.addWeight("model.embed_tokens.weight", {words, heads.width});
  layers.emit.setName("model.rotary");
  auto angle = [&](int64_t place, int64_t pair) {
    return static_cast<double>(place) * frequencies.values[pair];
  };
  cos =
      layers.tabulate(heads.size / 2, [&](int64_t i, int64_t j) { return std::cos(angle(i, j)); });
  sin =
      layers.tabulate(heads.size / 2, [&](int64_t i, int64_t j) { return std::sin(angle(i, j)); });
  layers.emit.setName("model.embed_tokens");
  Value x = layers.embed(table, tokens);
  for (int64_t i = 0; i < depth; ++i) {
    std::string name = "model.layers." + std::to_string(i);
    Value attended =
        attend(name + ".self_attn", layers.rmsNorm(name + ".input_layernorm", x, epsilon));
    x = layers.add(x, attended);
    Value expanded =
        expand(name + ".mlp", layers.rmsNorm(name + ".post_attention_layernorm", x, epsilon));
    layers.emit.setName(name);
    x = layers.add(x, expanded);
  }
  x = layers.rmsNorm("model.norm", x, epsilon);
  return layers.project(x, config.getFlag("tie_word_embeddings", false)
                               ? table
                               : layers.addWeight("lm_head.weight", {words, heads.width}));
}

} // namespace

Value weft::frontend::buildLlama(const Config &config, Layers &layers) {
  return Llama(config, layers).build();
}

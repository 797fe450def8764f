//===- T5.cpp - T5: encoder and decoder, relative positions ---------------===//

#include "frontends/config/Layers.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// Distances of keys from queries, in buckets: of one each for the nearest, then ever wider ones.
/// With both directions, keys ahead have the second half of the buckets.
class DistanceBuckets {
public:
  DistanceBuckets(int64_t count, int64_t furthest, bool bothWays)
      : count(bothWays ? count / 2 : count), furthest(furthest), bothWays(bothWays) {}

  int64_t operator()(int64_t distance) const {
    int64_t first = bothWays && distance > 0 ? count : 0;
    int64_t away = bothWays ? std::abs(distance) : std::max<int64_t>(0, -distance);
    return first + (away < count / 2 ? away : std::min(getWide(away), count - 1));
  }

private:
  /// In f32, as checkpoints were trained: the borders of buckets lie where f32 rounds them to.
  int64_t getWide(int64_t away) const {
    int64_t exact = count / 2;
    auto share = std::log(static_cast<float>(away) / static_cast<float>(exact)) /
                 static_cast<float>(std::log(double(furthest) / double(exact)));
    return exact + static_cast<int64_t>(share * static_cast<float>(count - exact));
  }

  int64_t count, furthest;
  bool bothWays;
};

/// One model as it is built: T5ForConditionalGeneration.
class T5 {
public:
  T5(const Config &config, Layers &layers);
  Value build();

private:
  Value buildStack(const std::string &stack, Value tokens, int64_t depth, Value encoded);
  Value buildBias(const std::string &name, int64_t length, bool bothWays);
  Value attend(const std::string &name, Value x, Value source, const AttentionForm &form);
  Value expand(const std::string &name, Value x);
  Value linear(const std::string &name, Value x, int64_t out) {
    return layers.linear(name, x, out, /*bias=*/false);
  }
  Value norm(const std::string &name, Value x) { return layers.rmsNorm(name, x, epsilon); }

  const Config &config;
  Layers &layers;
  int64_t width, heads, headSize, inner, words, buckets, furthest;
  double epsilon;
  std::string activation;
  bool isGated = false;
  Value table;
};

} // namespace

T5::T5(const Config &config, Layers &layers)
    : config(config), layers(layers), width(config.getCount("d_model")),
      heads(config.getCount("num_heads")), headSize(config.getCount("d_kv")),
      inner(config.getCount("d_ff")), words(config.getCount("vocab_size")),
      buckets(config.getCount("relative_attention_num_buckets", 32)),
      furthest(config.getCount("relative_attention_max_distance", 128)),
      epsilon(config.getNumber("layer_norm_epsilon", 1e-6)),
      activation(config.getText("feed_forward_proj", "relu")) {
  if (buckets < 4 || furthest <= buckets)
    throw ImportError(
        "relative_attention_num_buckets = " + std::to_string(buckets) +
        " is not from 4 to below relative_attention_max_distance = " + std::to_string(furthest));
  isGated = StringRef(activation).starts_with("gated-");
  if (isGated)
    activation.erase(0, StringRef("gated-").size());
  if (isGated && activation == "gelu")
    activation = "gelu_new";
}

/// What is added to the scores, [1, heads, length, length]: a number for each bucket and head.
Value T5::buildBias(const std::string &name, int64_t length, bool bothWays) {
  Value table = layers.addTable(name, buckets, heads);
  Emitter &emit = layers.emit;
  emit.setName(name);
  DistanceBuckets bucketOf(buckets, furthest, bothWays);
  SmallVector<int64_t> byDistance;
  for (int64_t distance = 1 - length; distance < length; ++distance)
    byDistance.push_back(bucketOf(distance));
  Value query = emit.iota({length, length}, 0), key = emit.iota({length, length}, 1);
  Value distance = layers.add(emit.binary<SubOp>(key, query), emit.like(key, double(length - 1)));
  Value bucket = emit.gather(emit.integers(byDistance), distance, 0);
  Value bias = emit.transpose(emit.gather(table, bucket, 0), {2, 0, 1});
  return emit.reshape(bias, {1, heads, length, length});
}

/// Scores are not scaled: the weights' first values are.
Value T5::attend(const std::string &name, Value x, Value source, const AttentionForm &form) {
  auto project = [&](const char *part, Value from) {
    return layers.splitHeads(linear(name + part, from, heads * headSize), heads);
  };
  Value query = project(".q", x), key = project(".k", source), value = project(".v", source);
  layers.emit.setName(name);
  return linear(name + ".o", layers.joinHeads(layers.attend(query, key, value, form)), width);
}

Value T5::expand(const std::string &name, Value x) {
  Value wide = layers.activate(activation, linear(name + (isGated ? ".wi_0" : ".wi"), x, inner));
  if (isGated)
    wide = layers.multiply(wide, linear(name + ".wi_1", x, inner));
  return linear(name + ".wo", wide, width);
}

/// Of an encoder, or of a decoder that looks at what an encoder made.
Value T5::buildStack(const std::string &stack, Value tokens, int64_t depth, Value encoded) {
  layers.emit.setName(stack + ".embed_tokens");
  Value x = layers.embed(table, tokens);
  AttentionForm own{/*scale=*/1, /*isCausal=*/bool(encoded)};
  own.bias = buildBias(stack + ".block.0.layer.0.SelfAttention.relative_attention_bias",
                       shapeOf(tokens)[1], /*bothWays=*/!encoded);
  for (int64_t i = 0; i < depth; ++i) {
    int64_t number = 0;
    auto addLayer = [&](llvm::function_ref<Value(const std::string &, Value)> layer) {
      std::string name =
          stack + ".block." + std::to_string(i) + ".layer." + std::to_string(number++);
      Value added = layer(name, norm(name + ".layer_norm", x));
      layers.emit.setName(name);
      x = layers.add(x, added);
    };
    addLayer([&](const std::string &name, Value x) {
      return attend(name + ".SelfAttention", x, x, own);
    });
    if (encoded)
      addLayer([&](const std::string &name, Value x) {
        return attend(name + ".EncDecAttention", x, encoded, {/*scale=*/1});
      });
    addLayer([&](const std::string &name, Value x) { return expand(name + ".DenseReluDense", x); });
  }
  return norm(stack + ".final_layer_norm", x);
}

Value T5::build() {
  int64_t depth = config.getDepth("num_layers");
  Value tokens = layers.addTokens("input_ids", layers.sizes.sequence);
  Value decoderTokens = layers.addTokens("decoder_input_ids", layers.sizes.decoderSequence);
  table = layers.addTable("shared", words, width);
  Value encoded = buildStack("encoder", tokens, depth, {});
  Value x =
      buildStack("decoder", decoderTokens, config.getDepth("num_decoder_layers", depth), encoded);
  // T5 1.0 ties the tables, and scales; 1.1 does neither.
  bool isTied = config.getFlag("tie_word_embeddings", true);
  layers.emit.setName("lm_head");
  if (config.getFlag("scale_decoder_outputs", isTied))
    x = layers.scale(x, 1 / std::sqrt(static_cast<double>(width)));
  return layers.project(x, isTied ? table : layers.addTable("lm_head", words, width));
}

Value weft::frontend::buildT5(const Config &config, Layers &layers) {
  return T5(config, layers).build();
}

//===- Llama.cpp - Llama and its dense kin --------------------------------===//
//
// Rotary positions, grouped queries, gated MLP, root-mean-square norms. What each kind has of its
// own is its form.
//
//===----------------------------------------------------------------------===//

#include "frontends/config/Decoder.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static Value buildDense(const Config &config, Layers &layers, const DecoderForm &decoder,
                        const GroupedForm &grouped, const GatedMlp &mlp) {
  auto feedForward = [&](const std::string &name, int64_t, Value x) {
    return mlp.build(layers, name, x);
  };
  return buildGroupedDecoder(config, layers, decoder, grouped, feedForward);
}

static GatedMlp readMlp(const Config &config) {
  return {config.getCount("intermediate_size"), config.getText("hidden_act", "silu")};
}

static bool allLayers(int64_t) { return true; }

Value weft::frontend::buildGemma(const Config &config, Layers &layers) {
  GatedMlp mlp = readMlp(config);
  // Gemma's tables were trained with this one, whatever older configurations say in hidden_act.
  mlp.activation = config.getText("hidden_activation", "gelu_pytorch_tanh");
  bool bias = config.getFlag("attention_bias", false);
  config.expectFlag("use_bidirectional_attention", false);
  DecoderForm form{/*tiesWords=*/true, /*isGemma=*/true, /*padding=*/0};
  return buildDense(config, layers, form, {bias, bias}, mlp);
}

Value weft::frontend::buildLlama(const Config &config, Layers &layers) {
  bool bias = config.getFlag("attention_bias", false);
  GatedMlp mlp = readMlp(config);
  mlp.bias = config.getFlag("mlp_bias", false);
  return buildDense(config, layers, {}, {bias, bias}, mlp);
}

Value weft::frontend::buildMistral(const Config &config, Layers &layers) {
  GroupedForm form;
  form.isWindowed = allLayers;
  return buildDense(config, layers, {}, form, readMlp(config));
}

Value weft::frontend::buildPhi3(const Config &config, Layers &layers) {
  GroupedForm form;
  form.isFused = true;
  form.isWindowed = allLayers;
  GatedMlp mlp = readMlp(config);
  mlp.isFused = true;
  DecoderForm decoder{/*tiesWords=*/false, /*isGemma=*/false, /*padding=*/32000};
  return buildDense(config, layers, decoder, form, mlp);
}

std::function<bool(int64_t)> weft::frontend::readQwenWindows(const Config &config) {
  if (!config.getFlag("use_sliding_window", false))
    return {};
  std::vector<std::string> kinds = config.getTexts("layer_types");
  if (kinds.empty())
    return [first = config.getWhole("max_window_layers", 28)](int64_t layer) {
      return layer >= first;
    };
  int64_t depth = config.getCount("num_hidden_layers");
  if (static_cast<int64_t>(kinds.size()) != depth)
    throw ImportError("field 'layer_types': expected one for each of num_hidden_layers = " +
                      std::to_string(depth) + ", got: " + std::to_string(kinds.size()));
  for (const std::string &kind : kinds)
    if (kind != "full_attention" && kind != "sliding_attention")
      throw ImportError("field 'layer_types': '" + kind +
                        "' is not supported; known are full_attention, sliding_attention");
  return [kinds](int64_t layer) { return kinds[layer] == "sliding_attention"; };
}

Value weft::frontend::buildQwen2(const Config &config, Layers &layers) {
  GroupedForm form{/*inputBias=*/true};
  form.isWindowed = readQwenWindows(config);
  return buildDense(config, layers, {}, form, readMlp(config));
}

GroupedForm weft::frontend::readQwen3Attention(const Config &config) {
  bool bias = config.getFlag("attention_bias", false);
  GroupedForm form{bias, bias, /*normsHeads=*/true};
  form.isWindowed = readQwenWindows(config);
  return form;
}

Value weft::frontend::buildQwen3(const Config &config, Layers &layers) {
  return buildDense(config, layers, {}, readQwen3Attention(config), readMlp(config));
}

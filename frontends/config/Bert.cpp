//===- Bert.cpp - BERT: an encoder that fills in masked words -------------===//

#include "frontends/config/Layers.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// One model as it is built: BertForMaskedLM.
class Bert {
public:
  Bert(const Config &config, Layers &layers)
      : config(config), layers(layers), width(config.getCount("hidden_size")),
        heads(config.getCount("num_attention_heads")), inner(config.getCount("intermediate_size")),
        words(config.getCount("vocab_size")),
        positions(config.getCount("max_position_embeddings", 512)),
        activation(config.getText("hidden_act", "gelu")),
        epsilon(config.getNumber("layer_norm_eps", 1e-12)) {
    expectMultiple({"hidden_size", width}, {"num_attention_heads", heads});
    expectAtMost({"the sequence", layers.sizes.sequence}, {"max_position_embeddings", positions});
    config.expectText("position_embedding_type", {"absolute"});
    config.expectFlag("is_decoder", false);
  }

  Value build();

private:
  Value embed();
  Value attend(const std::string &name, Value x);
  Value encode(const std::string &name, Value x);
  Value predict(Value x);
  Value linear(const std::string &name, Value x, int64_t out) {
    return layers.linear(name, x, out, /*bias=*/true);
  }
  Value norm(const std::string &name, Value x) {
    return layers.layerNorm(name + ".LayerNorm", x, epsilon);
  }

  const Config &config;
  Layers &layers;
  int64_t width, heads, inner, words, positions;
  std::string activation;
  double epsilon;
  Value table, mask;
};

} // namespace

Value Bert::embed() {
  int64_t sequence = layers.sizes.sequence;
  std::string name = "bert.embeddings";
  Value tokens = layers.addTokens("input_ids", sequence);
  Value seen = layers.addTokens("attention_mask", sequence);
  Value types = layers.addTokens("token_type_ids", sequence);
  table = layers.addTable(name + ".word_embeddings", words, width);
  Value typeTable = layers.addTable(name + ".token_type_embeddings",
                                    config.getCount("type_vocab_size", 2), width);
  Value places = layers.addTable(name + ".position_embeddings", positions, width);
  layers.emit.setName("bert.mask");
  mask = layers.emit.reshape(layers.emit.cast(seen, layers.emit.builder.getI1Type()),
                             {layers.sizes.batch, 1, 1, sequence});
  layers.emit.setName(name);
  Value x = layers.add(layers.embed(table, tokens, config.getInteger("pad_token_id").value_or(0)),
                       layers.embed(typeTable, types));
  return norm(name, layers.add(x, layers.firstRows(places, sequence)));
}

Value Bert::attend(const std::string &name, Value x) {
  auto project = [&](const char *part) {
    return layers.splitHeads(linear(name + ".self." + part, x, width), heads);
  };
  Value query = project("query"), key = project("key"), value = project("value");
  layers.emit.setName(name + ".self");
  AttentionForm form{1 / std::sqrt(static_cast<double>(width / heads))};
  form.mask = mask;
  Value attended = layers.joinHeads(layers.attend(query, key, value, form));
  Value out = linear(name + ".output.dense", attended, width);
  return norm(name + ".output", layers.add(out, x));
}

Value Bert::encode(const std::string &name, Value x) {
  Value attended = attend(name + ".attention", x);
  Value wide = layers.activate(activation, linear(name + ".intermediate.dense", attended, inner));
  Value narrow = linear(name + ".output.dense", wide, width);
  return norm(name + ".output", layers.add(narrow, attended));
}

Value Bert::predict(Value x) {
  std::string name = "cls.predictions";
  x = layers.activate(activation, linear(name + ".transform.dense", x, width));
  x = norm(name + ".transform", x);
  bool isTied = config.getFlag("tie_word_embeddings", true);
  Value logits =
      layers.project(x, isTied ? table : layers.addTable(name + ".decoder", words, width));
  return layers.add(logits, layers.addWeight(name + ".bias", {words}));
}

Value Bert::build() {
  Value x = embed();
  for (int64_t i = 0, depth = config.getDepth("num_hidden_layers"); i < depth; ++i)
    x = encode("bert.encoder.layer." + std::to_string(i), x);
  return predict(x);
}

Value weft::frontend::buildBert(const Config &config, Layers &layers) {
  return Bert(config, layers).build();
}

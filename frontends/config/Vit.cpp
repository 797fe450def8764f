//===- Vit.cpp - ViT: an encoder of an image's patches, that classifies ---===//

#include "frontends/common/Composites.h"
#include "frontends/config/Layers.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// One model as it is built: ViTForImageClassification.
class Vit {
public:
  Vit(const Config &config, Layers &layers)
      : config(config), layers(layers), width(config.getCount("hidden_size")),
        heads(config.getCount("num_attention_heads")), inner(config.getCount("intermediate_size")),
        activation(config.getText("hidden_act", "gelu")),
        epsilon(config.getNumber("layer_norm_eps", 1e-12)),
        qkvBias(config.getFlag("qkv_bias", true)) {
    expectMultiple({"hidden_size", width}, {"num_attention_heads", heads});
  }

  Value build();

private:
  int64_t countClasses();
  Value embedPatches();
  Value embed();
  Value attend(const std::string &name, Value x);
  Value encode(const std::string &name, Value x);

  const Config &config;
  Layers &layers;
  int64_t width, heads, inner;
  std::string activation;
  double epsilon;
  bool qkvBias;
};

} // namespace

/// Configurations list what classes are called; one without a list has two.
int64_t Vit::countClasses() {
  std::optional<Config> labels = config.getObject("id2label");
  if (!labels)
    return config.getCount("num_labels", 2);
  if (labels->size() == 0)
    throw ImportError("field 'id2label': expected one class or more, got none");
  return labels->size();
}

/// [b, c, height, width] as [b, patches, width].
Value Vit::embedPatches() {
  int64_t batch = layers.sizes.batch, channels = config.getCount("num_channels", 3);
  auto [height, across] = config.getPair("image_size");
  auto [patchHeight, patchWidth] = config.getPair("patch_size");
  expectAtMost({"patch_size", patchHeight}, {"image_size", height});
  expectAtMost({"patch_size", patchWidth}, {"image_size", across});
  std::string name = "vit.embeddings.patch_embeddings.projection";
  Value pixels = layers.addInput("pixel_values", {batch, channels, height, across}, layers.element);
  Value kernel = layers.addWeight(name + ".weight", {width, channels, patchHeight, patchWidth});
  Value bias = layers.addWeight(name + ".bias", {width});
  layers.emit.setName(name);
  Windows windows{{patchHeight, patchWidth}, {0, 0}, {0, 0}, {1, 1}};
  Value patches = emitConv(layers.emit, pixels, kernel, windows, /*groups=*/1);
  patches = layers.add(patches, emitPerChannel(layers.emit, bias, patches));
  int64_t count = shapeOf(patches)[2] * shapeOf(patches)[3];
  return layers.emit.transpose(layers.emit.reshape(patches, {batch, width, count}), {0, 2, 1});
}

Value Vit::embed() {
  Value patches = embedPatches();
  int64_t count = shapeOf(patches)[1] + 1;
  std::string name = "vit.embeddings";
  Value first = layers.addWeight(name + ".cls_token", {1, 1, width});
  Value places = layers.addWeight(name + ".position_embeddings", {1, count, width});
  layers.emit.setName(name);
  first = layers.emit.broadcast(first, {layers.sizes.batch, 1, width});
  return layers.add(layers.emit.concat({first, patches}, /*axis=*/1), places);
}

Value Vit::attend(const std::string &name, Value x) {
  auto project = [&](const char *part) {
    return layers.splitHeads(layers.linear(name + part, x, width, qkvBias), heads);
  };
  Value query = project(".q_proj"), key = project(".k_proj"), value = project(".v_proj");
  layers.emit.setName(name);
  double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  Value attended = layers.joinHeads(layers.attend(query, key, value, {scale}));
  return layers.linear(name + ".o_proj", attended, width, /*bias=*/true);
}

Value Vit::encode(const std::string &name, Value x) {
  Value attended =
      attend(name + ".attention", layers.layerNorm(name + ".layernorm_before", x, epsilon));
  x = layers.add(attended, x);
  Value wide = layers.linear(name + ".mlp.fc1",
                             layers.layerNorm(name + ".layernorm_after", x, epsilon), inner, true);
  Value narrow = layers.linear(name + ".mlp.fc2", layers.activate(activation, wide), width, true);
  layers.emit.setName(name);
  return layers.add(narrow, x);
}

Value Vit::build() {
  Value x = embed();
  for (int64_t i = 0, depth = config.getDepth("num_hidden_layers"); i < depth; ++i)
    x = encode("vit.layers." + std::to_string(i), x);
  x = layers.layerNorm("vit.layernorm", x, epsilon);
  layers.emit.setName("vit.first");
  Value first =
      layers.emit.reshape(layers.emit.sliceDim(x, /*dim=*/1, 0, 1), {layers.sizes.batch, width});
  return layers.linear("classifier", first, countClasses(), /*bias=*/true);
}

Value weft::frontend::buildVit(const Config &config, Layers &layers) {
  return Vit(config, layers).build();
}

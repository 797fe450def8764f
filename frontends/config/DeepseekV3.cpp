//===- DeepseekV3.cpp - latent attention, shared and routed experts -------===//

#include "frontends/common/Composites.h"
#include "frontends/config/Decoder.h"
#include "frontends/config/Experts.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// Multi-head latent attention: keys and values of all heads are made of one narrow vector a token,
/// and so are queries where they have a rank. Only a part of each head is turned by its position;
/// that of the keys is the same for all heads.
class LatentAttention {
public:
  LatentAttention(const Config &config, Layers &layers);
  Value build(const std::string &name, Value x) const;

private:
  Value buildQueries(const std::string &name, Value x) const;

  Layers &layers;
  int64_t width, heads, rank, plain, turned, valueSize;
  int64_t queryRank; ///< 0: none
  double epsilon;
  bool bias, isInterleaved;
  Rotary rotary;
};

/// Sigmoid scores. The best groups of experts are found first, then the best experts in them; a
/// bias helps to be chosen and does not count afterwards.
class GroupedRouter {
public:
  GroupedRouter(const Config &config, const Experts &experts);
  Experts::Routing route(Layers &layers, const std::string &name, Value x) const;

private:
  Value keepBestGroups(Layers &layers, Value choices) const;

  const Experts &experts;
  int64_t groups, kept;
  bool normalizes;
  double factor;
};

} // namespace

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LatentAttention::LatentAttention(const Config &config, Layers &layers)
    : layers(layers), width(config.getCount("hidden_size")),
      heads(config.getCount("num_attention_heads")), rank(config.getCount("kv_lora_rank")),
      plain(config.getCount("qk_nope_head_dim")), turned(config.getCount("qk_rope_head_dim")),
      valueSize(config.getCount("v_head_dim")), queryRank(config.getWhole("q_lora_rank", 0)),
      epsilon(1e-6), bias(config.getFlag("attention_bias", false)),
      isInterleaved(config.getFlag("rope_interleave", true)), rotary(config, layers, turned) {
  int64_t keys = config.getCount("num_key_value_heads", heads);
  if (keys != heads)
    throw ImportError("num_key_value_heads = " + std::to_string(keys) +
                      " is not num_attention_heads = " + std::to_string(heads));
}

Value LatentAttention::buildQueries(const std::string &name, Value x) const {
  int64_t size = heads * (plain + turned);
  if (queryRank == 0)
    return layers.linear(name + ".q_proj", x, size, /*bias=*/false);
  Value latent = layers.linear(name + ".q_a_proj", x, queryRank, bias);
  latent = layers.rmsNorm(name + ".q_a_layernorm", latent, epsilon);
  return layers.linear(name + ".q_b_proj", latent, size, /*bias=*/false);
}

Value LatentAttention::build(const std::string &name, Value x) const {
  Emitter &emit = layers.emit;
  int64_t batch = shapeOf(x)[0], sequence = shapeOf(x)[1];
  Value query = layers.splitHeads(buildQueries(name, x), heads);
  Value both = layers.linear(name + ".kv_a_proj_with_mqa", x, rank + turned, bias);
  Value latent =
      layers.rmsNorm(name + ".kv_a_layernorm", emit.sliceDim(both, /*dim=*/2, 0, rank), epsilon);
  Value spread = layers.splitHeads(
      layers.linear(name + ".kv_b_proj", latent, heads * (plain + valueSize), false), heads);
  emit.setName(name);
  Value queryTurned = rotary.turn(emit.sliceDim(query, 3, plain, turned), isInterleaved);
  Value keyTurned =
      rotary.turn(layers.splitHeads(emit.sliceDim(both, 2, rank, turned), 1), isInterleaved);
  keyTurned = emit.broadcast(keyTurned, {batch, heads, sequence, turned});
  query = emit.concat({emit.sliceDim(query, 3, 0, plain), queryTurned}, /*axis=*/3);
  Value key = emit.concat({emit.sliceDim(spread, 3, 0, plain), keyTurned}, /*axis=*/3);
  double scale = rotary.scoreFactor() / std::sqrt(static_cast<double>(plain + turned));
  Value attended = layers.attend(query, key, emit.sliceDim(spread, 3, plain, valueSize),
                                 {scale, /*isCausal=*/true});
  return layers.linear(name + ".o_proj", layers.joinHeads(attended), width, bias);
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

GroupedRouter::GroupedRouter(const Config &config, const Experts &experts)
    : experts(experts), groups(config.getCount("n_group", 8)),
      kept(config.getCount("topk_group", 4)), normalizes(config.getFlag("norm_topk_prob", true)),
      factor(config.getNumber("routed_scaling_factor", 2.5)) {
  config.expectText("scoring_func", {"sigmoid"});
  config.expectText("topk_method", {"noaux_tc"});
  expectMultiple({"n_routed_experts", experts.count}, {"n_group", groups});
  expectAtMost({"topk_group", kept}, {"n_group", groups});
  if (groups > 1)
    expectAtMost({"2 experts of each group", 2},
                 {"n_routed_experts / n_group", experts.count / groups});
  expectAtMost({"num_experts_per_tok", experts.perToken},
               {"the experts of topk_group groups", kept * (experts.count / groups)});
}

/// -inf for experts outside of the best groups: those whose two best experts are, together.
Value GroupedRouter::keepBestGroups(Layers &layers, Value choices) const {
  Emitter &emit = layers.emit;
  Shape shape(shapeOf(choices)), split{shape[0], shape[1], groups, experts.count / groups};
  Value grouped = emit.reshape(choices, split);
  Value two = emitTopK(emit, grouped, 2, /*axis=*/3, /*largest=*/true).values;
  Value sums = emit.reduce(ReduceKind::Sum, two, {3}, /*keepDims=*/false);
  Value best = emitTopK(emit, sums, kept, /*axis=*/2, /*largest=*/true).positions;
  Value isBest = emit.reduce(ReduceKind::Max, markChosen(layers, best, groups), {2},
                             /*keepDims=*/false);
  Value allowed = emit.broadcastDims(isBest, split, {0, 1, 2});
  Value none = emit.like(grouped, -std::numeric_limits<double>::infinity());
  return emit.reshape(emit.select(allowed, grouped, none), shape);
}

Experts::Routing GroupedRouter::route(Layers &layers, const std::string &name, Value x) const {
  Emitter &emit = layers.emit;
  Type wide = emit.builder.getF32Type();
  Value weight = layers.addWeight(name + ".weight", {experts.count, shapeOf(x)[2]});
  // Changed beside the gradients, to even out the experts' loads; in f32 in all checkpoints.
  Value bias = layers.addConstant(name + ".e_score_correction_bias", {experts.count}, wide);
  emit.setName(name);
  Value scores = emit.unary<SigmoidOp>(emit.dot(
      emit.cast(x, wide), emit.cast(emit.transpose(weight, {1, 0}), wide), {{}, {}, {2}, {0}}));
  Value choices = layers.add(scores, bias);
  if (groups > 1)
    choices = keepBestGroups(layers, choices);
  Experts::Routing routing = experts.chooseBest(layers, choices, scores);
  if (normalizes)
    routing.gates = normalizeGates(layers, routing.gates, 1e-20);
  routing.gates = layers.scale(routing.gates, factor);
  return routing;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

Value weft::frontend::buildDeepseekV3(const Config &config, Layers &layers) {
  Experts experts(config, "n_routed_experts", "moe_intermediate_size");
  GroupedRouter router(config, experts);
  GatedMlp dense{config.getCount("intermediate_size"), experts.activation};
  GatedMlp shared{experts.inner * config.getCount("n_shared_experts", 1), experts.activation};
  int64_t denseLayers = config.getWhole("first_k_dense_replace", 3);
  int64_t everyLayer = config.getCount("moe_layer_freq", 1);
  if (everyLayer != 1)
    throw ImportError("field 'moe_layer_freq': " + std::to_string(everyLayer) +
                      " is not supported; known is 1");
  Value tokens = layers.addTokens("input_ids", layers.sizes.sequence);
  LatentAttention attention(config, layers);
  auto feedForward = [&](const std::string &name, int64_t layer, Value x) {
    if (layer < denseLayers)
      return dense.build(layers, name, x);
    Experts::Routing routing = router.route(layers, name + ".gate", x);
    Value routed = experts.build(layers, name + ".experts", x, routing);
    return layers.add(routed, shared.build(layers, name + ".shared_experts", x));
  };
  return buildDecoder(
      config, layers, tokens, {},
      [&](const std::string &name, int64_t, Value x) { return attention.build(name, x); },
      feedForward);
}

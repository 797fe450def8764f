//===- Decoder.h - what Llama and its kin have in common --------*- C++ -*-===//
//
// A decoder is words, blocks and a projection to words. Each block adds attention and a
// feed-forward part to what comes in, both of it normalised:
//
//   x = x + attention(norm(x));  x = x + feedForward(norm(x))
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_CONFIG_DECODER_H
#define WEFT_FRONTENDS_CONFIG_DECODER_H

#include "frontends/config/Rotary.h"
#include <functional>

namespace weft::frontend {

/// A part of block `layer`, whose names begin with `name`.
using BlockPart = std::function<mlir::Value(const std::string &name, int64_t layer, mlir::Value x)>;

struct DecoderForm {
  bool tiesWords = false; ///< unless the configuration says
  bool isGemma = false;   ///< scales count from 1, embeddings are scaled by the root of the width
  std::optional<int64_t> padding = std::nullopt; ///< the token, unless the configuration says
};

/// The whole decoder; its logits.
mlir::Value buildDecoder(const Config &config, Layers &layers, mlir::Value tokens,
                         const DecoderForm &form, const BlockPart &attention,
                         const BlockPart &feedForward);

/// act(gate_proj x) · up_proj x, through down_proj.
struct GatedMlp {
  int64_t inner;
  std::string activation;
  bool bias = false;
  bool isFused = false; ///< gate and up are one product, gate_up_proj

  mlir::Value build(Layers &layers, const std::string &name, mlir::Value x) const;
};

/// What grouped attention has in one kind of model and not in another.
struct GroupedForm {
  bool inputBias = false, outputBias = false;
  bool normsHeads = false; ///< queries and keys are normalised, each head for itself
  bool isFused = false;    ///< one product, qkv_proj, for queries, keys and values
  /// Which layers see a window only; none where all see everything.
  std::function<bool(int64_t layer)> isWindowed = {};
};

/// Fields: `use_sliding_window`, and `layer_types` or `max_window_layers`.
std::function<bool(int64_t layer)> readQwenWindows(const Config &config);
GroupedForm readQwen3Attention(const Config &config);

/// Causal attention with rotary positions, whose queries share keys and values in groups. Fields:
/// `hidden_size`, `num_attention_heads`, `num_key_value_heads`, `head_dim`, `rms_norm_eps`,
/// `sliding_window`, and those of Rotary.
class GroupedAttention {
public:
  GroupedAttention(const Config &config, Layers &layers, GroupedForm form);
  mlir::Value build(const std::string &name, int64_t layer, mlir::Value x) const;

private:
  /// Queries, keys and values, [b, heads, s, d].
  std::array<mlir::Value, 3> project(const std::string &name, mlir::Value x) const;

  Layers &layers;
  GroupedForm form;
  int64_t width, queries, keys, size;
  double epsilon;
  std::optional<int64_t> window;
  Rotary rotary;
};

/// A decoder of tokens with grouped attention.
mlir::Value buildGroupedDecoder(const Config &config, Layers &layers, const DecoderForm &form,
                                const GroupedForm &grouped, const BlockPart &feedForward);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_DECODER_H

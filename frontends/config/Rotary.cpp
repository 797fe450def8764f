#include "frontends/config/Rotary.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Rotary::Rotary(const Config &config, Layers &layers, int64_t headSize) : layers(layers) {
  std::optional<Config> parameters = config.getObject("rope_parameters");
  std::optional<Config> scaling = config.getObject("rope_scaling");
  double base = config.getNumber("rope_theta", 10000);
  double turned = config.getNumber("partial_rotary_factor", 1);
  if (parameters) {
    base = parameters->getNumber("rope_theta", base);
    turned = parameters->getNumber("partial_rotary_factor", turned);
  }
  if (base <= 1 || turned > 1)
    throw ImportError(base <= 1 ? "field 'rope_theta': expected a number above 1"
                                : "field 'partial_rotary_factor': expected at most 1");
  auto size = static_cast<int64_t>(static_cast<double>(headSize) * turned);
  if (size % 2 != 0 || size == 0)
    throw ImportError("expected an even size of heads, got: " + std::to_string(size));
  for (int64_t i = 0; i < size / 2; ++i)
    frequencies.push_back(1 / std::pow(base, 2.0 * i / size));
  if (const auto &chosen = scaling ? scaling : parameters)
    scale(config, *chosen, base, size);
  layers.emit.setName("model.rotary");
  auto tabulate = [&](double (*function)(double)) {
    return layers.tabulate(size / 2, [&](int64_t place, int64_t pair) {
      return tableFactor * function(static_cast<double>(place) * frequencies[pair]);
    });
  };
  cos = tabulate(std::cos);
  sin = tabulate(std::sin);
}

Value Rotary::turn(Value x, bool isInterleaved) const {
  return layers.emit.create<RotaryOp>(
      typeOf(x), x, cos, sin, isInterleaved ? layers.emit.builder.getUnitAttr() : UnitAttr());
}

//===----------------------------------------------------------------------===//
// Scaling: contexts longer than those of the training
//===----------------------------------------------------------------------===//

void Rotary::scale(const Config &config, const Config &scaling, double base, int64_t size) {
  std::string type = scaling.getText("rope_type", scaling.getText("type", "default"));
  if (type == "linear") {
    for (double factor = scaling.getRequiredNumber("factor"); double &frequency : frequencies)
      frequency /= factor;
  } else if (type == "llama3") {
    scaleLlama3(scaling);
  } else if (type == "yarn") {
    scaleYarn(config, scaling, base, size);
  } else if (type != "default") {
    throw ImportError("field 'rope_scaling': type '" + type +
                      "' is not supported; known are default, linear, llama3, yarn");
  }
}

/// Slows those pairs whose period is long beside the original context.
void Rotary::scaleLlama3(const Config &scaling) {
  double factor = scaling.getNumber("factor", 8), low = scaling.getNumber("low_freq_factor", 1);
  double high = scaling.getNumber("high_freq_factor", 4);
  double context = scaling.getNumber("original_max_position_embeddings", 8192);
  if (high <= low)
    throw ImportError("field 'rope_scaling': expected high_freq_factor above low_freq_factor");
  for (double &frequency : frequencies) {
    double turns = context * frequency / (2 * std::numbers::pi);
    double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor;
  }
}

/// YaRN (Peng et al., YaRN: efficient context window extension): pairs that turn less than
/// `beta_slow` times in the original context are slowed by `factor`, those that turn more than
/// `beta_fast` times are not; between these the pairs' numbers decide. Longer contexts have sharper
/// scores.
void Rotary::scaleYarn(const Config &config, const Config &scaling, double base, int64_t size) {
  double context = scaling.getRequiredNumber("original_max_position_embeddings");
  double factor = scaling.has("factor")
                      ? scaling.getRequiredNumber("factor")
                      : config.getRequiredNumber("max_position_embeddings") / context;
  auto pairTurning = [&](double times) {
    return double(size) * std::log(context / (times * 2 * std::numbers::pi)) / (2 * std::log(base));
  };
  double low = pairTurning(scaling.getNumber("beta_fast", 32));
  double high = pairTurning(scaling.getNumber("beta_slow", 1));
  if (scaling.getFlag("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(size - 1));
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    double width = low == high ? 0.001 : high - low;
    double slowed = std::clamp((static_cast<double>(pair) - low) / width, 0.0, 1.0);
    frequencies[pair] *= (1 - slowed) + slowed / factor;
  }
  auto sharpen = [&](double strength) {
    return factor <= 1 ? 1 : 0.1 * strength * std::log(factor) + 1;
  };
  double all = scaling.getNumber("mscale_all_dim", 0);
  double natural = scaling.has("mscale") && all > 0
                       ? sharpen(scaling.getNumber("mscale", 1)) / sharpen(all)
                       : sharpen(1);
  tableFactor = scaling.getNumber("attention_factor", natural);
  scores = all > 0 ? sharpen(all) * sharpen(all) : 1;
}

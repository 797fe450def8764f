//===- Rotary.h - rotary positions of a configuration -----------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_CONFIG_ROTARY_H
#define WEFT_FRONTENDS_CONFIG_ROTARY_H

#include "frontends/config/Layers.h"

namespace weft::frontend {

/// Turns queries and keys by angles that grow with their positions. Fields: `rope_theta`, and the
/// scaling in `rope_scaling` or `rope_parameters`.
class Rotary {
public:
  /// Builds the tables of sines and cosines. Throws ImportError where the configuration asks for a
  /// scaling that is not known.
  Rotary(const Config &config, Layers &layers, int64_t headSize);

  /// x [b, h, s, d]: pairs of elements d/2 apart, or next to each other.
  mlir::Value turn(mlir::Value x, bool isInterleaved = false) const;

  /// What YaRN multiplies the scores of the whole context by (`mscale_all_dim`), squared.
  double scoreFactor() const { return scores; }

private:
  void scale(const Config &config, const Config &scaling, double base, int64_t size);
  void scaleLlama3(const Config &scaling);
  void scaleYarn(const Config &config, const Config &scaling, double base, int64_t size);

  Layers &layers;
  std::vector<double> frequencies; ///< radians a position, of each pair
  double tableFactor = 1, scores = 1;
  mlir::Value cos, sin;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_ROTARY_H

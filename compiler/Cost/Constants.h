//===- Constants.h - the constants of the cost model ------------*- C++ -*-===//
//
// Everything that the model knows and that is no fact about one cluster: eighteen numbers, each
// with a unit and a source, those known from hardware and libraries first, the fitted ones last.
// Facts about devices and networks are in the cluster description (compiler/Cluster/catalog.txtpb).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_CONSTANTS_H
#define WEFT_COMPILER_COST_CONSTANTS_H

#include <span>
#include <string>

namespace weft {

struct CostConstants {
  double residentTiles = 2;       ///< tiles a processor computes at a time
  double treeShare = 0.9;         ///< of a ring's rate that a tree reaches
  double dispatch = 6e-6;         ///< s that the host takes to start one kernel
  double hostSharpness = 4;       ///< how sharply the slower of host and device decides
  double overlapLoss = 0.15;      ///< of the compute rate, while a collective runs beside it
  double allocatorReserve = 0.06; ///< of the live bytes that an allocator holds besides
  double flashForward = 0.62;     ///< of the best product's rate, fused attention forward
  double flashBackward = 0.50;    ///< the same, backward
  double resultShare = 1;         ///< of writing a product's result that its arithmetic cannot hide
  double waveShare = 0.5;         ///< of the last wave's idle processors that costs time
  double partialAlignment = 0.58; ///< rate of products whose extents are 2 or 4 mod 8
  double oddAlignment = 0.35;     ///< rate of products with odd extents
  double attentionShare = 0.41;   ///< of the best product's rate that batched small ones reach
  double streamShare = 0.77;      ///< of the best copy's rate that streaming kernels reach
  double streamHalf = 8e6;        ///< B at which a streaming kernel runs at half its rate
  double finishShare = 0.66;      ///< of the copy rate, the last pass of a ring over its chunk
  double softmaxAdditions = 24;   ///< of a score, where no kernel fuses attention
  double line = 64;               ///< B that memory hands out at least
};

/// A constant by name, with what the documentation says of it.
struct ConstantInfo {
  const char *name;
  double CostConstants::*value;
  const char *unit;
  const char *provenance; ///< spec, measured, assumed or fitted
  const char *source;
};

/// All constants, in the order of the documentation.
std::span<const ConstantInfo> listConstants();

/// Sets a constant by name; false if there is none of that name.
bool setConstant(CostConstants &constants, const std::string &name, double value);

} // namespace weft

#endif // WEFT_COMPILER_COST_CONSTANTS_H

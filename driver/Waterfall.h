//===- Waterfall.h - from the physical floor to the step --------*- C++ -*-===//
//
// Why a step takes what it takes: parts that add up to it, from the arithmetic of the model's
// products, evenly divided and at the stated peak, up to what ranks wait for each other. All are
// means over the ranks.
//
//   arithmetic at peak               the model's products over all devices: no plan can take less
//   repeated and padded work         products that several ranks do alike, or that padding adds
//   memory traffic                   what bytes take beyond arithmetic, at the stated bandwidth
//   kernel efficiency                what kernels take beyond both: tiles, waves, rates as seen
//   launches                         to start them
//   computing beside communication   what communication under way slows kernels by
//   communication                    under way while nothing is computed
//   waiting for other ranks          neither: bubbles of a pipeline, unequal stages
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_WATERFALL_H
#define WEFT_DRIVER_WATERFALL_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Sharding/PlannedModule.h"
#include "driver/Simulation.h"

namespace weft {

struct WaterfallStep {
  std::string name;
  double seconds = 0;
};

/// Seconds that the products of all parts take at the stated peak of the first `ranks` devices, if
/// they are evenly divided.
double getFloorSeconds(const PlannedModule &planned, const ClusterModel &cluster, int64_t ranks);

/// The steps, which add up to the simulated step.
std::vector<WaterfallStep> makeWaterfall(const Simulation &simulation, double floorSeconds);

} // namespace weft

#endif // WEFT_DRIVER_WATERFALL_H

//===- PricedCollectives.h - what each collective takes ---------*- C++ -*-===//

#ifndef WEFT_DRIVER_PRICEDCOLLECTIVES_H
#define WEFT_DRIVER_PRICEDCOLLECTIVES_H

#include "compiler/Cluster/Topology.h"
#include "runtime/Inspect/InspectReport.h"

namespace weft {

/// A collective of a program, or a transfer between meshes, with its price.
struct PricedCollective : runtime::InspectedCollective {
  double seconds = 0; ///< of all its executions in a step, alone on its links
};

/// The collectives that a report tells of, as they were counted in `executable`, on a cluster that
/// has its devices: with the prices of simulation.
std::vector<PricedCollective> priceCollectives(const runtime::InspectReport &report,
                                               const program::Executable &executable,
                                               const ClusterModel &cluster);

/// An axis of a mesh on a cluster, and what goes over it.
struct AxisTraffic {
  std::string name;
  int64_t size = 1;
  std::string tier; ///< the outermost between its devices: "nvlink"
  int64_t collectives = 0;
  double bytes = 0, seconds = 0; ///< of a step
};

/// The axes of a mesh with the collectives over each; one over several axes counts with all.
std::vector<AxisTraffic> sumAxes(const runtime::InspectReport::Mesh &mesh, bool isOnly,
                                 const std::vector<PricedCollective> &collectives,
                                 const ClusterModel &cluster);

} // namespace weft

#endif // WEFT_DRIVER_PRICEDCOLLECTIVES_H

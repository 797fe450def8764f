//===- Timeline.h - what a step's instructions take, summed -----*- C++ -*-===//
//
// The common form of what is simulated and what was measured: a trace that `weft run --trace`,
// `weft train --trace` or `weft simulate --trace` wrote, or a simulation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_TIMELINE_H
#define WEFT_DRIVER_TIMELINE_H

#include "driver/Simulation.h"
#include <map>
#include <string>
#include <utility>

namespace weft {

struct Timeline {
  struct Sum {
    double count = 0;   ///< executions, mean over all ranks
    double seconds = 0; ///< mean over all ranks
  };

  double seconds = 0; ///< until the last instruction of any rank is over
  int64_t ranks = 0;
  std::map<std::string, Sum> operations; ///< "GEMM", "COLLECTIVE all_reduce"; no waits
  /// By operation and shape class.
  std::map<std::pair<std::string, std::string>, Sum> shapes;
};

Timeline makeTimeline(const Simulation &simulation);

/// Reads a trace; throws a runtime::Error of kind BadInput where it is none.
Timeline readTimeline(const std::string &path);

} // namespace weft

#endif // WEFT_DRIVER_TIMELINE_H

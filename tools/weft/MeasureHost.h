//===- MeasureHost.h - what weft calibrate measures -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MEASUREHOST_H
#define WEFT_TOOLS_WEFT_MEASUREHOST_H

#include "compiler/Cost/Calibration.h"

namespace weft::tool {

struct HostMeasurement {
  HostSamples samples;
  std::string mpiProblem; ///< why there are no collectives between processes; empty if there are
  std::string programProblem; ///< why no program's instructions are; empty if they are
  double seconds = 0;         ///< that all of it took
};

/// Measures everything in up to `rounds` rounds, fewer where they would not end within two minutes,
/// and keeps the least of each point, where a disturbance only adds, and the median of what
/// instructions take within a program. With `needMpi`, stops where MPI does not work. With
/// `progress`, tells the round on stderr.
HostMeasurement measureHost(int64_t rounds, bool needMpi, bool progress);

/// The part of a rank that measureHost started under mpirun; returns the exit code.
int measureAsMpiRank();

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_MEASUREHOST_H

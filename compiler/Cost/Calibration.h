//===- Calibration.h - a cluster description from measurements --*- C++ -*-===//
//
// Fits the cost model's facts about a host to what was measured on it:
//
//   matrix products     t - launch = 2·m·n·k / seen + 2·m·n·half_depth / seen
//                       + (operands + result) / copies, on all cores at the same time
//   kernels             t = launch, on t threads launch + wake; on all cores, additions /
//                       arithmetic
//   products of layers, in a program
//                       the rate seen by what they take there beyond their operands and results;
//                       pack by what those take beyond that whose operands no cache holds
//   convolutions, many small products
//                       t = that of the product it is / the share that they reach
//   collectives         as FitCollectives.h says; where ranks are more than cores and take turns,
//                       with a fit of its own
//
// Fits are linear least squares on relative errors, so that small shapes count as much as large
// ones and disturbed ones count less (LeastSquares.h).
//
// The description keeps every point, what the model makes of it, and the mean error of each curve.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_CALIBRATION_H
#define WEFT_COMPILER_COST_CALIBRATION_H

#include "compiler/Cluster/cluster.pb.h"
#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Instruction.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// One shape and what it took.
struct Sample {
  std::vector<int64_t> at;
  double seconds = 0;
};

/// A collective of f32: {ranks, bytes} each.
struct CollectiveSamples {
  std::string transport; ///< local (threads) or mpi (processes)
  std::string name;      ///< all_reduce, …
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::vector<Sample> samples;
};

/// An instruction of a program, as a rank that has all cores executes it.
struct InstructionSample {
  InstructionWork work;
  double seconds = 0;
};

/// What `weft calibrate` measures of a host.
struct HostSamples {
  std::vector<Sample> matmuls;                 ///< f32 on each core at the same time: {m, n, k}
  std::vector<Sample> copies;                  ///< on each core at the same time: {bytes}
  std::vector<Sample> launches;                ///< {threads}, 1 among them
  std::vector<InstructionSample> instructions; ///< kernels, convolutions, batches of products
  std::vector<CollectiveSamples> collectives;
  std::string transport = "local"; ///< whose collectives the description's own are
  int64_t cores = 1;
  double memory = 0; ///< B of the host
};

/// A cluster of the host's cores, a rank each, with curves. None with the reason in `problem` where
/// samples are too few or contradict the model.
std::optional<cluster::Cluster> describeHost(const HostSamples &samples, std::string &problem);

} // namespace weft

#endif // WEFT_COMPILER_COST_CALIBRATION_H

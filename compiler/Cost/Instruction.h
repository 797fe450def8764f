//===- Instruction.h - what one instruction takes ---------------*- C++ -*-===//
//
// The one place that prices what a program computes. The simulator asks it for the instructions of
// a lowered program, a search for operations on a device's own shapes: both describe the work by
// sizes alone, so that what is searched is what is simulated.
//
//   InstructionWork work;
//   work.kind = InstructionWork::Kind::Product;
//   work.m = 1024, work.n = 3072, work.k = 768;
//   ClusterModel cluster = shareHost(makeClusterModel(description), /*ranks=*/4);
//   double seconds = getInstructionSeconds(cluster.groups[0].device, work, constants);
//
// Communication is priced by Collectives.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_INSTRUCTION_H
#define WEFT_COMPILER_COST_INSTRUCTION_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Constants.h"
#include "compiler/Cost/WorkSeconds.h"
#include <cmath>
#include <cstdint>
#include <string>

namespace weft {

/// What an instruction does.
struct InstructionWork {
  enum class Kind {
    Kernel,      ///< a generated kernel: any elementwise, reducing or moving operations
    Product,     ///< `batch` products of m x k by k x n
    Convolution, ///< as the product that it is: m outputs and depth k of each of `batch` groups, n
                 ///< positions of all images
    Attention,   ///< fused, forward: m queries, n keys, head size k, batch · heads in `batch`
    AttentionBackward, ///< the gradients of such a one
    Copy,              ///< moves elements, or sets them
  };

  Kind kind = Kind::Kernel;
  std::string dtype = "f32"; ///< of the arithmetic
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool depthMajor = false;    ///< of a product: both operands lie along k
  bool causal = false;        ///< of attention
  double additions = 0;       ///< of a kernel: its arithmetic, in additions
  double bytesRead = 0;       ///< each byte once
  double bytesWritten = 0;    ///< the same
  double runBytes = INFINITY; ///< of a copy: so many bytes lie side by side on both sides
  /// Of a copy: so many bytes lie side by side where it reads, and where it writes, in any order.
  double readRun = INFINITY, writtenRun = INFINITY;
  double parts = INFINITY; ///< no more cores than that share it
};

/// FLOP of a product, convolution or attention; additions of a kernel.
double getFlop(const InstructionWork &work);

/// Seconds on a device, with its launch. Of a device that a rank shares or has several cores of,
/// `device` is the rank's part (shareHost).
double getInstructionSeconds(const DeviceModel &device, const InstructionWork &work,
                             const CostConstants &constants);

/// What these seconds are due to.
WorkSeconds splitInstructionSeconds(const DeviceModel &device, const InstructionWork &work,
                                    const CostConstants &constants);

/// The cluster as a program of so many ranks finds it. Ranks of a host (its innermost tier is
/// memory) divide the cores among themselves as the runtime does: of 8 cores 3 ranks have 2 each,
/// whose rates add up; of 2 cores 4 ranks have half a core each, and their collectives take what
/// ranks take that have to wait for their turn. Other clusters are as they are.
ClusterModel shareHost(const ClusterModel &cluster, int64_t ranks);

/// Seconds to bring so many bytes from a device's memory to its host's, or back: of a device whose
/// memory is the host's, or whose way there is not known, as it copies within its own.
double getHostCopySeconds(const DeviceModel &device, double bytes);

} // namespace weft

#endif // WEFT_COMPILER_COST_INSTRUCTION_H

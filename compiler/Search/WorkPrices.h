//===- WorkPrices.h - seconds of an operation's shard -----------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_WORKPRICES_H
#define WEFT_COMPILER_SEARCH_WORKPRICES_H

#include "compiler/Cost/Compute.h"
#include "compiler/Sharding/ShardingGraph.h"

namespace weft {

/// What an operation computes, whole.
struct NodeWork {
  double flops = 0;
  std::string dtype = "f32";  ///< of what is multiplied
  int64_t times = 1;          ///< that it runs in a step: once for each microbatch
  bool isOfGradients = false; ///< of attention, which reach another rate
  bool isKernel = false;      ///< by itself, whatever is beside it

  bool operator==(const NodeWork &) const = default;
};

/// Seconds of one shard of a node whose factors are split so: of a product its arithmetic, or its
/// operands' and result's bytes where that is more; of a kernel what it streams; of anything else
/// the bytes it writes, since what it reads was written by what it is fused with; nothing for what
/// moves elements of one operand. Padding counts as work.
double getShardSeconds(const ShardingGraph &graph, const ShardingGraph::Node &node,
                       const NodeWork &work, const FactorAxes &axes, const DeviceModel &device,
                       const CostConstants &constants);

/// Bytes that a device holds of a tensor of the node (operands first) that is split so.
double getBlockBytes(const ShardingGraph &graph, const ShardingGraph::Node &node, unsigned index,
                     const FactorAxes &axes);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_WORKPRICES_H

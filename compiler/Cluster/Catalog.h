//===- Catalog.h - the clusters that weft knows -----------------*- C++ -*-===//
//
// catalog.txtpb holds devices, collective libraries and presets, each number with its source. A
// preset is a node; `NAME:N` is a cluster of N of them, `A:N+B:M` one of two groups that are joined
// by the slower of their networks. `cpu:N` is N ranks of this host.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CLUSTER_CATALOG_H
#define WEFT_COMPILER_CLUSTER_CATALOG_H

#include "compiler/Cluster/cluster.pb.h"
#include <optional>
#include <string>

namespace weft {

/// The preset that a mesh is priced by where no cluster is named: no facts about devices but
/// ratios, without latencies, the same on every host (docs/cluster.md).
inline constexpr const char *referenceCluster = "reference";

/// All that weft knows; read once.
const cluster::Catalog &getCatalog();

/// Whether a specification is the path of a description (`-`: the standard input), not names.
bool isClusterPath(const std::string &spec);

/// The cluster that `spec` names: `NAME[:N]` (N is 1 if left out), several joined by `+`, or the
/// path of a description (`-`: the standard input). None with a message in `problem`, the nearest
/// name included.
std::optional<cluster::Cluster> resolveCluster(const std::string &spec, std::string &problem);

} // namespace weft

#endif // WEFT_COMPILER_CLUSTER_CATALOG_H

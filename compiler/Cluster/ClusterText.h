//===- ClusterText.h - cluster descriptions as files ------------*- C++ -*-===//
//
// The text form of cluster.proto: what `weft cluster show` prints, `weft calibrate` writes and
// `--cluster FILE` reads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CLUSTER_CLUSTERTEXT_H
#define WEFT_COMPILER_CLUSTER_CLUSTERTEXT_H

#include "compiler/Cluster/cluster.pb.h"
#include <filesystem>
#include <optional>
#include <string>

namespace weft {

/// The version that this compiler writes and reads.
inline constexpr int clusterVersion = 1;

/// Devices that a cluster may have at most.
inline constexpr int64_t maxClusterDevices = int64_t(1) << 24;

/// Parses and validates a description; `name` stands for its file in messages. None with a message
/// (file, line and column of a syntax error) in `problem`.
std::optional<cluster::Cluster> parseCluster(const std::string &text, const std::string &name,
                                             std::string &problem);

/// Reads a description from a file; `-` is the standard input.
std::optional<cluster::Cluster> readCluster(const std::filesystem::path &path,
                                            std::string &problem);

/// The text that readCluster reads.
std::string printCluster(const cluster::Cluster &cluster);

/// Checks that every group's device is described, every number is positive (latencies may be zero),
/// of the right unit and says where it comes from, and that no rate seen exceeds the one stated.
/// Returns the problem with the place it is at, or "".
std::string validateCluster(const cluster::Cluster &cluster);

} // namespace weft

#endif // WEFT_COMPILER_CLUSTER_CLUSTERTEXT_H

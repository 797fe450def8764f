//===- Topology.h - a cluster in base units ---------------------*- C++ -*-===//
//
// What the cost library reads: a cluster description with every number in seconds, bytes, bytes per
// second or FLOP per second. Devices are numbered group by group; inside a group, tier by tier,
// innermost fastest: of dgx-a100:2, device 11 is the fourth of the second node.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CLUSTER_TOPOLOGY_H
#define WEFT_COMPILER_CLUSTER_TOPOLOGY_H

#include "compiler/Cluster/cluster.pb.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct DeviceModel {
  struct Rate {
    double peak = 0;      ///< FLOP/s that the hardware could do
    double seen = 0;      ///< FLOP/s of the best product seen
    double sustained = 0; ///< FLOP/s that products hold under the power limit
  };

  /// The rate of products of an element type; of one that is not described that of the next wider
  /// type that is (f16 for bf16), else of the widest known. Never fails: a device has a peak.
  Rate getRate(const std::string &dtype) const;

  std::string name;
  std::map<std::string, Rate> rates; ///< by element type
  double memory = 0;                 ///< B
  double bandwidth = 0;              ///< B/s, stated
  double copy = 0;                   ///< B/s, best seen
  double processors = 1;
  double tile = 1;                  ///< rows and columns
  double launch = 0;                ///< s
  std::optional<double> halfDepth;  ///< of products, where the description tells
  std::optional<double> cache;      ///< B of the last cache, where it tells
  double depthMajor = 1;            ///< of a product's rate, where both operands lie along k
  std::optional<double> batched;    ///< of the best rate that many small products reach
  std::map<double, double> copies;  ///< B/s by B read and written, of blocks that caches hold
  std::optional<double> arithmetic; ///< additions/s of generated kernels, where it tells
  double convolution = 1;           ///< of a product's rate that convolutions reach
  std::optional<double> pack;       ///< B/s of products' operands that no cache holds
  double wake = 0;                  ///< s, to share an instruction among several cores
  /// B/s between its memory and its host's, each way; none where its memory is the host's, or that
  /// is not known.
  std::optional<double> hostCopy;
};

struct TierModel {
  struct InNetwork {
    double rate = 0; ///< B/s of the buffer of an all-reduce
    double base = 0; ///< s
  };

  /// B/s that a collective of so many members with buffers of so many bytes reaches on a link.
  double getSeen(int64_t numMembers, double bufferBytes) const;

  std::string name;
  cluster::Medium medium = cluster::MEMORY;
  int64_t fanout = 1;
  double links = 1; ///< out of each unit
  double rate = 0;  ///< B/s of a link, one way
  double seen = 0;  ///< B/s that collectives reach on a link
  std::map<int64_t, double> members;
  std::map<double, double> buffers; ///< B/s by B of the buffer; `seen` of larger ones
  std::optional<InNetwork> inNetwork;
};

struct ProtocolModel {
  struct Hop {
    double ring = 0, tree = 0; ///< s
  };
  std::string name;
  double share = 1;                  ///< of a tier's rate
  double ringBase = 0, treeBase = 0; ///< s
  std::map<cluster::Medium, Hop> hops;
};

struct GroupModel {
  int64_t getNumDevices() const;
  /// Devices that no network joins.
  int64_t getDevicesOfHost() const;

  std::string name;
  DeviceModel device;
  std::vector<TierModel> tiers; ///< innermost first
  double hostMemory = 0;        ///< B of a host beside its devices' own; 0: none is known
};

struct ClusterModel {
  /// Collectives of ranks that take turns on a host's cores.
  struct Crowded {
    double call = 0, step = 0;          ///< s
    double rate = 0;                    ///< B/s
    std::map<double, double> buffers{}; ///< B/s by B of the buffer; `rate` of larger ones
  };

  int64_t getNumDevices() const;

  std::string name;
  std::vector<GroupModel> groups;
  std::optional<TierModel> joint;
  double call = 0;       ///< s of every collective call
  double singlePass = 1; ///< of the rate that all-gathers and reduce-scatters reach
  std::vector<ProtocolModel> protocols;
  std::optional<Crowded> crowded;
};

/// The description must be valid (validateCluster).
ClusterModel makeClusterModel(const cluster::Cluster &cluster);

} // namespace weft

#endif // WEFT_COMPILER_CLUSTER_TOPOLOGY_H

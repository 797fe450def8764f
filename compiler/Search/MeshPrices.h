//===- MeshPrices.h - seconds of a device on a mesh -------------*- C++ -*-===//
//
// What collectives take on a mesh whose devices are those of a cluster, numbered row-major: on
// {data=4, model=8} of four nodes of eight devices, groups over "model" stay within a node, and the
// eight groups over "data" that start in it share its links. The one place that prices what the
// partitioner emits: the steps of reshard paths.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_MESHPRICES_H
#define WEFT_COMPILER_SEARCH_MESHPRICES_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Collectives.h"
#include "compiler/Sharding/ReshardPath.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <vector>

namespace weft {

class MeshPrices {
public:
  /// The mesh's devices are the first of the cluster's first group.
  MeshPrices(const MeshShape &mesh, const ClusterModel &cluster) : mesh(mesh), cluster(cluster) {}

  /// Seconds of a collective over groups along the axes, with so many bytes of whole buffer
  /// (Traffic.h), of a permutation, or of a cut.
  double getCollectiveSeconds(ReshardKind kind, llvm::ArrayRef<AxisRef> axes, double bytes);

  /// The same of a step of a path; of a cut the bytes are those before it.
  double getStepSeconds(ReshardKind kind, llvm::ArrayRef<AxisRef> axes, double whole);

  /// Seconds of a message of so many bytes to each device, from that in its place of a mesh of the
  /// same shape beside this one.
  double getMessageSeconds(double bytes) const;

  /// The number of a kind of step along axes, by which its seconds are found again.
  unsigned addStep(ReshardKind kind, llvm::ArrayRef<AxisRef> axes);

  /// The same of a step by its number; each is priced once for so many bytes.
  double getStepSeconds(unsigned step, int64_t whole);

  /// A step of a path as it is emitted (LocalValues): of padded blocks whole ones are sent, and
  /// what is cut into them made longer.
  struct PathStep {
    unsigned number;  ///< addStep()
    int64_t elements; ///< of the whole buffer
    bool isLonger;    ///< written anew before, with what lies behind the end
  };
  /// The steps of a path of a tensor of this global shape.
  llvm::SmallVector<PathStep, 3> listSteps(const ReshardPath &path, const TensorSharding &from,
                                           llvm::ArrayRef<int64_t> shape);

  /// Seconds of a step whose whole buffer is so many bytes.
  double getStepSeconds(const PathStep &step, int64_t whole) {
    double longer = step.isLonger ? static_cast<double>(whole) / getDevice().copy : 0;
    return longer + getStepSeconds(step.number, whole);
  }

  /// Seconds of all steps of a path.
  double getSeconds(const ReshardPath &path, const TensorSharding &from,
                    llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

  const DeviceModel &getDevice() const { return cluster.groups.front().device; }
  const CostConstants &getConstants() const { return constants; }
  const MeshShape &getMesh() const { return mesh; }

private:
  struct Step {
    ReshardKind kind;
    llvm::SmallVector<AxisRef, 2> axes;
  };

  const GroupShape &getGroup(llvm::ArrayRef<AxisRef> axes);

  const MeshShape &mesh;
  const ClusterModel &cluster;
  CostConstants constants;
  /// By the axes' digits: (stride among devices, size) each.
  std::map<std::vector<std::pair<int64_t, int64_t>>, GroupShape> groups;
  std::vector<Step> steps;
  llvm::DenseMap<std::pair<unsigned, int64_t>, double> stepSeconds; ///< by number and bytes
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_MESHPRICES_H

//===- MeshOrder.h - which meshes are worth a trial -------------*- C++ -*-===//
//
// A cluster's devices make many meshes, and a step is tried on each of them in many ways to train.
// Most need no search: a mesh is the same to a model as another one, or what a step takes on
// others, or took on this one before, says that it takes too long.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_MESHORDER_H
#define WEFT_DRIVER_MESHORDER_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Search/StrategyGraph.h"
#include "compiler/Sharding/Axes.h"

#include <vector>

namespace weft {

class MeshOrder {
public:
  /// Meshes, by number; those of more than so many devices are not tried.
  MeshOrder(std::vector<MeshShape> meshes, int64_t devices);

  /// Turns to a step that is trained so. The meshes on which it is to be tried, in order: of those
  /// that are the same but for names and where axes end the first, and wasteful ones where there
  /// are no others.
  std::vector<size_t> begin(const ShardingGraph &graph, const plan::Training &training);

  /// Notes what the step takes on a mesh: s; infinite: more than was asked for. In any case it
  /// takes `least` s there, however much may be held; 0: not known.
  void note(size_t number, double seconds, double least = 0);

  /// Whether the step is not worth a search there, where the best that is known takes `best` s (0:
  /// none is) and what takes more than `limit` s is not looked at: with axes of the mesh joined it
  /// takes so long that splitting in more ways will not help; with fewer devices to an example it
  /// took longer and longer, up to too long; or it took too long there with less computed again, in
  /// no more microbatches.
  bool isHopeless(size_t number, double best, double limit) const;

  /// Whether the axes of another mesh, joined, are those of this one parted: all of it is split as
  /// finely.
  bool isRefinement(size_t number) const;

private:
  /// What a step takes on a mesh in any case: also one that is trained with as much or more
  /// computed again and in as many or more microbatches.
  struct Bound {
    double seconds = 0;
    plan::Training training;
  };
  struct Mesh {
    MeshShape shape;
    bool isThere = false;
    double seconds = 0; ///< of the step; 0: not known
    Bound bound;
  };
  bool isTooWide(const Mesh &mesh, double limit) const;
  bool isBounded(const Mesh &mesh, double limit) const;

  std::vector<Mesh> meshes;
  plan::Training training;
};

} // namespace weft

#endif // WEFT_DRIVER_MESHORDER_H

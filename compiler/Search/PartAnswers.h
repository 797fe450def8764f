//===- PartAnswers.h - parts that are alike, searched once ------*- C++ -*-===//
//
// Stages of a deep model are mostly the same layers again, on meshes of equal shape: what was found
// of one is the answer to another. They differ in how many microbatches they have under way. An
// answer that is the best for few of them, and of which the values of more fit, is the best for
// more, too: what does not fit with few does not with more,
//
//   memory(more) = memory(few) + (more - few) · what waits for the backward pass of one
//
// and likewise of gradients of weights that are put off, so that parts with few microbatches under
// way, the last stages, are best searched first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_PARTANSWERS_H
#define WEFT_COMPILER_SEARCH_PARTANSWERS_H

#include "compiler/Search/StrategyGraph.h"
#include "compiler/Sharding/PlannedModule.h"

#include <list>
#include <memory>

namespace weft {

/// Whether two problems ask the same, node by node.
bool isSameProblem(const ShardingProblem &a, const ShardingProblem &b);

/// What was found of parts on one cluster; the parts' modules need not be there any more.
class PartAnswers {
public:
  PartAnswers() = default;
  /// Knows what others know by now.
  PartAnswers(const PartAnswers &others) : known(others.known) {}
  PartAnswers &operator=(const PartAnswers &) = delete;

  /// The split of a part over its mesh that takes the least time on the cluster: found before, of a
  /// part like it, or searched.
  ShardingAnswer get(const PlannedPart &part, const ClusterModel &cluster,
                     const SearchOptions &options);

  /// Takes what others found since they knew what this knows.
  void merge(const PartAnswers &others);

  /// Answers that were not known before.
  size_t countSearched() const { return known.size(); }

private:
  /// What is known of meshes of one shape.
  struct Mesh {
    Mesh(const MeshShape &shape, const ClusterModel &cluster)
        : shape(shape), cluster(cluster), prices(this->shape, this->cluster) {}

    MeshShape shape;
    ClusterModel cluster;
    MeshPrices prices;
    FormTables tables;
  };
  struct Question {
    MeshShape mesh;
    std::shared_ptr<const FunctionGraph> function; ///< of which the problem is
    ShardingProblem problem;
  };
  struct Known {
    std::shared_ptr<const Question> question;
    SearchOptions options;
    ShardingAnswer answer;
  };
  Mesh &getMesh(const MeshShape &shape, const ClusterModel &cluster);
  static std::optional<ShardingAnswer> adapt(const Known &known, const SearchOptions &options);

  std::list<Mesh> meshes;
  std::vector<std::shared_ptr<const Known>> known;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_PARTANSWERS_H

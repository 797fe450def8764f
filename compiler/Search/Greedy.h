//===- Greedy.h - the greedy choice's state ---------------------*- C++ -*-===//
//
// Private to GreedyChoice.cpp (the batch, heads, and what all share), GreedyExperts.cpp and
// GreedyWeights.cpp (products with weights, tables). The method: GreedyChoice.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_GREEDY_H
#define WEFT_COMPILER_SEARCH_GREEDY_H

#include "compiler/Search/ExpertDims.h"
#include "compiler/Search/GreedyChoice.h"
#include "compiler/Search/SplitObstacles.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace weft {

/// Where a node may be split along its weight.
struct WeightSplit {
  unsigned weightDim;
  unsigned result, resultDim; ///< of columns: the result's dimension
};

/// A place that does not follow the experts of a product.
struct UnsplitDim {
  TensorDim place;
  size_t product;
  const char *reason;
};

class Greedy {
public:
  using Node = ShardingGraph::Node;
  using Tensor = ShardingGraph::Tensor;

  Greedy(const ShardingGraph &graph, const MeshShape &mesh, llvm::ArrayRef<unsigned> weightIds,
         Propagation &shardings);

  void chooseBatch(unsigned axis);
  void chooseHeads(unsigned axis);
  void prepareExperts(llvm::ArrayRef<unsigned> axes);
  void propagatePinnedExperts();
  void chooseExperts(unsigned axis);
  void chooseProducts(unsigned axis);
  void chooseTables(unsigned axis);
  std::vector<Choice> take();
  std::vector<Refusal> takeRefusals();

private:
  bool splitHeads(const Node &node, unsigned axis);
  AxisList headsAxes(const Node &node, unsigned dim, AxisRef axis) const;
  std::optional<unsigned> headsDim(const Node &node) const;
  const AxisList &axesOf(const ExpertProduct &product) const;
  void propagateExperts(const ExpertProduct &product);
  void recordUnsplit();
  Propagation withoutWeights(llvm::ArrayRef<unsigned> axes) const;
  llvm::SmallVector<std::pair<unsigned, AxisRef>, 2> batchSplits(unsigned axis,
                                                                 const Propagation &values) const;

  bool splitColumns(const Node &node, unsigned weight, AxisRef axis);
  bool splitWithCommunication(const Node &node, unsigned weight, AxisRef axis);
  bool splitTable(const Node &node, AxisRef axis);

  bool usesAxis(const Node &node, unsigned axis) const;
  std::optional<unsigned> contractedWeight(const Node &node) const;
  llvm::SmallVector<WeightSplit, 2> columnSplits(const Node &node, unsigned weight,
                                                 AxisRef axis) const;
  llvm::SmallVector<AxisRef, 8> partsOf(unsigned axis) const;
  const SplitObstacles &obstaclesFor(int64_t count);
  bool shortens(unsigned tensor, unsigned dim, AxisRef axis) const;
  int64_t savedBytes(unsigned tensor, unsigned dim, AxisRef axis) const;
  std::optional<AxisRef> partElsewhere(unsigned load, unsigned dim, unsigned axis) const;
  int64_t localBytes(unsigned tensor) const;
  bool seed(unsigned tensor, unsigned dim, AxisRef axis, std::string reason, int64_t bytes = 0,
            int64_t unit = 1);
  bool seedStorage(unsigned tensor, unsigned dim, AxisRef axis, std::string reason, int64_t bytes);
  void pinCurrent(unsigned tensor, std::string reason);
  std::string describeChoice(AxisRef axis, const std::string &reason) const {
    return mesh.axes[axis.axis].name + ": " + reason;
  }
  void pinCoOperands(const Node &node);
  unsigned loadBehind(unsigned tensor) const;
  llvm::ArrayRef<unsigned> loadsOfSameWeight(unsigned tensor) const;
  llvm::SmallVector<unsigned, 2> readersOf(unsigned load) const;
  llvm::SmallVector<unsigned, 2> otherUnsplitLoads(unsigned load, AxisRef axis) const;
  int64_t otherLoadsCost(unsigned load, AxisRef axis) const;
  void seedOtherLoads(unsigned load, AxisRef axis);
  Choice &record(unsigned tensor, bool storage, std::string reason, int64_t bytes);
  void refuse(unsigned weight, AxisRef axis, std::string reason);

  const ShardingGraph &graph;
  const MeshShape &mesh;
  llvm::ArrayRef<unsigned> weightIds;
  Propagation &shardings;
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned, 1>> loads; ///< by weight
  BatchDimensions batch;
  ExpertDims experts;
  std::vector<UnsplitDim> unsplit;
  std::map<int64_t, SplitObstacles> obstacles; ///< by number of blocks
  std::vector<Choice> choices;
  std::vector<Refusal> refusals;
  llvm::DenseMap<unsigned, size_t> chosen; ///< tensors to their choices
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_GREEDY_H

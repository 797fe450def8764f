//===- ShardingGraph.h - a graph of factor rules ----------------*- C++ -*-===//
//
// What sharding algorithms see of a program: tensors with their sizes, and nodes that join them by
// factor rules. Nodes are in topological order. FunctionGraph.h builds one from a function.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_SHARDINGGRAPH_H
#define WEFT_COMPILER_SHARDING_SHARDINGGRAPH_H

#include "compiler/Sharding/FactorSharding.h"
#include <vector>

namespace weft {

struct ShardingGraph {
  static constexpr unsigned none = ~0u;

  struct Tensor {
    llvm::SmallVector<int64_t, 4> shape;
    int64_t elementBytes = 4;
    bool input = false;    ///< an argument of the program
    bool handed = false;   ///< of inputs: made by another part of the model, on other devices
    int64_t batchDim = 0;  ///< of inputs: the dimension that may be the batch; -1: none
    bool integral = false; ///< of integers: token ids, labels, positions, masks
    bool output = false;   ///< a result of the program
    bool weight = false;   ///< a weight, or a view of one
    bool varying = false;  ///< depends on an input
    unsigned producer = none;
    llvm::SmallVector<unsigned, 2> users; ///< nodes, each once

    int64_t bytes() const;
    bool operator==(const Tensor &) const = default;
  };

  struct Node {
    FactorRule rule;
    llvm::SmallVector<unsigned, 3> operands, results; ///< tensors, in the rule's order
    bool view = false; ///< moves elements only: of a weight it makes a weight
  };

  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  /// Axes that carry the batch: what is split by them stays so, whatever a join would save.
  AxisList batchAxes;

  unsigned addTensor(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
  unsigned addInput(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
  unsigned addWeight(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
  /// Adds a node that makes `results`, which no earlier node makes.
  unsigned addNode(FactorRule rule, llvm::ArrayRef<unsigned> operands,
                   llvm::ArrayRef<unsigned> results, bool view = false);

  /// The node's tensors, operands first: the order in which resolveFactors takes them.
  llvm::SmallVector<unsigned, 4> tensorsOf(const Node &node) const;
  /// The factors of the node's tensor number `index` in that order.
  static const TensorFactors &factorsOf(const Node &node, unsigned index);
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_SHARDINGGRAPH_H

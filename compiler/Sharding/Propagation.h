//===- Propagation.h - shardings spread through a graph ---------*- C++ -*-===//
//
// Spreads the shardings of some tensors to the others, forwards and backwards, through the factors
// of the nodes between them (as GSPMD and Shardy do). Nodes that only compute element by element or
// move elements go first: what they say is rarely wrong; reductions and products follow.
//
// Worked example (PropagationTest.cpp): h = exp(dot(x, up)), y = dot(h, down), and up is pinned by
// columns, [{}, {model}].
//
//   dot(x, up)     n = {model}    its result grows to [{}, {model}]
//   exp            follows        h grows to [{}, {model}]
//   dot(h, down)   k = {model}    down grows to [{model}, {}]; y stays whole: sums are reduced
//
// A tensor's sharding only ever grows at the end of a dimension's list, so that a fixpoint is
// reached after at most one visit of a node for each axis and dimension of its tensors: the time is
// linear in the graph. Pins do not change. Where two wishes meet, resolveFactors decides, in an
// order that depends on the graph alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PROPAGATION_H
#define WEFT_COMPILER_SHARDING_PROPAGATION_H

#include "compiler/Sharding/ShardingGraph.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace weft {

class Propagation {
public:
  /// One step of a tensor's sharding: `axes` were added to its dimension `dim`.
  struct Growth {
    unsigned tensor, dim;
    AxisList axes;
    unsigned node = ShardingGraph::none; ///< the node that brought them; none for a seed
    unsigned from = ShardingGraph::none; ///< the tensor of that node that had them
  };

  explicit Propagation(const ShardingGraph &graph);

  /// Gives a tensor its sharding for good.
  void pin(unsigned tensor, const TensorSharding &sharding);
  /// Adds axes to a dimension of a tensor that is not pinned, and reports whether all could be
  /// added: they must be unused in the tensor and divide the dimension, or leave shorter blocks,
  /// which are padded (multiples of `unit`). What is split already is not divided anew: further
  /// axes must divide its blocks.
  bool seed(unsigned tensor, unsigned dim, llvm::ArrayRef<AxisRef> axes, int64_t unit = 1);
  /// Keeps a dimension of a tensor from being split by these axes.
  void close(unsigned tensor, unsigned dim, llvm::ArrayRef<AxisRef> axes);
  /// Propagates what was given since the last call.
  void run();

  const TensorSharding &get(unsigned tensor) const { return shardings[tensor]; }
  bool isPinned(unsigned tensor) const { return pinned[tensor]; }
  /// How shardings came to be, in order.
  llvm::ArrayRef<Growth> history() const { return growths; }

  /// The split of a node, given how its tensors lie; while propagating, tensors that are not pinned
  /// may still follow.
  FactorAxes resolve(unsigned node, bool settled = true) const;

private:
  void visit(unsigned node);
  bool grow(unsigned tensor, unsigned dim, llvm::ArrayRef<AxisRef> axes, int64_t unit,
            Growth reason);
  bool canSplit(unsigned tensor, unsigned dim, llvm::ArrayRef<AxisRef> axes, int64_t unit) const;
  void touch(unsigned tensor);
  void enqueue(unsigned node);
  unsigned sourceOf(unsigned node, unsigned target, llvm::ArrayRef<AxisRef> axes) const;

  const ShardingGraph &graph;
  std::vector<TensorSharding> shardings;
  std::vector<bool> pinned, queued;
  llvm::DenseMap<std::pair<unsigned, unsigned>, AxisList> closed; ///< by tensor and dimension
  std::vector<Growth> growths;
  std::deque<unsigned> queues[2]; ///< nodes to visit: elementwise and moving ones, others
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PROPAGATION_H

//===- BatchDimensions.h - which dimensions are the batch -------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_BATCHDIMENSIONS_H
#define WEFT_COMPILER_SHARDING_BATCHDIMENSIONS_H

#include "compiler/Sharding/ShardingGraph.h"
#include "llvm/ADT/BitVector.h"

namespace weft {

/// The batch: a dimension of the inputs, 0 of a model's (of those of its size, where weights may be
/// among them), and what comes of it through leading parallel factors.
class BatchDimensions {
public:
  explicit BatchDimensions(const ShardingGraph &graph);

  /// Elements of the batch: of that dimension of the first input that has more than one. Where
  /// weights come as inputs, those of integers, which weights are not, go first. 0 if there is
  /// none.
  int64_t size() const { return batchSize; }
  /// Whether the tensor is an input whose dimension for it is of that size.
  bool isBatchInput(const ShardingGraph::Tensor &tensor) const {
    return hasBatchDim(tensor) && tensor.shape[tensor.batchDim] == batchSize;
  }
  bool has(unsigned tensor, unsigned dim) const { return dims[tensor].test(dim); }
  /// By tensor.
  const std::vector<llvm::BitVector> &all() const { return dims; }

private:
  int64_t findSize() const;
  void propagate();
  bool propagateStores();

  bool hasBatchDim(const ShardingGraph::Tensor &tensor) const;

  const ShardingGraph &graph;
  bool weightsKnown; ///< or else they may be among the inputs
  int64_t batchSize;
  std::vector<llvm::BitVector> dims;
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_BATCHDIMENSIONS_H

#include "compiler/Sharding/BatchDimensions.h"

#include "compiler/Sharding/FactorDims.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;
using Tensor = ShardingGraph::Tensor;

BatchDimensions::BatchDimensions(const ShardingGraph &graph)
    : graph(graph),
      weightsKnown(llvm::any_of(graph.tensors, [](const Tensor &tensor) { return tensor.weight; })),
      batchSize(findSize()) {
  dims.reserve(graph.tensors.size());
  for (const Tensor &tensor : graph.tensors) {
    dims.emplace_back(tensor.shape.size());
    if (hasBatchDim(tensor) && (weightsKnown || tensor.shape[tensor.batchDim] == batchSize))
      dims.back().set(tensor.batchDim);
  }
  propagate();
  if (propagateStores()) // loads of states came before what is stored
    propagate();
}

/// Whether the tensor is an input that has a dimension for it.
bool BatchDimensions::hasBatchDim(const Tensor &tensor) const {
  return tensor.input && tensor.batchDim >= 0 &&
         tensor.batchDim < static_cast<int64_t>(tensor.shape.size());
}

int64_t BatchDimensions::findSize() const {
  auto sizeOf = [&](auto isCandidate) -> int64_t {
    auto found = llvm::find_if(graph.tensors, [&](const Tensor &tensor) {
      return hasBatchDim(tensor) && isCandidate(tensor);
    });
    return found == graph.tensors.end() ? 0 : found->shape[found->batchDim];
  };
  int64_t ofIntegers =
      weightsKnown ? 0 : sizeOf([](const Tensor &tensor) { return tensor.integral; });
  return ofIntegers ? ofIntegers
                    : sizeOf([](const Tensor &tensor) { return tensor.shape.size() > 1; });
}

void BatchDimensions::propagate() {
  for (const ShardingGraph::Node &node : graph.nodes)
    for (auto [tensor, factors] : llvm::zip_equal(node.operands, node.rule.operands))
      for (unsigned dim : dims[tensor].set_bits()) {
        unsigned factor = leadingFactor(node.rule, factors[dim]);
        if (factor == ShardingGraph::none || node.rule.factors[factor].kind != FactorKind::Parallel)
          continue;
        for (auto [result, resultFactors] : llvm::zip_equal(node.results, node.rule.results))
          if (std::optional<unsigned> led = dimLedBy(node.rule, resultFactors, factor))
            dims[result].set(*led);
      }
}

/// What is stored tells of the batch of the state that the step begins with. Whether any does.
bool BatchDimensions::propagateStores() {
  bool any = false;
  for (const ShardingGraph::Node &node : graph.nodes)
    for (unsigned tensor : node.results.empty() ? ArrayRef(node.operands) : ArrayRef<unsigned>()) {
      any = true;
      dims[tensor] |= dims[node.operands.back()];
    }
  return any;
}

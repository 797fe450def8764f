#include "compiler/Sharding/ShardingGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;

int64_t ShardingGraph::Tensor::bytes() const {
  int64_t count = elementBytes;
  for (int64_t size : shape)
    count *= size;
  return count;
}

unsigned ShardingGraph::addTensor(ArrayRef<int64_t> shape, int64_t elementBytes) {
  Tensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.elementBytes = elementBytes;
  tensors.push_back(std::move(tensor));
  return tensors.size() - 1;
}

unsigned ShardingGraph::addInput(ArrayRef<int64_t> shape, int64_t elementBytes) {
  unsigned index = addTensor(shape, elementBytes);
  tensors[index].input = tensors[index].varying = true;
  return index;
}

unsigned ShardingGraph::addWeight(ArrayRef<int64_t> shape, int64_t elementBytes) {
  unsigned index = addTensor(shape, elementBytes);
  tensors[index].weight = true;
  return index;
}

unsigned ShardingGraph::addNode(FactorRule rule, ArrayRef<unsigned> operands,
                                ArrayRef<unsigned> results, bool view) {
  unsigned index = nodes.size();
  for (unsigned operand : operands)
    if (auto &users = tensors[operand].users; users.empty() || users.back() != index)
      users.push_back(index);
  bool varying = llvm::any_of(operands, [&](unsigned t) { return tensors[t].varying; });
  bool weight = view && operands.size() == 1 && tensors[operands.front()].weight;
  for (unsigned result : results) {
    tensors[result].producer = index;
    tensors[result].varying = varying;
    tensors[result].weight |= weight;
  }
  nodes.push_back({std::move(rule),
                   {operands.begin(), operands.end()},
                   {results.begin(), results.end()},
                   view});
  return index;
}

llvm::SmallVector<unsigned, 4> ShardingGraph::tensorsOf(const Node &node) const {
  llvm::SmallVector<unsigned, 4> all(node.operands.begin(), node.operands.end());
  all.append(node.results.begin(), node.results.end());
  return all;
}

const TensorFactors &ShardingGraph::factorsOf(const Node &node, unsigned index) {
  return index < node.operands.size() ? node.rule.operands[index]
                                      : node.rule.results[index - node.operands.size()];
}

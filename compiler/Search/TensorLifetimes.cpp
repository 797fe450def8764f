#include "compiler/Search/TensorLifetimes.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace weft;

TensorLifetimes::TensorLifetimes(const ShardingProblem &problem)
    : problem(problem), graph(*problem.graph) {
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    moments.push_back(index);
    if (problem.isEager.empty() || !problem.isEager[index])
      continue;
    moments.back() = 0;
    for (unsigned operand : node.operands)
      if (unsigned producer = graph.tensors[operand].producer; producer != ShardingGraph::none)
        moments.back() = std::max(moments.back(), moments[producer]);
  }
  for (auto [number, tensor] : llvm::enumerate(graph.tensors)) {
    bool isMade =
        tensor.producer != ShardingGraph::none && !graph.nodes[tensor.producer].operands.empty();
    // A sum over microbatches is there from the first of them on.
    bool isSum = isMade && !problem.isEager.empty() && problem.isEager[tensor.producer];
    begins.push_back(isMade && !isSum ? moments[tensor.producer] : 0);
    ends.push_back(problem.isReturned[number] ? graph.nodes.size() : begins.back());
    for (unsigned user : tensor.users)
      ends.back() = std::max(ends.back(), moments[user]);
  }
}

std::vector<double> TensorLifetimes::getLiveBytes() const {
  std::vector<double> bytes(graph.nodes.size() + 2);
  for (auto [number, tensor] : llvm::enumerate(graph.tensors)) {
    if (isCarried(number))
      continue;
    bytes[begins[number]] += static_cast<double>(tensor.bytes());
    bytes[ends[number] + 1] -= static_cast<double>(tensor.bytes());
  }
  for (size_t moment = 1; moment < bytes.size(); ++moment)
    bytes[moment] += bytes[moment - 1];
  bytes.resize(graph.nodes.size());
  return bytes;
}

size_t TensorLifetimes::findPeak() const {
  std::vector<double> bytes = getLiveBytes();
  return std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
}

#include "compiler/Search/TensorLifetimes.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace weft;

/// Whether a node that waits for nothing makes numbers alone, such as a step's learning rate: what
/// reads them need not wait for them.
bool TensorLifetimes::isScalar(unsigned node) const {
  return !problem.isEager.empty() && problem.isEager[node] &&
         llvm::all_of(graph.nodes[node].results,
                      [&](unsigned tensor) { return graph.tensors[tensor].shape.empty(); });
}

void TensorLifetimes::findMoments() {
  std::vector<unsigned>
      behind; // by node: of those that are computed in order, the one it waits for
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    std::optional<unsigned> last;
    for (unsigned operand : problem.isEager.empty() || !problem.isEager[index]
                                ? llvm::ArrayRef<unsigned>()
                                : llvm::ArrayRef<unsigned>(node.operands))
      if (isMade(operand))
        last = std::max(last.value_or(0), behind[graph.tensors[operand].producer]);
    behind.push_back(last.value_or(isScalar(index) ? 0 : index));
  }
  std::vector<unsigned> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(behind[a], a) < std::pair(behind[b], b);
  });
  moments.resize(order.size());
  for (auto [moment, node] : llvm::enumerate(order))
    moments[node] = moment;
}

/// Whether a tensor is made of something, not an input or loaded.
bool TensorLifetimes::isMade(unsigned tensor) const {
  unsigned producer = graph.tensors[tensor].producer;
  return producer != ShardingGraph::none && !graph.nodes[producer].operands.empty();
}

TensorLifetimes::TensorLifetimes(const ShardingProblem &problem)
    : problem(problem), graph(*problem.graph) {
  findMoments();
  for (auto [number, tensor] : llvm::enumerate(graph.tensors)) {
    bool isSum = isMade(number) && !problem.isSum.empty() && problem.isSum[tensor.producer];
    begins.push_back(isMade(number) && !isSum ? moments[tensor.producer] : 0);
    ends.push_back(problem.isReturned[number] ? graph.nodes.size() : begins.back());
    for (unsigned user : tensor.users)
      ends.back() = std::max(ends.back(), moments[user]);
  }
}

std::vector<double> TensorLifetimes::getLiveBytes() const {
  std::vector<double> bytes(graph.nodes.size() + 2);
  for (auto [number, tensor] : llvm::enumerate(graph.tensors)) {
    if (isPlaceless(number))
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

#include "compiler/Search/FoldNodes.h"

#include "llvm/ADT/STLExtras.h"
#include <unordered_map>

using namespace weft;
using llvm::ArrayRef;

/// Hashes that do not depend on the process.
static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9ull;
  return mixed ^ (mixed >> 31);
}

/// What a tensor that no node makes is known by.
static uint64_t describeLeaf(const ShardingGraph::Tensor &tensor) {
  uint64_t hash = mix(tensor.input, tensor.weight);
  for (int64_t size : tensor.shape)
    hash = mix(hash, size);
  return mix(hash, tensor.elementBytes);
}

static std::vector<uint64_t> refine(const ShardingGraph &graph, ArrayRef<uint64_t> colors) {
  std::vector<uint64_t> next;
  next.reserve(colors.size());
  std::vector<uint64_t> users, operands;
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    uint64_t color = colors[index];
    operands.clear();
    for (unsigned operand : node.operands) {
      const ShardingGraph::Tensor &tensor = graph.tensors[operand];
      operands.push_back(tensor.producer == ShardingGraph::none ? describeLeaf(tensor)
                                                                : colors[tensor.producer]);
    }
    if (node.results.empty() && !operands.empty()) // a store: loads in no order, then a value
      std::sort(operands.begin(), operands.end() - 1);
    for (uint64_t operand : operands)
      color = mix(color, operand);
    for (unsigned result : node.results) {
      users.clear();
      for (unsigned user : graph.tensors[result].users)
        users.push_back(colors[user]);
      llvm::sort(users);
      color = mix(color, graph.tensors[result].output);
      for (uint64_t user : llvm::make_range(users.begin(), llvm::unique(users)))
        color = mix(color, user);
    }
    next.push_back(color);
  }
  return next;
}

std::vector<uint64_t> weft::colorNodes(const ShardingGraph &graph, ArrayRef<uint64_t> kinds,
                                       unsigned steps) {
  std::vector<uint64_t> colors = kinds.vec();
  for (unsigned step = 0; step < steps; ++step)
    colors = refine(graph, colors);
  return colors;
}

std::vector<unsigned> weft::numberColors(ArrayRef<uint64_t> colors) {
  std::unordered_map<uint64_t, unsigned> numbers;
  std::vector<unsigned> classes;
  classes.reserve(colors.size());
  for (uint64_t color : colors)
    classes.push_back(numbers.try_emplace(color, numbers.size()).first->second);
  return classes;
}

std::vector<unsigned> weft::foldNodes(const ShardingGraph &graph, ArrayRef<uint64_t> kinds,
                                      unsigned steps) {
  return numberColors(colorNodes(graph, kinds, steps));
}

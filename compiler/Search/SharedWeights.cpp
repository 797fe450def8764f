// Weights that several operations read: one block for those that read the same, others besides.

#include "compiler/Search/Searcher.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace weft;
using llvm::ArrayRef;

/// The load that a weight, or a view of it, comes from.
static unsigned findLoad(const ShardingGraph &graph, unsigned tensor) {
  unsigned producer = graph.tensors[tensor].producer;
  while (producer != ShardingGraph::none && !graph.nodes[producer].operands.empty()) {
    tensor = graph.nodes[producer].operands.front();
    producer = graph.tensors[tensor].producer;
  }
  return tensor;
}

/// The block of the weight that is read where a tensor, the weight or a view of it, is taken in a
/// form; none where it is no block.
std::optional<TensorSharding> Searcher::findBlock(unsigned tensor, unsigned form) {
  TensorSharding block = tableOf(tensor).get(form);
  for (unsigned producer = graph.tensors[tensor].producer;
       producer != ShardingGraph::none && graph.nodes[producer].operands.size() == 1;
       producer = graph.tensors[tensor].producer) {
    const ShardingGraph::Node &node = graph.nodes[producer];
    ToFactors read = projectToFactors(node.rule, node.rule.results.front(), block);
    if (!read.exact)
      return std::nullopt;
    block = factorsToSharding(node.rule, node.rule.operands.front(), read.axes).sharding;
    tensor = node.operands.front();
  }
  return block;
}

/// Weights of equal layers are held alike: of those whose readers are the same.
void Searcher::addBlock(ArrayRef<unsigned> tensors) {
  std::vector<unsigned> key;
  std::vector<SharedRead> readers;
  for (unsigned tensor : tensors)
    for (unsigned user : graph.tensors[tensor].users)
      for (auto [slot, operand] : llvm::enumerate(graph.nodes[user].operands))
        if (unsigned variable = operationOf[classes[user]];
            operand == tensor && variable != ShardingGraph::none) {
          readers.push_back(
              {{variable, static_cast<unsigned>(slot)}, /*block=*/0, tensor, getCount(user)});
          key.push_back(classes[user]);
        }
  if (readers.empty())
    return;
  unsigned whole = findLoad(graph, readers.front().tensor);
  auto [entry, isNew] = blocks.try_emplace(key, variables.size());
  if (isNew) {
    std::vector<unsigned> forms;
    for (const SharedRead &read : readers)
      for (unsigned form : variables[read.reader.variable].forms[read.reader.slot])
        if (std::optional<TensorSharding> block = findBlock(read.tensor, form))
          forms.push_back(tableOf(whole).add(*block));
    llvm::sort(forms);
    forms.erase(llvm::unique(forms), forms.end());
    addTensor(whole, std::move(forms));
  }
  StrategyVariable &variable = variables[entry->second];
  for (auto [seconds, form] : llvm::zip_equal(variable.seconds, variable.forms.front()))
    seconds += getCount(graph.tensors[whole].producer) * options.weightSeconds *
               tableOf(whole).getBytes(form);
  for (SharedRead &read : readers) {
    read.block = entry->second;
    auto [known, isFirst] = sharedReads.try_emplace({read.reader, read.block}, read);
    if (!isFirst)
      known->second.times += read.times;
  }
}

void Searcher::addShared() {
  if (options.weightSeconds > 0)
    for (ArrayRef<unsigned> tensors : problem.shared)
      addBlock(tensors);
}

/// Adds what other blocks cost to a table, row-major over the reader's strategies.
void Searcher::addSharedRead(const SharedRead &read, std::vector<int64_t> &table) {
  ArrayRef<unsigned> taken = variables[read.reader.variable].forms[read.reader.slot];
  const StrategyVariable &block = variables[read.block];
  FormTable &blocks = tableOf(findLoad(graph, read.tensor));
  for (unsigned row = 0; row < taken.size(); ++row) {
    std::optional<TensorSharding> own = findBlock(read.tensor, taken[row]);
    double bytes = tableOf(read.tensor).getBytes(taken[row]);
    auto other = std::llround(read.times * options.weightSeconds * bytes * unitsPerSecond);
    for (unsigned column = 0; column < block.seconds.size(); ++column) {
      int64_t &entry = table[row * block.seconds.size() + column];
      bool isSame = own && *own == blocks.get(block.forms.front()[column]);
      if (!isSame && entry < solver::forbidden)
        entry += other;
    }
  }
}

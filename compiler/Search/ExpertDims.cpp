#include "compiler/Search/ExpertDims.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using Node = ShardingGraph::Node;

static bool isParallel(const FactorRule &rule, unsigned factor) {
  return rule.factors[factor].kind == FactorKind::Parallel;
}

/// The places of `tensors` that the factor leads.
static llvm::SmallVector<TensorDim, 2> ledBy(const FactorRule &rule, unsigned factor,
                                             llvm::ArrayRef<unsigned> tensors,
                                             llvm::ArrayRef<TensorFactors> factorsOfTensors) {
  llvm::SmallVector<TensorDim, 2> places;
  for (auto [tensor, factors] : llvm::zip_equal(tensors, factorsOfTensors))
    if (std::optional<unsigned> dim = dimLedBy(rule, factors, factor))
      places.push_back({tensor, *dim});
  return places;
}

static llvm::SmallVector<TensorDim, 2> resultsLedBy(const Node &node, unsigned factor) {
  return ledBy(node.rule, factor, node.results, node.rule.results);
}

static llvm::SmallVector<TensorDim, 2> operandsLedBy(const Node &node, unsigned factor) {
  return ledBy(node.rule, factor, node.operands, node.rule.operands);
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

ExpertDims::ExpertDims(const ShardingGraph &graph, const std::vector<llvm::BitVector> &batch)
    : graph(graph) {
  for (const ShardingGraph::Tensor &tensor : graph.tensors) {
    experts.emplace_back(tensor.shape.size());
    reducedElsewhere.emplace_back(tensor.shape.size());
  }
  findProducts(batch);
  if (!found.empty())
    findReducedElsewhere();
}

/// The weight's place of experts in a product with a weight; none if the node is no such product.
static std::optional<ExpertProduct> productOfExperts(const ShardingGraph &graph, unsigned index) {
  const Node &node = graph.nodes[index];
  bool contracts = llvm::any_of(llvm::enumerate(node.rule.factors), [&](const auto &entry) {
    return entry.value().kind == FactorKind::Reduction &&
           operandsLedBy(node, entry.index()).size() > 1;
  });
  if (!contracts || node.results.size() != 1)
    return std::nullopt;
  for (auto [factor, description] : llvm::enumerate(node.rule.factors)) {
    if (description.kind != FactorKind::Parallel || description.size == 1)
      continue;
    llvm::SmallVector<TensorDim, 2> operands = operandsLedBy(node, factor),
                                    results = resultsLedBy(node, factor);
    if (operands.size() != 2 || results.empty())
      continue;
    for (auto [input, weight] : {std::pair(0, 1), std::pair(1, 0)})
      if (graph.tensors[operands[weight].first].weight &&
          graph.tensors[operands[input].first].varying)
        return ExpertProduct{index, operands[weight], operands[input], results.front()};
  }
  return std::nullopt;
}

void ExpertDims::findProducts(const std::vector<llvm::BitVector> &batch) {
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    std::optional<ExpertProduct> product = productOfExperts(graph, index);
    if (product && !batch[product->result.first].test(product->result.second)) {
      found.push_back(*product);
      experts[product->result.first].set(product->result.second);
    }
    for (auto [operand, factors] : llvm::zip_equal(node.operands, node.rule.operands))
      for (unsigned dim : experts[operand].set_bits())
        if (unsigned factor = leadingFactor(node.rule, factors[dim]);
            factor != ShardingGraph::none && isParallel(node.rule, factor))
          for (auto [tensor, at] : resultsLedBy(node, factor))
            experts[tensor].set(at);
  }
}

bool ExpertDims::isReducedElsewhere(const Node &node, unsigned operand, unsigned dim) const {
  unsigned factor = leadingFactor(node.rule, node.rule.operands[operand][dim]);
  if (factor == ShardingGraph::none)
    return false;
  if (!isParallel(node.rule, factor))
    return llvm::none_of(operandsLedBy(node, factor),
                         [&](TensorDim place) { return isExpert(place); });
  llvm::SmallVector<TensorDim, 2> results = resultsLedBy(node, factor);
  return results.empty() || llvm::any_of(results, [&](TensorDim place) {
           return !isExpert(place) && reducedElsewhere[place.first].test(place.second);
         });
}

void ExpertDims::findReducedElsewhere() {
  for (const Node &node : llvm::reverse(graph.nodes))
    for (auto [operand, tensor] : llvm::enumerate(node.operands))
      for (unsigned dim = 0; dim < reducedElsewhere[tensor].size(); ++dim)
        if (isReducedElsewhere(node, operand, dim))
          reducedElsewhere[tensor].set(dim);
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

std::optional<llvm::SmallVector<ExpertCombine, 1>>
ExpertDims::combinesOf(const ExpertProduct &product) const {
  llvm::SmallVector<ExpertCombine, 1> combines;
  TensorDims places;
  places.insert(product.result);
  for (size_t next = 0; next < places.size(); ++next) {
    auto [tensor, dim] = places[next];
    for (unsigned user : graph.tensors[tensor].users) {
      const Node &node = graph.nodes[user];
      size_t operand = llvm::find(node.operands, tensor) - node.operands.begin();
      unsigned factor = leadingFactor(node.rule, node.rule.operands[operand][dim]);
      if (factor == ShardingGraph::none)
        continue;
      if (isParallel(node.rule, factor)) {
        places.insert_range(resultsLedBy(node, factor));
        continue;
      }
      if (node.rule.factors[factor].kind != FactorKind::Reduction)
        return std::nullopt;
      ExpertCombine &combine = combines.emplace_back(ExpertCombine{{tensor, dim}, {}});
      for (TensorDim place : operandsLedBy(node, factor))
        if (!isExpert(place) && graph.tensors[place.first].varying)
          combine.gates.insert(place);
    }
  }
  return combines;
}

/// The places of the producer's operands from which a place is computed.
TensorDims ExpertDims::sourcesOf(TensorDim place) const {
  TensorDims sources;
  auto [tensor, dim] = place;
  if (graph.tensors[tensor].producer == ShardingGraph::none)
    return sources;
  const Node &node = graph.nodes[graph.tensors[tensor].producer];
  size_t result = llvm::find(node.results, tensor) - node.results.begin();
  unsigned factor = leadingFactor(node.rule, node.rule.results[result][dim]);
  if (factor != ShardingGraph::none)
    sources.insert_range(operandsLedBy(node, factor));
  return sources;
}

TensorDims ExpertDims::dispatchMasksOf(const ExpertProduct &product) const {
  TensorDims sources = sourcesOf(product.input);
  while (sources.size() == 1) {
    unsigned tensor = sources.front().first;
    bool isView = graph.tensors[tensor].users.size() == 1 &&
                  graph.nodes[graph.tensors[tensor].users.front()].operands.size() == 1;
    if (!isView)
      break;
    sources = sourcesOf(sources.front());
  }
  return sources;
}

TensorDims ExpertDims::reducedSources(TensorDim start) const {
  TensorDims places, whole;
  places.insert(start);
  for (size_t next = 0; next < places.size(); ++next) {
    auto [tensor, dim] = places[next];
    if (!graph.tensors[tensor].varying || isExpert(places[next]))
      continue;
    if (reducedElsewhere[tensor].test(dim))
      whole.insert({tensor, dim});
    else
      places.insert_range(sourcesOf({tensor, dim}));
  }
  return whole;
}

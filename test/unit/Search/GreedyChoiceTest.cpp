#include "compiler/Search/GreedyChoice.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace weft;

namespace {
const MeshShape mesh{"mesh", {{"data", 2}, {"model", 2}}};
const AxisRef data = fullAxis(mesh, 0), model = fullAxis(mesh, 1);

/// Builds networks of the kinds of nodes that matter.
struct Network {
  ShardingGraph graph;
  std::vector<unsigned> weightIds;

  unsigned input(llvm::ArrayRef<int64_t> shape) { return graph.addInput(shape, 4); }

  unsigned pointwise(llvm::ArrayRef<unsigned> operands, bool lastWhole = false) {
    llvm::SmallVector<int64_t, 4> shape = graph.tensors[operands[0]].shape;
    FactorRule rule;
    TensorFactors factors;
    for (auto [dim, size] : llvm::enumerate(shape))
      factors.push_back({rule.add("d", size,
                                  lastWhole && dim + 1 == shape.size() ? FactorKind::Replicated
                                                                       : FactorKind::Parallel)});
    rule.operands.assign(operands.size(), factors);
    rule.results = {factors};
    unsigned result = graph.addTensor(shape, 4);
    graph.addNode(rule, operands, {result});
    return result;
  }

  /// x [b, s, k] times a weight [k, n].
  unsigned product(unsigned x, int64_t n) {
    const auto shape = graph.tensors[x].shape;
    FactorRule rule;
    unsigned b = rule.add("b", shape[0]), s = rule.add("s", shape[1]),
             k = rule.add("k", shape[2], FactorKind::Reduction), f = rule.add("n", n);
    rule.operands = {{{b}, {s}, {k}}, {{k}, {f}}};
    rule.results = {{{b}, {s}, {f}}};
    unsigned weight = graph.addWeight({shape[2], n}, 4);
    unsigned result = graph.addTensor({shape[0], shape[1], n}, 4);
    graph.addNode(rule, {x, weight}, {result});
    return result;
  }

  std::vector<Choice> choose(Propagation &shardings, std::vector<Refusal> *refusals = nullptr) {
    weightIds.resize(graph.tensors.size(), ShardingGraph::none);
    return chooseShardings(graph, mesh, {0, 1}, weightIds, shardings, refusals);
  }
};

/// Layers of an MLP behind a normalisation, each added to its input. Returns the number of choices.
size_t stack(int layers, int64_t hidden, std::chrono::duration<double> *time = nullptr) {
  Network network;
  unsigned x = network.input({4, 8, 16});
  for (int layer = 0; layer < layers; ++layer) {
    unsigned h = network.product(network.pointwise({x}, true), hidden);
    for (int i = 0; i < 4; ++i)
      h = network.pointwise({h});
    x = network.pointwise({x, network.product(h, 16)});
  }
  network.pointwise({x}, true);
  Propagation shardings(network.graph);
  auto start = std::chrono::steady_clock::now();
  size_t count = network.choose(shardings).size();
  if (time)
    *time = std::chrono::steady_clock::now() - start;
  return count;
}
} // namespace

TEST_CASE("columns, then rows; the batch for data") {
  Network network;
  unsigned x = network.input({4, 8, 16});
  unsigned up = network.product(network.pointwise({x}, true), 64);
  unsigned down = network.product(network.pointwise({up}), 16);
  network.pointwise({network.pointwise({x, down})}, true);
  Propagation shardings(network.graph);
  std::vector<Choice> choices = network.choose(shardings);
  REQUIRE(choices.size() == 2);
  CHECK(choices[0].tensor == x);
  CHECK(choices[1].tensor == up);
  CHECK(choices[1].sharding.dims == llvm::SmallVector<AxisList, 4>{{data}, {}, {model}});
  CHECK(shardings.get(down).dims == llvm::SmallVector<AxisList, 4>{{data}, {}, {}});
  unsigned downWeight = network.graph.nodes[3].operands[1];
  CHECK(shardings.get(downWeight).dims == llvm::SmallVector<AxisList, 4>{{model}, {}});
}

TEST_CASE("a width that does not divide is padded") {
  Network network;
  unsigned x = network.input({4, 8, 16});
  unsigned up = network.product(network.pointwise({x}, true), 63);
  Propagation shardings(network.graph);
  std::vector<Choice> choices = network.choose(shardings);
  REQUIRE(choices.size() == 2); // the batch, and
  CHECK(shardings.get(up).dims == llvm::SmallVector<AxisList, 4>{{data}, {}, {model}});
  // 32 columns stay of 63.
  CHECK(choices[1].reason ==
        "model: column parallel at no cost: saves 1984 bytes of weight a device");
}

TEST_CASE("columns that are wanted whole are split where that saves more than it moves") {
  for (int64_t tokens : {2, 256}) {
    Network network;
    unsigned x = network.input({4, tokens, 16});
    unsigned y = network.product(x, 16);
    network.pointwise({y}, true);
    Propagation shardings(network.graph);
    std::vector<Refusal> refusals;
    std::vector<Choice> choices = network.choose(shardings, &refusals);
    bool split = tokens == 2;
    REQUIRE(choices.size() == (split ? 3 : 1));
    unsigned weight = network.graph.nodes[0].operands[1];
    REQUIRE(refusals.size() == (split ? 0 : 1)); // what was weighed is kept
    if (!split) {
      CHECK(refusals[0].tensor == weight);
      CHECK(refusals[0].axis == 1);
      // Half of 16·16 floats, against half of a device's 2·256·16.
      CHECK(refusals[0].reason == "columns, joined at once: would save 512 bytes of weight a "
                                  "device, but move 16384 bytes a step");
    }
    CHECK(shardings.get(weight).dims[1] == (split ? AxisList{model} : AxisList{}));
    CHECK(shardings.get(y).dims == llvm::SmallVector<AxisList, 4>{{data}, {}, {}});
  }
}

TEST_CASE(
    "of an axis that does not divide the part is taken that leaves least, the smallest of equals") {
  const MeshShape six{"mesh", {{"model", 6}}};
  for (auto [width, ranks] : {std::pair(64, 6), {3, 3}, {4, 6}, {2, 2}}) {
    Network network;
    unsigned x = network.input({5, 7, 16});
    unsigned up = network.product(network.pointwise({x}, true), width);
    unsigned down = network.product(network.pointwise({up}), 16);
    network.pointwise({down}, true);
    Propagation shardings(network.graph);
    network.weightIds.resize(network.graph.tensors.size(), ShardingGraph::none);
    chooseShardings(network.graph, six, {0}, network.weightIds, shardings);
    AxisList part{{0, 1, ranks}};
    CHECK(shardings.get(up).dims[2] == part);
    CHECK(shardings.get(network.graph.nodes[3].operands[1]).dims[0] == part);
    CHECK(shardings.get(down).isReplicated());
  }
}

TEST_CASE("rows split behind a whole value do not split what it is made of") {
  Network network;
  unsigned x = network.input({4, 2, 64});
  unsigned scaled = network.pointwise({x});
  unsigned y = network.product(scaled, 1); // one column is not split
  Propagation shardings(network.graph);
  network.choose(shardings);
  CHECK(shardings.get(network.graph.nodes[1].operands[1]).dims[0] == AxisList{model});
  for (unsigned tensor : {x, scaled, y})
    CHECK(shardings.get(tensor).dims == llvm::SmallVector<AxisList, 4>{{data}, {}, {}});
}

TEST_CASE("where weights come as inputs, integers tell the batch") {
  for (bool integral : {true, false}) {
    Network network;
    unsigned matrix = network.input({6, 16}), ids = network.input({4, 8}),
             mask = network.input({4, 8});
    network.graph.tensors[ids].integral = integral;
    for (unsigned tensor : {matrix, ids, mask})
      network.pointwise({tensor});
    Propagation shardings(network.graph);
    network.choose(shardings);
    CHECK(shardings.get(matrix).dims[0] == (integral ? AxisList{} : AxisList{data}));
    for (unsigned tensor : {ids, mask})
      CHECK(shardings.get(tensor).dims[0] == (integral ? AxisList{data} : AxisList{}));
  }
}

TEST_CASE("the choice is linear in the graph") {
  std::chrono::duration<double> small{}, large{};
  CHECK(stack(500, 64, &small) == 501);
  CHECK(stack(4000, 64, &large) == 4001);
  CHECK(large.count() < 40 * small.count()); // eight times the nodes
}

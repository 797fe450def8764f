#include "compiler/Sharding/Propagation.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
const MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
const AxisRef data = fullAxis(mesh, 0), model = fullAxis(mesh, 1);
const AxisRef majorHalf{1, 1, 2}, minorHalf{1, 2, 2}; // of model

using Dims = llvm::SmallVector<AxisList, 4>;

TensorSharding split(Dims dims) { return {std::move(dims), {}, ReduceKind::Sum}; }

/// Builds graphs of the kinds of nodes that matter; each function gives the tensor it makes.
struct Network {
  ShardingGraph graph;

  unsigned input(llvm::ArrayRef<int64_t> shape) { return graph.addInput(shape, 4); }

  /// Results of the shape of the operands, which are alike.
  llvm::SmallVector<unsigned, 2> elementwise(llvm::ArrayRef<unsigned> operands, unsigned results,
                                             FactorKind kind = FactorKind::Parallel) {
    const auto shape = graph.tensors[operands[0]].shape;
    FactorRule rule;
    TensorFactors factors;
    for (int64_t size : shape)
      factors.push_back({rule.add("d", size, kind)});
    rule.operands.assign(operands.size(), factors);
    rule.results.assign(results, factors);
    llvm::SmallVector<unsigned, 2> made;
    for (unsigned result = 0; result < results; ++result)
      made.push_back(graph.addTensor(shape, 4));
    graph.addNode(rule, operands, made);
    return made;
  }
  unsigned exp(unsigned x) { return elementwise({x}, 1).front(); }
  unsigned add(unsigned x, unsigned y) { return elementwise({x, y}, 1).front(); }

  /// ([m, k], [k, n]) -> ([m, n]) reduction={k}
  unsigned dot(unsigned x, unsigned w) {
    int64_t m = graph.tensors[x].shape[0], k = graph.tensors[x].shape[1],
            n = graph.tensors[w].shape[1];
    FactorRule rule;
    unsigned fm = rule.add("m", m), fk = rule.add("k", k, FactorKind::Reduction),
             fn = rule.add("n", n);
    rule.operands = {{{fm}, {fk}}, {{fk}, {fn}}};
    rule.results = {{{fm}, {fn}}};
    unsigned result = graph.addTensor({m, n}, 4);
    graph.addNode(rule, {x, w}, {result});
    return result;
  }

  /// ([b, (h d)]) -> ([b, h, d]) with h = heads
  unsigned splitHeads(unsigned x, int64_t heads) {
    int64_t b = graph.tensors[x].shape[0], d = graph.tensors[x].shape[1] / heads;
    FactorRule rule;
    unsigned fb = rule.add("b", b), fh = rule.add("h", heads), fd = rule.add("d", d);
    rule.operands = {{{fb}, {fh, fd}}};
    rule.results = {{{fb}, {fh}, {fd}}};
    unsigned result = graph.addTensor({b, heads, d}, 4);
    graph.addNode(rule, {x}, {result}, /*view=*/true);
    return result;
  }
};
} // namespace

TEST_CASE("a sharding spreads forwards") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.exp(x), z = network.exp(y);
  Propagation shardings(network.graph);
  shardings.pin(x, split({{data}, {model}}));
  shardings.run();
  CHECK(shardings.get(y).dims == Dims{{data}, {model}});
  CHECK(shardings.get(z).dims == Dims{{data}, {model}});
}

TEST_CASE("a sharding spreads backwards, to every operand") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.input({4, 8}), z = network.add(network.exp(x), y);
  Propagation shardings(network.graph);
  shardings.pin(z, split({{}, {model}}));
  shardings.run();
  CHECK(shardings.get(x).dims == Dims{{}, {model}});
  CHECK(shardings.get(y).dims == Dims{{}, {model}});
}

TEST_CASE("columns of a weight become rows of the next") {
  Network network;
  unsigned x = network.input({4, 8}), up = network.graph.addWeight({8, 16}, 4),
           down = network.graph.addWeight({16, 8}, 4);
  unsigned h = network.exp(network.dot(x, up)), y = network.dot(h, down);
  Propagation shardings(network.graph);
  shardings.pin(up, split({{}, {model}}));
  shardings.run();
  CHECK(shardings.get(h).dims == Dims{{}, {model}});
  CHECK(shardings.get(down).dims == Dims{{model}, {}});
  CHECK(shardings.get(y).isReplicated()); // reduced, not partial
  CHECK(shardings.get(x).isReplicated());
}

TEST_CASE("of two pins that conflict both stay, and what is between follows one of them") {
  Network network;
  unsigned x = network.input({8, 8}), y = network.exp(x), z = network.exp(y);
  Propagation shardings(network.graph);
  shardings.pin(x, split({{model}, {}}));
  shardings.pin(z, split({{}, {model}}));
  shardings.run();
  CHECK(shardings.get(x).dims == Dims{{model}, {}});
  CHECK(shardings.get(z).dims == Dims{{}, {model}});
  const Dims &between = shardings.get(y).dims;
  CHECK((between == Dims{{model}, {}} || between == Dims{{}, {model}}));
}

TEST_CASE("axes that do not conflict meet in one tensor") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.input({4, 8}), z = network.add(x, y);
  Propagation shardings(network.graph);
  shardings.pin(x, split({{data}, {}}));
  shardings.pin(y, split({{}, {model}}));
  shardings.run();
  CHECK(shardings.get(z).dims == Dims{{data}, {model}});
  CHECK(shardings.get(x).dims == Dims{{data}, {}});
  CHECK(shardings.get(y).dims == Dims{{}, {model}});
}

TEST_CASE("a compound dimension gives sub-axes to its factors, and takes them back") {
  Network network;
  unsigned x = network.input({4, 16}), y = network.splitHeads(x, 2);
  Propagation forwards(network.graph);
  forwards.pin(x, split({{}, {model}}));
  forwards.run();
  CHECK(forwards.get(y).dims == Dims{{}, {majorHalf}, {minorHalf}});

  Propagation backwards(network.graph);
  backwards.pin(y, split({{}, {majorHalf}, {minorHalf}}));
  backwards.run();
  CHECK(backwards.get(x).dims == Dims{{}, {model}});
}

TEST_CASE("a minor factor alone does not reach the compound dimension") {
  Network network;
  unsigned x = network.input({4, 16}), y = network.splitHeads(x, 2);
  Propagation shardings(network.graph);
  shardings.pin(y, split({{}, {}, {data}}));
  shardings.run();
  CHECK(shardings.get(x).isReplicated());
}

TEST_CASE("a partial result splits what its operation contracts") {
  Network network;
  unsigned x = network.input({4, 8}), w = network.input({8, 6}), y = network.dot(x, w),
           z = network.exp(y);
  Propagation shardings(network.graph);
  TensorSharding partial{{{}, {}}, {model}, ReduceKind::Sum};
  shardings.pin(y, partial);
  shardings.run();
  CHECK(shardings.get(y) == partial);
  CHECK(shardings.get(x).dims == Dims{{}, {model}});
  CHECK(shardings.get(w).dims == Dims{{model}, {}});
  CHECK(shardings.get(z).isReplicated());
}

TEST_CASE("a partial result by another reduction than the operation's splits nothing") {
  Network network;
  unsigned x = network.input({4, 8}), w = network.input({8, 6}), y = network.dot(x, w);
  Propagation shardings(network.graph);
  shardings.pin(y, {{{}, {}}, {model}, ReduceKind::Max});
  shardings.run();
  CHECK(shardings.get(x).isReplicated());
  CHECK(shardings.get(w).isReplicated());
}

TEST_CASE("a pin does not grow, and nothing passes it") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.exp(x), z = network.exp(y);
  Propagation shardings(network.graph);
  shardings.pin(y, split({{}, {}}));
  CHECK_FALSE(shardings.seed(y, 0, {data}));
  CHECK(shardings.seed(x, 0, {data}));
  shardings.run();
  CHECK(shardings.isPinned(y));
  CHECK(shardings.get(y).isReplicated());
  CHECK(shardings.get(z).isReplicated());
  CHECK(shardings.get(x).dims == Dims{{data}, {}});
}

TEST_CASE("a dimension that is closed to an axis does not take it") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.exp(x);
  Propagation shardings(network.graph);
  shardings.close(y, 1, {model});
  shardings.pin(x, split({{data}, {model}}));
  shardings.run();
  CHECK(shardings.get(y).dims == Dims{{data}, {}});
}

TEST_CASE("all results of a node follow, and each gives to the others") {
  Network network;
  unsigned x = network.input({4, 8});
  auto results = network.elementwise({x}, 2);
  Propagation shardings(network.graph);
  shardings.pin(results[1], split({{data}, {}}));
  shardings.run();
  CHECK(shardings.get(x).dims == Dims{{data}, {}});
  CHECK(shardings.get(results[0]).dims == Dims{{data}, {}});
}

TEST_CASE("what does not divide, and what may not be split, stays whole") {
  Network network;
  unsigned x = network.input({4, 6}), w = network.input({8, 6});
  unsigned whole = network.elementwise({x}, 1, FactorKind::Replicated).front();
  Propagation shardings(network.graph);
  CHECK_FALSE(shardings.seed(x, 1, {model})); // 6 over 4
  CHECK(shardings.seed(x, 1, {majorHalf}));
  CHECK_FALSE(shardings.seed(x, 0, {majorHalf})); // used already
  CHECK(shardings.seed(w, 0, {model}));
  shardings.run();
  CHECK(shardings.get(whole).isReplicated());
}

TEST_CASE("the history tells from where and through what axes came") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.exp(x), z = network.exp(y);
  Propagation shardings(network.graph);
  shardings.seed(x, 0, {data});
  shardings.run();
  auto history = shardings.history();
  REQUIRE(history.size() == 3);
  CHECK((history[0].tensor == x && history[0].node == ShardingGraph::none));
  CHECK((history[1].tensor == y && history[1].node == 0 && history[1].from == x));
  CHECK((history[2].tensor == z && history[2].node == 1 && history[2].from == y));
  CHECK(history[2].axes == AxisList{data});
}

TEST_CASE("seeds behind a fixpoint are propagated by the next run") {
  Network network;
  unsigned x = network.input({4, 8}), y = network.exp(x);
  Propagation shardings(network.graph);
  shardings.seed(x, 0, {data});
  shardings.run();
  shardings.seed(y, 1, {model});
  shardings.run();
  CHECK(shardings.get(x).dims == Dims{{data}, {model}});
  CHECK(shardings.get(y).dims == Dims{{data}, {model}});
}

#include "test/unit/Sharding/Network.h"

#include <catch2/catch.hpp>

using namespace weft;

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

TEST_CASE("columns of a weight become rows of the next") { // the worked example of Propagation.h
  Network network;
  unsigned x = network.input({4, 8}), up = network.graph.addWeight({8, 16}, 4),
           down = network.graph.addWeight({16, 8}, 4);
  unsigned product = network.dot(x, up), h = network.exp(product), y = network.dot(h, down);
  Propagation shardings(network.graph);
  shardings.pin(up, split({{}, {model}}));
  shardings.run();
  std::vector<unsigned> grown;
  for (const Propagation::Growth &growth : shardings.history())
    grown.push_back(growth.tensor);
  CHECK(grown == std::vector{product, h, down});
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

TEST_CASE("what does not divide is padded") {
  Network network;
  unsigned x = network.input({4, 6}), y = network.exp(x);
  Propagation shardings(network.graph);
  CHECK(shardings.seed(x, 1, {model})); // 6 over 4
  shardings.run();
  CHECK(shardings.get(y).dims == Dims{{}, {model}});
  // 9 over 4 is 3, 3, 3, 0; 9 over 8, 2 each, has no parts of those.
  unsigned z = network.input({4, 9});
  Propagation others(network.graph);
  CHECK(others.seed(z, 1, {model}));
  CHECK_FALSE(others.seed(z, 1, {data}));
  unsigned one = network.input({4, 1});
  Propagation more(network.graph);
  CHECK_FALSE(more.seed(one, 1, {model})); // becomes no shorter
}

TEST_CASE("what is used already, and what may not be split, stays whole") {
  Network network;
  unsigned x = network.input({4, 6}), w = network.input({8, 6});
  unsigned whole = network.elementwise({x}, 1, FactorKind::Replicated).front();
  Propagation shardings(network.graph);
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

//===----------------------------------------------------------------------===//
// Which of two wishes wins
//===----------------------------------------------------------------------===//

TEST_CASE("elementwise operations go before products, whichever was touched first") {
  Network network;
  unsigned x = network.input({8, 8}), w = network.input({8, 8});
  unsigned y = network.exp(x), z = network.dot(y, w);
  for (bool productFirst : {false, true}) {
    Propagation shardings(network.graph);
    if (productFirst)
      shardings.pin(w, split({{model}, {}})); // asks y for columns
    shardings.pin(x, split({{model}, {}}));   // asks y for rows
    if (!productFirst)
      shardings.pin(w, split({{model}, {}}));
    shardings.run();
    CHECK(shardings.get(y).dims == Dims{{model}, {}});
    CHECK(shardings.get(z).dims == Dims{{model}, {}});
  }
}

TEST_CASE("of two operands that want one axis the larger keeps it") {
  for (bool tall : {false, true}) {
    Network network;
    unsigned x = network.input({tall ? 64 : 8, 8}), w = network.input({8, tall ? 8 : 64});
    unsigned y = network.dot(x, w);
    Propagation shardings(network.graph);
    shardings.pin(x, split({{model}, {}}));
    shardings.pin(w, split({{}, {model}}));
    shardings.run();
    CHECK(shardings.get(y).dims == (tall ? Dims{{model}, {}} : Dims{{}, {model}}));
  }
}

TEST_CASE("a weight keeps an axis from an operand of any size") {
  Network network;
  unsigned x = network.input({64, 8}), w = network.graph.addWeight({8, 8}, 4);
  unsigned y = network.dot(x, w);
  Propagation shardings(network.graph);
  shardings.pin(x, split({{model}, {}}));
  shardings.pin(w, split({{}, {model}}));
  shardings.run();
  CHECK(shardings.get(y).dims == Dims{{}, {model}});
}

TEST_CASE("a list of axes follows as far as it fits") {
  Network network;
  unsigned x = network.input({8, 8}), y = network.input({8, 8}), z = network.add(x, y);
  Propagation shardings(network.graph);
  shardings.pin(x, split({{data, model}, {}}));
  shardings.pin(y, split({{}, {model}}));
  shardings.run();
  // Rows by data and model move fewer bytes than columns by model.
  CHECK(shardings.get(z).dims == Dims{{data, model}, {}});
}

//===----------------------------------------------------------------------===//
// Sub-axes, several meshes
//===----------------------------------------------------------------------===//

TEST_CASE("halves of an axis that come one by one join into it") {
  Network network;
  unsigned x = network.input({8, 8}), y = network.exp(x);
  Propagation shardings(network.graph);
  CHECK(shardings.seed(x, 0, {majorHalf}));
  shardings.run();
  CHECK(shardings.get(y).dims == Dims{{majorHalf}, {}});
  CHECK(shardings.seed(y, 0, {minorHalf}));
  shardings.run();
  CHECK(shardings.get(x).dims == Dims{{model}, {}});
  CHECK(shardings.get(y).dims == Dims{{model}, {}});
}

TEST_CASE("a half of an axis blocks the axis, not the other half") {
  Network network;
  unsigned x = network.input({8, 8});
  Propagation shardings(network.graph);
  CHECK(shardings.seed(x, 0, {majorHalf}));
  CHECK_FALSE(shardings.seed(x, 1, {model}));
  CHECK(shardings.seed(x, 1, {minorHalf}));
  CHECK(shardings.get(x).dims == Dims{{majorHalf}, {minorHalf}});
}

TEST_CASE("what one mesh splits says nothing on another") {
  // Parts of a model have a graph, a mesh and a propagation each; axes are numbers of their mesh.
  const MeshShape wide{"wide", {{"model", 8}}};
  Network first, second;
  unsigned x = first.input({8, 8}), h = first.exp(x);
  unsigned handed = second.input({8, 8}), y = second.exp(handed);
  Propagation firstShardings(first.graph), secondShardings(second.graph);
  firstShardings.pin(x, split({{data}, {model}}));
  secondShardings.pin(y, split({{fullAxis(wide, 0)}, {}}));
  firstShardings.run();
  secondShardings.run();
  CHECK(firstShardings.get(h).dims == Dims{{data}, {model}});
  CHECK(secondShardings.get(handed).dims == Dims{{fullAxis(wide, 0)}, {}});
  CHECK(str(wide, secondShardings.get(handed)) == "[{\"model\"}, {}]");
}

#include "compiler/Search/FoldNodes.h"

#include "test/unit/Sharding/Network.h"
#include <catch2/catch.hpp>
#include <set>

using namespace weft;

namespace {
/// Equal layers, x = exp(x·up)·down, with their kinds: 0 products, 1 exp, 2 what ends them.
struct Layers : Network {
  std::vector<uint64_t> kinds;

  explicit Layers(int count) {
    unsigned x = input({8, 16});
    for (int layer = 0; layer < count; ++layer) {
      x = dot(exp(dot(x, graph.addWeight({16, 64}, 4))), graph.addWeight({64, 16}, 4));
      kinds.insert(kinds.end(), {0, 1, 3});
    }
    graph.tensors[exp(x)].output = true;
    kinds.push_back(2);
  }
  unsigned countClasses(unsigned steps) const {
    std::vector<unsigned> classes = foldNodes(graph, kinds, steps);
    return std::set<unsigned>(classes.begin(), classes.end()).size();
  }
};
} // namespace

TEST_CASE("layers of any number fold to as many classes, of which the ends are their own") {
  CHECK(Layers(12).countClasses(0) == 4);
  // One more step takes one more operation at either end out of the layers' classes.
  CHECK(Layers(12).countClasses(1) == 4 + 2);
  CHECK(Layers(12).countClasses(4) == Layers(96).countClasses(4));
  Layers layers(12);
  std::vector<unsigned> classes = foldNodes(layers.graph, layers.kinds, 3);
  for (unsigned node = 3 * 4; node < 3 * 8; ++node)
    CHECK(classes[node] == classes[node + 3]); // in the middle
  CHECK(classes[0] != classes[3]);             // the input
  CHECK(classes[3 * 11 + 2] != classes[3 * 10 + 2]);
}

TEST_CASE("classes are numbered as they appear, each time alike") {
  Layers layers(6);
  std::vector<unsigned> classes = foldNodes(layers.graph, layers.kinds, 2);
  CHECK(classes == foldNodes(layers.graph, layers.kinds, 2));
  unsigned next = 0;
  for (unsigned number : classes) {
    CHECK(number <= next);
    next = std::max(next, number + 1);
  }
}

TEST_CASE("which operand comes first is told apart, in which order values are used is not") {
  Network network;
  unsigned x = network.input({8, 16}), y = network.input({8, 16});
  unsigned a = network.exp(x), b = network.exp(y);
  network.graph.nodes[1].rule = network.graph.nodes[0].rule;
  network.add(a, b);
  network.add(b, a);
  std::vector<uint64_t> kinds{1, 2, 3, 3};
  std::vector<unsigned> classes = foldNodes(network.graph, kinds, 1);
  CHECK(classes[2] != classes[3]);
  kinds = {1, 1, 3, 3};
  classes = foldNodes(network.graph, kinds, 4);
  CHECK(classes[0] == classes[1]);
  CHECK(classes[2] == classes[3]);
}

// What holds of propagation through any graph.

#include "test/unit/Sharding/Network.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace weft;

namespace {
using Random = std::minstd_rand;

/// What is given before propagation: pins first, then seeds.
struct Given {
  std::vector<std::pair<unsigned, TensorSharding>> pins;
  struct Seed {
    unsigned tensor, dim;
    AxisRef axis;
  };
  std::vector<Seed> seeds;
};

/// Matrices of 8 or 16 rows and columns, by random operations on random earlier ones.
Network randomNetwork(Random &random, int operations) {
  Network network;
  auto size = [&] { return int64_t(random() % 2 ? 16 : 8); };
  for (int i = 0; i < 3; ++i)
    network.input({size(), size()});
  for (int i = 0; i < operations; ++i) {
    unsigned x = random() % network.graph.tensors.size();
    auto shape = network.graph.tensors[x].shape;
    switch (random() % 4) {
    case 0:
      network.exp(x);
      break;
    case 1:
      network.transpose(x);
      break;
    case 2:
      network.dot(x, network.graph.addWeight({shape[1], size()}, 4));
      break;
    case 3:
      for (unsigned y = 0; y < x; ++y) // the first other one of that shape
        if (network.graph.tensors[y].shape == shape) {
          network.add(x, y);
          break;
        }
      break;
    }
  }
  return network;
}

AxisRef randomAxis(Random &random) {
  const AxisRef axes[] = {data, model, majorHalf, minorHalf};
  return axes[random() % 4];
}

Given randomGiven(Random &random, const ShardingGraph &graph) {
  Given given;
  for (unsigned i = 0; i < 2; ++i) {
    unsigned tensor = random() % graph.tensors.size();
    auto isSame = [&](const auto &pin) { return pin.first == tensor; };
    if (llvm::any_of(given.pins, isSame))
      continue;
    TensorSharding sharding = TensorSharding::replicated(2);
    append(sharding.dims[random() % 2], randomAxis(random));
    given.pins.push_back({tensor, sharding});
  }
  for (unsigned i = 0; i < 4; ++i)
    given.seeds.push_back(
        {unsigned(random() % graph.tensors.size()), unsigned(random() % 2), randomAxis(random)});
  return given;
}

void give(Propagation &shardings, const Given &given) {
  for (const auto &[tensor, sharding] : given.pins)
    shardings.pin(tensor, sharding);
  for (const Given::Seed &seed : given.seeds)
    shardings.seed(seed.tensor, seed.dim, {seed.axis});
}

Propagation propagate(const ShardingGraph &graph, const Given &given) {
  Propagation shardings(graph);
  give(shardings, given);
  shardings.run();
  return shardings;
}

/// Calls `check(graph, given)` for many of both.
template <typename Check> void forRandom(unsigned seed, Check check) {
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    Network network = randomNetwork(random, 2 + int(random() % 20));
    INFO("graph " << i);
    check(network.graph, randomGiven(random, network.graph));
  }
}

void requireEqual(const ShardingGraph &graph, const Propagation &a, const Propagation &b) {
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    INFO("tensor " << tensor);
    REQUIRE(str(mesh, a.get(tensor)) == str(mesh, b.get(tensor)));
  }
}
} // namespace

TEST_CASE("shardings divide their tensors, use each axis once, and keep pins") {
  forRandom(1, [](const ShardingGraph &graph, const Given &given) {
    Propagation shardings = propagate(graph, given);
    for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
      const TensorSharding &sharding = shardings.get(tensor);
      AxisList all;
      for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
        REQUIRE(graph.tensors[tensor].shape[dim] % blocks(axes) == 0);
        for (AxisRef axis : axes) {
          REQUIRE_FALSE(overlaps(all, axis));
          all.push_back(axis);
        }
      }
    }
    for (const auto &[tensor, sharding] : given.pins)
      REQUIRE(shardings.get(tensor) == sharding);
  });
}

TEST_CASE("the same is propagated the same way") {
  forRandom(2, [](const ShardingGraph &graph, const Given &given) {
    Propagation once = propagate(graph, given), again = propagate(graph, given);
    requireEqual(graph, once, again);
    REQUIRE(once.history().size() == again.history().size());
    for (auto [a, b] : llvm::zip_equal(once.history(), again.history()))
      REQUIRE((a.tensor == b.tensor && a.dim == b.dim && a.axes == b.axes && a.node == b.node &&
               a.from == b.from));
  });
}

TEST_CASE("the end is a fixpoint: run again, or from there, nothing grows") {
  forRandom(3, [](const ShardingGraph &graph, const Given &given) {
    Propagation shardings = propagate(graph, given);
    size_t growths = shardings.history().size();
    shardings.run();
    REQUIRE(shardings.history().size() == growths);

    Propagation from(graph);
    for (const auto &[tensor, sharding] : given.pins)
      from.pin(tensor, sharding);
    for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor)
      for (auto [dim, axes] : llvm::enumerate(shardings.get(tensor).dims))
        if (!from.isPinned(tensor))
          REQUIRE(from.seed(tensor, dim, axes));
    from.run();
    requireEqual(graph, shardings, from);
  });
}

TEST_CASE("the history, done again step by step, gives the shardings") {
  forRandom(4, [](const ShardingGraph &graph, const Given &given) {
    Propagation shardings = propagate(graph, given);
    std::vector<TensorSharding> steps;
    for (const ShardingGraph::Tensor &tensor : graph.tensors)
      steps.push_back(TensorSharding::replicated(tensor.shape.size()));
    for (const auto &[tensor, sharding] : given.pins)
      steps[tensor] = sharding;
    for (const Propagation::Growth &growth : shardings.history()) {
      REQUIRE_FALSE(growth.axes.empty());
      if (growth.node != ShardingGraph::none) { // another tensor of the node had them then
        REQUIRE(growth.from != ShardingGraph::none);
        REQUIRE(llvm::is_contained(graph.tensorsOf(graph.nodes[growth.node]), growth.from));
        REQUIRE(llvm::any_of(steps[growth.from].dims,
                             [&](const AxisList &axes) { return overlaps(axes, growth.axes); }));
      }
      append(steps[growth.tensor].dims[growth.dim], growth.axes);
    }
    for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor)
      REQUIRE(steps[tensor] == shardings.get(tensor));
  });
}

TEST_CASE("where nothing conflicts the order of nodes and of what is given does not count") {
  // Elementwise operations on matrices of one shape; rows are only ever split by data, columns by
  // model. Whatever is connected to a split is split so.
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    constexpr unsigned inputs = 4;
    std::vector<std::vector<unsigned>> operations; // by result - inputs, operands
    unsigned count = 2 + random() % 12;
    for (unsigned result = inputs; result < inputs + count; ++result)
      operations.push_back(random() % 2 ? std::vector<unsigned>{unsigned(random() % result)}
                                        : std::vector<unsigned>{unsigned(random() % result),
                                                                unsigned(random() % result)});
    std::vector<Given::Seed> seeds;
    for (int s = 0; s < 3; ++s) {
      unsigned dim = random() % 2;
      seeds.push_back({unsigned(random() % (inputs + count)), dim, dim ? model : data});
    }
    auto run = [&](std::vector<unsigned> order) {
      Network network;
      llvm::DenseMap<unsigned, unsigned> made; // tensors by number
      for (unsigned input = 0; input < inputs; ++input)
        made[input] = network.input({8, 8});
      for (unsigned index : order) {
        llvm::SmallVector<unsigned, 2> operands;
        for (unsigned operand : operations[index])
          operands.push_back(made.lookup(operand));
        made[inputs + index] = network.elementwise(operands, 1).front();
      }
      Propagation shardings(network.graph);
      for (const Given::Seed &seed : seeds)
        shardings.seed(made.lookup(seed.tensor), seed.dim, {seed.axis});
      shardings.run();
      std::vector<std::string> result;
      for (unsigned tensor = 0; tensor < inputs + count; ++tensor)
        result.push_back(str(mesh, shardings.get(made.lookup(tensor))));
      return result;
    };
    std::vector<unsigned> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::vector<std::string> expected = run(order);
    for (int again = 0; again < 4; ++again) {
      // A random order in which operands come before results.
      std::vector<unsigned> left = order, mixed;
      while (!left.empty()) {
        auto isReady = [&](unsigned index) {
          return llvm::all_of(operations[index], [&](unsigned operand) {
            return operand < inputs || llvm::is_contained(mixed, operand - inputs);
          });
        };
        size_t at = random() % left.size();
        while (!isReady(left[at]))
          at = (at + 1) % left.size();
        mixed.push_back(left[at]);
        left.erase(left.begin() + at);
      }
      std::shuffle(seeds.begin(), seeds.end(), random);
      INFO("graph " << i);
      REQUIRE(run(mixed) == expected);
    }
  }
}

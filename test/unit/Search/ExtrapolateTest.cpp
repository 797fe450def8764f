#include "compiler/Search/Extrapolate.h"
#include "compiler/Search/FoldNodes.h"

#include "compiler/Cluster/Catalog.h"
#include "test/unit/Sharding/Network.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <map>

using namespace weft;

namespace {
/// An embedding's product, so many layers x = exp(x·up)·down, and a wide head; everything a layer
/// makes is kept for a second pass over the layers, last first.
struct Program : Network {
  ShardingProblem problem;
  std::vector<uint64_t> kinds;

  /// Weights are given, or `loads`; the last operation may read what the first layer keeps whole.
  explicit Program(int layers, bool loads = false, bool readsWhole = false) {
    unsigned x = dot(input({64, 32}), graph.addWeight({32, 128}, 4));
    std::vector<unsigned> kept;
    kinds = {9};
    for (int layer = 0; layer < layers; ++layer) {
      unsigned up = loads ? load({128, 512}) : graph.addWeight({128, 512}, 4);
      kept.push_back(exp(dot(x, up)));
      x = dot(kept.back(), graph.addWeight({512, 128}, 4));
      kinds.insert(kinds.end(), {0, 1, 3});
    }
    unsigned back = exp(dot(x, graph.addWeight({128, 512}, 4)));
    kinds.insert(kinds.end(), {4, 5});
    for (; !kept.empty(); kept.pop_back()) {
      back = add(kept.back(), back);
      kinds.push_back(6);
    }
    graph.tensors[back].output = true;
    if (readsWhole) {
      unsigned first = graph.nodes[2].results.front();
      graph.tensors[elementwise({first}, 1, FactorKind::Replicated).front()].output = true;
      kinds.push_back(7);
    }
    problem.graph = &graph;
    problem.kinds = kinds;
    problem.work.assign(graph.nodes.size(), {1e9, "f32", 1});
    problem.isFree.assign(graph.nodes.size(), false);
    for (const ShardingGraph::Tensor &tensor : graph.tensors) {
      problem.isReadFreely.push_back(tensor.weight);
      problem.isReturned.push_back(tensor.output);
    }
    problem.pinned.resize(graph.tensors.size());
    problem.required.resize(graph.tensors.size());
    problem.left.resize(graph.tensors.size());
    problem.isMadeSo.assign(graph.tensors.size(), false);
  }

  unsigned load(llvm::ArrayRef<int64_t> shape) {
    FactorRule rule;
    rule.results = {{}};
    for (int64_t size : shape)
      rule.results.front().push_back({rule.add("d", size)});
    unsigned weight = graph.addWeight(shape, 4);
    graph.addNode(rule, {}, {weight});
    kinds.push_back(10);
    return weight;
  }
};

ClusterModel makeCluster() {
  std::string problem;
  return makeClusterModel(*resolveCluster("dgx-h100:1", problem));
}
} // namespace

TEST_CASE("a short program with the numbers of a long one has its price and its memory") {
  MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  SearchOptions options;
  Program whole(200), base(24), longer(25);
  REQUIRE(extrapolate(base.problem, FurtherLayers{&longer.problem, 176}));
  ShardingAnswer expected = searchShardings(whole.problem, prices, options);
  ShardingAnswer found = searchShardings(base.problem, prices, options);
  REQUIRE(!expected.splits.empty());
  CHECK(found.seconds == Approx(expected.seconds).epsilon(1e-6));
  CHECK(found.memory == Approx(expected.memory).epsilon(1e-6));
  CHECK(found.numVariables == expected.numVariables);
  options.memoryLimit = expected.memory / 1.5;
  CHECK(searchShardings(base.problem, prices, options).status ==
        searchShardings(whole.problem, prices, options).status);
}

TEST_CASE("layers that are split alike cost at most one percent more than each on its own") {
  MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  Program whole(200);
  SearchOptions apart;
  apart.folds = false;
  ShardingAnswer folded = searchShardings(whole.problem, prices, {});
  ShardingAnswer unfolded = searchShardings(whole.problem, prices, apart);
  REQUIRE(!folded.splits.empty());
  REQUIRE(!unfolded.splits.empty());
  CHECK(10 * folded.numVariables < unfolded.numVariables);
  CHECK(folded.seconds <= 1.01 * unfolded.seconds);
}

TEST_CASE("an answer for few layers is the one for many") {
  MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  Program whole(200), base(24), longer(25);
  REQUIRE(extrapolate(base.problem, FurtherLayers{&longer.problem, 176}));
  KnownAnswer known{&base.problem, searchShardings(base.problem, prices, {})};
  std::optional<ShardingAnswer> carried = carryOver(known, whole.graph, whole.problem.kinds);
  REQUIRE(carried.has_value());
  ShardingAnswer expected = searchShardings(whole.problem, prices, {});
  REQUIRE(carried->splits.size() == expected.splits.size());
  for (auto [own, other] : llvm::zip_equal(carried->splits, expected.splits))
    CHECK(own.axes == other.axes);
  CHECK(carried->forms == expected.forms);
  CHECK(carried->returned == expected.returned);
}

TEST_CASE("what is loaded is counted as often as what reads it") {
  Program base(24, /*loads=*/true), longer(25, /*loads=*/true);
  REQUIRE(extrapolate(base.problem, FurtherLayers{&longer.problem, 176}));
  // Readers of one colour share a variable, and so do weights that these read.
  std::vector<uint64_t> colors = colorNodes(base.graph, base.problem.kinds, foldingSteps);
  std::map<uint64_t, std::pair<double, double>> counts; // of loads and readers, by these's colour
  for (auto [node, count] : llvm::enumerate(base.problem.counts))
    if (base.graph.nodes[node].operands.empty()) {
      unsigned reader = base.graph.tensors[base.graph.nodes[node].results.front()].users.front();
      counts[colors[reader]].first += count;
      counts[colors[reader]].second += base.problem.counts[reader];
    }
  CHECK(counts.size() > 2);
  for (const auto &[color, sums] : counts)
    CHECK(sums.first == Approx(sums.second));
}

TEST_CASE("states are held as they lie, whatever is read of them") {
  MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  SearchOptions options;
  options.leastMemory = true;
  Program read(4, /*loads=*/true), stored(4, /*loads=*/true);
  for (const ShardingGraph::Node &node : stored.graph.nodes)
    if (node.operands.empty())
      stored.problem.states.push_back({node.results.front()});
  double least = searchShardings(read.problem, prices, options).memory;
  CHECK(least > 0);
  CHECK(searchShardings(stored.problem, prices, options).memory <= least);
  CHECK(getLeastBytes(stored.problem, mesh.devices()) <= least);
}

TEST_CASE("what is computed again from is held as it is read there") {
  MeshShape mesh{"mesh", {{"model", 4}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  SearchOptions options;
  options.leastMemory = true;
  Program program(2, /*loads=*/false, /*readsWhole=*/true);
  program.problem.live.assign(program.graph.tensors.size(), 0);
  program.problem.live[program.graph.nodes.back().operands.front()] = 1;
  double split = searchShardings(program.problem, prices, options).memory;
  program.problem.isBarrier.assign(program.graph.nodes.size(), false);
  program.problem.isBarrier.back() = true; // of f32[64, 512]
  CHECK(searchShardings(program.problem, prices, options).memory ==
        Approx(split + 0.75 * 64 * 512 * 4));
}

TEST_CASE("an answer is for programs that look alike only") {
  MeshShape mesh{"mesh", {{"model", 8}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  Program base(2), whole(30);
  KnownAnswer known{&base.problem, searchShardings(base.problem, prices, {})};
  CHECK_FALSE(carryOver(known, whole.graph, whole.problem.kinds));
}

TEST_CASE("too few layers do not stand for many") {
  Program base(2), longer(3);
  CHECK_FALSE(extrapolate(base.problem, FurtherLayers{&longer.problem, 30}));
}

TEST_CASE("what a device holds at least is no more than any split lets it hold") {
  MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  Program base(24), longer(25);
  REQUIRE(extrapolate(base.problem, FurtherLayers{&longer.problem, 176}));
  double bound = getLeastBytes(base.problem, mesh.devices());
  SearchOptions options;
  options.leastMemory = true;
  double least = searchShardings(base.problem, prices, options).memory;
  CHECK(bound <= least);
  CHECK(bound > 0.5 * least);
  options.leastMemory = false;
  options.memoryLimit = 0.99 * bound;
  CHECK(searchShardings(base.problem, prices, options).status == solver::Status::Infeasible);
}

TEST_CASE("what takes longer than the limit is not looked for") {
  MeshShape mesh{"mesh", {{"model", 8}}};
  ClusterModel cluster = makeCluster();
  MeshPrices prices(mesh, cluster);
  Program program(3);
  double seconds = searchShardings(program.problem, prices, {}).seconds;
  SearchOptions options;
  options.secondsLimit = 2 * seconds;
  CHECK(searchShardings(program.problem, prices, options).seconds == seconds);
  options.secondsLimit = seconds / 100;
  CHECK(searchShardings(program.problem, prices, options).splits.empty());
}

#include "driver/MeshOrder.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace weft;

namespace {
using Numbers = std::vector<size_t>;

MeshShape makeMesh(std::initializer_list<std::pair<const char *, int64_t>> axes) {
  MeshShape mesh;
  for (auto [name, size] : axes) {
    MeshAxis &axis = mesh.axes.emplace_back();
    axis.name = name;
    axis.size = size;
  }
  return mesh;
}

plan::Training trainWith(plan::Training::Recompute recompute, int64_t microbatches) {
  plan::Training training;
  training.set_recompute(recompute);
  training.set_accumulate(microbatches);
  return training;
}

/// data=16 to data=1, the rest for `model`.
std::vector<MeshShape> makeDegrees() {
  return {makeMesh({{"data", 16}}), makeMesh({{"data", 8}, {"model", 2}}),
          makeMesh({{"data", 4}, {"model", 4}}), makeMesh({{"data", 2}, {"model", 8}}),
          makeMesh({{"model", 16}})};
}

const ShardingGraph graph;
const plan::Training plain = trainWith(plan::Training::NONE, 1);
} // namespace

TEST_CASE("meshes that differ by names alone are tried once, joined ones before parted ones") {
  MeshOrder order({makeMesh({{"data", 4}, {"expert", 2}, {"model", 2}}),
                   makeMesh({{"data", 4}, {"model", 4}}), makeMesh({{"data", 4}, {"tensor", 4}}),
                   makeMesh({{"data", 16}})},
                  16);
  CHECK(order.begin(graph, plain) == Numbers{3, 1, 0});
  CHECK(order.isRefinement(0));
  CHECK_FALSE(order.isRefinement(1));
  CHECK_FALSE(order.isRefinement(3));
}

TEST_CASE("a parted mesh is hopeless where the joined one is far from the best") {
  MeshOrder order({makeMesh({{"data", 16}}), makeMesh({{"data", 4}, {"model", 4}}),
                   makeMesh({{"data", 4}, {"expert", 2}, {"model", 2}})},
                  16);
  order.begin(graph, plain);
  order.note(0, 10);
  order.note(1, 10.3);
  CHECK_FALSE(order.isHopeless(2, 10, 12.5));
  order.note(1, 10.5);
  CHECK(order.isHopeless(2, 10, 12.5));
}

TEST_CASE("with more and more devices to an example a step takes too long") {
  MeshOrder order(makeDegrees(), 16);
  order.begin(graph, plain);
  order.note(1, 10);
  CHECK_FALSE(order.isHopeless(3, 10, 12.5));
  order.note(2, INFINITY);
  CHECK(order.isHopeless(3, 10, 12.5));
  CHECK(order.isHopeless(4, 10, 12.5));
  CHECK_FALSE(order.isHopeless(3, 0, 0)); // nothing is known that is better
  order.begin(graph, plain);              // of another step nothing is known yet
  CHECK_FALSE(order.isHopeless(3, 10, 12.5));
}

TEST_CASE("what takes too long however it is trained is not tried with more computed again") {
  MeshOrder order(makeDegrees(), 16);
  auto isHopelessWith = [&](plan::Training::Recompute recompute, int64_t microbatches) {
    order.begin(graph, trainWith(recompute, microbatches));
    return order.isHopeless(2, 10, 12.5);
  };
  order.begin(graph, trainWith(plan::Training::SELECTIVE, 2));
  order.note(2, 20, 13);
  CHECK(isHopelessWith(plan::Training::SELECTIVE, 2));
  CHECK(isHopelessWith(plan::Training::FULL, 2));
  CHECK(isHopelessWith(plan::Training::SELECTIVE, 4));
  CHECK_FALSE(isHopelessWith(plan::Training::NONE, 4));
  CHECK_FALSE(isHopelessWith(plan::Training::FULL, 1));

  MeshOrder bound(makeDegrees(), 16); // by memory: with less kept it may be fast
  bound.begin(graph, plain);
  bound.note(2, 20);
  bound.begin(graph, trainWith(plan::Training::FULL, 1));
  CHECK_FALSE(bound.isHopeless(2, 10, 12.5));
}

TEST_CASE("meshes of too many devices say nothing of others") {
  MeshOrder order({makeMesh({{"data", 8}}), makeMesh({{"data", 4}, {"model", 4}})}, 8);
  order.begin(graph, plain);
  CHECK_FALSE(order.isRefinement(1));
  CHECK_FALSE(order.isHopeless(1, 10, 12.5));
}

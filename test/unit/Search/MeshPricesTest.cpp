#include "compiler/Search/MeshPrices.h"

#include "test/unit/Cost/Clusters.h"
#include "test/unit/Sharding/Network.h"

using namespace weft;

namespace {
const CostConstants constants;

struct Prices {
  MeshShape mesh;
  ClusterModel cluster;
  MeshPrices prices;

  Prices(MeshShape shape, const std::string &spec)
      : mesh(std::move(shape)), cluster(getCluster(spec)), prices(mesh, cluster) {}

  /// What the cost library says of groups of `size` devices `stride` apart.
  double getCost(int64_t stride, int64_t size, CollectiveKind kind, double bytes) const {
    const GroupModel &group = cluster.groups.front();
    return getCollectiveSeconds(cluster, group, placeGroup(group, stride, size), kind, bytes,
                                constants);
  }
};

const MeshShape grid{"mesh", {{"data", 4}, {"model", 8}}};
const AxisRef outer = fullAxis(grid, 0), inner = fullAxis(grid, 1);
} // namespace

TEST_CASE("groups along axes of a cluster of two tiers cost what the cost library says") {
  Prices own(grid, "dgx-h100:4");
  for (double bytes : {1e4, 1e7, 1e9})
    for (auto [kind, cost] : {std::pair(ReshardKind::AllReduce, CollectiveKind::AllReduce),
                              {ReshardKind::AllGather, CollectiveKind::AllGather},
                              {ReshardKind::ReduceScatter, CollectiveKind::ReduceScatter},
                              {ReshardKind::AllToAll, CollectiveKind::AllToAll}}) {
      auto price = [&, kind = kind](llvm::ArrayRef<AxisRef> axes) {
        return own.prices.getCollectiveSeconds(kind, axes, bytes);
      };
      CHECK(price({inner}) == own.getCost(1, 8, cost, bytes));
      CHECK(price({outer}) == own.getCost(8, 4, cost, bytes));
      CHECK(price({outer, inner}) == own.getCost(1, 32, cost, bytes));
      CHECK(price({inner, outer}) == price({outer, inner})); // the same devices
      CHECK(price({{1, 1, 2}}) == own.getCost(4, 2, cost, bytes));
      CHECK(price({{1, 2, 4}}) == own.getCost(1, 4, cost, bytes));
    }
}

TEST_CASE("groups across nodes share links: inner axes are cheaper") {
  Prices own(grid, "dgx-h100:4");
  double within = own.prices.getCollectiveSeconds(ReshardKind::AllReduce, {inner}, 1e8);
  double across = own.prices.getCollectiveSeconds(ReshardKind::AllReduce, {outer}, 1e8);
  CHECK(across > 3 * within);
  // Were only one such group there, it would still have one link of its own.
  Prices alone({"mesh", {{"data", 4}, {"model", 1}}}, "dgx-h100:4");
  CHECK(alone.prices.getCollectiveSeconds(ReshardKind::AllReduce, {outer}, 1e8) < across);
}

TEST_CASE("groups of which nodes hold unlike parts have all their ranks") {
  // Three devices, six apart, on nodes of eight: 0 and 6, and 12.
  Prices own({"mesh", {{"data", 3}, {"model", 6}}}, "dgx-h100:3");
  double uneven = own.prices.getCollectiveSeconds(ReshardKind::AllReduce, {{0, 1, 3}}, 1e8);
  Prices even({"mesh", {{"data", 2}, {"model", 8}}}, "dgx-h100:3");
  CHECK(uneven > even.prices.getCollectiveSeconds(ReshardKind::AllReduce, {{0, 1, 2}}, 1e8));
}

TEST_CASE("a path costs its steps, of padded blocks whole ones") {
  Prices own({"mesh", {{"model", 2}}}, "dgx-h100");
  const AxisRef axis = fullAxis(own.mesh, 0);
  auto price = [&](llvm::ArrayRef<int64_t> shape, const TensorSharding &from,
                   const TensorSharding &to) {
    std::optional<ReshardPath> path = findReshardPath(own.mesh, shape, 4, from, to);
    REQUIRE(path);
    return own.prices.getSeconds(*path, from, shape, 4);
  };
  TensorSharding whole = split({{}, {}}), rows = split({{axis}, {}}), columns = split({{}, {axis}}),
                 sum{{{}, {}}, {axis}, ReduceKind::Sum};
  double copy = own.prices.getDevice().copy;
  CHECK(price({64, 32}, whole, rows) == 32 * 32 * 4 / copy);
  CHECK(price({64, 32}, rows, whole) == own.getCost(1, 2, CollectiveKind::AllGather, 64 * 32 * 4));
  CHECK(price({64, 32}, sum, whole) == own.getCost(1, 2, CollectiveKind::AllReduce, 64 * 32 * 4));
  CHECK(price({64, 32}, sum, rows) ==
        own.getCost(1, 2, CollectiveKind::ReduceScatter, 64 * 32 * 4));
  CHECK(price({64, 32}, rows, columns) == own.getCost(1, 2, CollectiveKind::AllToAll, 32 * 32 * 4));
  // 63 rows are blocks of 32: what is cut is made longer, what is joined was.
  CHECK(price({63, 32}, rows, whole) == own.getCost(1, 2, CollectiveKind::AllGather, 64 * 32 * 4));
  CHECK(price({63, 32}, sum, rows) ==
        own.getCost(1, 2, CollectiveKind::ReduceScatter, 64 * 32 * 4) + 64 * 32 * 4 / copy);
  CHECK(price({63, 32}, whole, rows) == 64 * 32 * 4 / copy + 32 * 32 * 4 / copy);
}

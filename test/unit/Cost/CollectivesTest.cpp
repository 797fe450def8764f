#include "compiler/Cost/Collectives.h"
#include "test/unit/Cost/Clusters.h"

using namespace weft;

static const CostConstants constants;

static double price(const std::string &spec, int64_t stride, int64_t size, CollectiveKind kind,
                    double bytes) {
  ClusterModel cluster = getCluster(spec);
  const GroupModel &group = cluster.groups[0];
  return getCollectiveSeconds(cluster, group, placeGroup(group, stride, size), kind, bytes,
                              constants);
}

TEST_CASE("groups are placed on tiers, and share links with their like") {
  GroupModel group = getCluster("dgx-a100:4").groups[0];
  GroupShape inside = placeGroup(group, 1, 8);
  CHECK(inside.spread == std::vector<int64_t>{8, 1});
  GroupShape across = placeGroup(group, 8, 4);
  CHECK(across.spread == std::vector<int64_t>{1, 4});
  CHECK(across.sharers == std::vector<int64_t>{1, 8});
  GroupShape mixed = placeGroup(group, 2, 16);
  CHECK(mixed.spread == std::vector<int64_t>{4, 4});
  CHECK(mixed.sharers == std::vector<int64_t>{1, 2});
  CHECK(mixed.getNumRanks() == 16);
}

TEST_CASE("large all-reduces reach the bus bandwidth measured on a node") {
  double bytes = 0x1p30;
  double seconds = price("dgx-a100", 1, 8, CollectiveKind::AllReduce, bytes);
  CHECK(2.0 * 7 / 8 * bytes / seconds == Approx(229e9).epsilon(0.02)); // nccl-tests
  seconds = price("p3.16xlarge", 1, 4, CollectiveKind::AllReduce, bytes);
  CHECK(2.0 * 3 / 4 * bytes / seconds == Approx(85.4e9).epsilon(0.02));
}

TEST_CASE("an all-gather is half of an all-reduce, and a group of one is free") {
  double bytes = 0x1p30;
  double reduce = price("dgx-a100", 1, 8, CollectiveKind::AllReduce, bytes);
  double gather = price("dgx-a100", 1, 8, CollectiveKind::AllGather, bytes);
  CHECK(gather == Approx(reduce / 2).epsilon(0.05));
  CHECK(price("dgx-a100", 1, 8, CollectiveKind::ReduceScatter, bytes) == gather);
  CHECK(price("dgx-a100", 1, 1, CollectiveKind::AllReduce, bytes) == 0);
}

TEST_CASE("what ranks send adds up to what they lack") {
  // Of four ranks each lacks three quarters of what an all-gather gives, 100 bytes.
  CHECK(getGroupTraffic<int64_t>(CollectiveKind::AllGather, 4, 100) == 4 * 75);
  CHECK(getRankTraffic<int64_t>(CollectiveKind::AllGather, 4, 100) == 75);
  // Three quarters of an operand go to other ranks; once each is reduced where it ends.
  CHECK(getRankTraffic<int64_t>(CollectiveKind::ReduceScatter, 4, 100) == 75);
  CHECK(getRankTraffic<int64_t>(CollectiveKind::AllToAll, 4, 100) == 75);
  // An all-reduce is a reduce-scatter, then an all-gather.
  CHECK(getRankTraffic<int64_t>(CollectiveKind::AllReduce, 4, 100) == 150);
  CHECK(getRankTraffic<int64_t>(CollectiveKind::AllReduce, 1, 100) == 0);
}

TEST_CASE("groups that share a network card wait for each other") {
  ClusterModel cluster = getCluster("p3.16xlarge:4");
  const GroupModel &group = cluster.groups[0];
  GroupShape shape = placeGroup(group, 8, 4);
  auto run = [&] {
    return getCollectiveSeconds(cluster, group, shape, CollectiveKind::AllReduce, 1e9, constants);
  };
  double together = run();
  shape.sharers = {1, 1};
  CHECK(together == Approx(8 * run()).epsilon(0.01));
}

TEST_CASE("a device alone drives one of its node's links, a whole node all of them") {
  double one = price("dgx-a100:4", 8, 4, CollectiveKind::AllReduce, 1e9);
  double all = price("dgx-a100:4", 1, 32, CollectiveKind::AllReduce, 1e9);
  CHECK(one > 5 * all);
}

TEST_CASE("small buffers over many nodes go by trees") {
  double small = price("dgx-a100:512", 8, 512, CollectiveKind::AllReduce, 1e4);
  CHECK(small < 2 * 511 * 2.7e-6); // the steps of a ring alone
  CHECK(small > 9 * 2 * 5e-6);     // the depth of a tree
}

TEST_CASE("switches that reduce beat a ring where there are such switches") {
  double bytes = 0x1p30;
  double seconds = price("h200", 1, 8, CollectiveKind::AllReduce, bytes);
  CHECK(2.0 * 7 / 8 * bytes / seconds == Approx(482e9).epsilon(0.02));
  CHECK(price("h200", 1, 4, CollectiveKind::AllReduce, bytes) > 0.9 * bytes / 275e9);
}

TEST_CASE("between nodes sums go by trees, and what is gathered or scattered by rings") {
  ClusterModel cluster = getCluster("dgx-h100:4");
  double share = cluster.protocols.back().share;
  double bytes = 0x1p34, links = 8 * 47e9 * share, ring = 368e9 * share; // of a rank within a node
  for (CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
    double together = price("dgx-h100:4", 1, 32, kind, bytes);
    CHECK(together == Approx(31.0 / 32 * bytes / (ring * cluster.singlePass)).epsilon(0.02));
    CHECK(together > 31.0 / 32 * bytes / links);
    // Of each device's eighth over the nodes no less goes through the same links.
    for (double size : {1e6, 1e8, bytes})
      CHECK(price("dgx-h100:4", 1, 32, kind, size) > price("dgx-h100:4", 8, 4, kind, size / 8));
    CHECK(price("dgx-h100", 1, 8, kind, bytes) < 0.6 * bytes / 275e9); // in one node, the switches
  }
  double reduce = price("dgx-h100:4", 1, 32, CollectiveKind::AllReduce, bytes);
  CHECK(reduce > 2.0 * 3 / 4 * bytes / links / constants.treeShare);
}

TEST_CASE("a collective over a part of a fast node is no slower than over more nodes") {
  for (const char *spec : {"dgx-a100:8", "dgx-h100:8", "p4d:8"})
    for (double bytes : {1e5, 1e7, 1e9})
      for (CollectiveKind kind :
           {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::AllToAll})
        CHECK(price(spec, 1, 8, kind, bytes) < price(spec, 1, 64, kind, bytes));
}

TEST_CASE("buffers that caches do not hold move slower") {
  ClusterModel host = getCluster("cpu:2");
  host.groups[0].tiers[0].buffers = {{1e6, 8e9}, {4e6, 2e9}};
  host.groups[0].tiers[0].seen = 1e9;
  GroupShape shape = placeGroup(host.groups[0], 1, 2);
  auto getRate = [&](double bytes) {
    auto seconds = [&](double size) {
      return getCollectiveSeconds(host, host.groups[0], shape, CollectiveKind::AllGather, size,
                                  constants);
    };
    return bytes / 2 / (seconds(bytes) - seconds(1e-3));
  };
  CHECK(getRate(1e5) == Approx(8e9));
  CHECK(getRate(1e6) == Approx(8e9));
  CHECK(getRate(2e6) == Approx(5e9)); // half-way, by the logarithm
  CHECK(getRate(4e6) == Approx(2e9));
  CHECK(getRate(5e6) == Approx(1e9));
  // A message moves as an all-gather of two does, in which each rank sends half of the buffer.
  double sent = getSendSeconds(host, host.groups[0], 1, 1, 1e6, constants) -
                getSendSeconds(host, host.groups[0], 1, 1, 1e-3, constants);
  CHECK(sent == Approx(1e6 / 5e9));
}

TEST_CASE("messages leave the node where the stride does") {
  ClusterModel cluster = getCluster("dgx-a100:2");
  const GroupModel &group = cluster.groups[0];
  double inside = getSendSeconds(cluster, group, 4, 8, 1e9, constants);
  double outside = getSendSeconds(cluster, group, 8, 8, 1e9, constants);
  CHECK(inside == Approx(1e9 / 236e9).epsilon(0.02));
  CHECK(outside == Approx(1e9 / 24e9).epsilon(0.02));
}

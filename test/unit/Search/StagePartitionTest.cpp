#include "compiler/Search/StagePartition.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <random>

using namespace weft;

namespace {
struct Cost {
  double slowest = 0, squares = 0;
  int64_t bytes = 0;

  auto operator<=>(const Cost &) const = default;
};

Cost getCost(const std::vector<double> &times, const std::vector<int64_t> &bytes,
             const std::vector<size_t> &cuts) {
  Cost cost;
  size_t begin = 0;
  auto add = [&](size_t end) {
    double time = std::accumulate(times.begin() + begin, times.begin() + end, 0.0);
    cost.slowest = std::max(cost.slowest, time);
    cost.squares += time * time;
    begin = end;
  };
  for (size_t cut : cuts) {
    REQUIRE(cut + 1 > begin); // no stage is empty
    add(cut + 1);
    cost.bytes += bytes[cut];
  }
  REQUIRE(begin < times.size());
  add(times.size());
  return cost;
}

/// The least of all partitions.
Cost tryAll(const std::vector<double> &times, const std::vector<int64_t> &bytes, size_t stages) {
  Cost best{1e300, 0, 0};
  std::vector<size_t> cuts;
  std::function<void(size_t)> extend = [&](size_t from) {
    if (cuts.size() == stages - 1) {
      best = std::min(best, getCost(times, bytes, cuts));
      return;
    }
    for (size_t cut = from; cut + 1 < times.size(); ++cut) {
      cuts.push_back(cut);
      extend(cut + 1);
      cuts.pop_back();
    }
  };
  extend(0);
  return best;
}
} // namespace

TEST_CASE("stages of a chain of blocks are of even times") {
  CHECK(partitionStages(std::vector<double>{3, 1, 1, 4, 2}, std::vector<int64_t>{1, 1, 1, 1}, 2) ==
        std::vector<size_t>{2});
  CHECK(partitionStages(std::vector<double>{1, 1}, std::vector<int64_t>{1}, 1).empty());
  CHECK(partitionStages(std::vector<double>{0, 0, 0}, std::vector<int64_t>{9, 1}, 3) ==
        std::vector<size_t>{0, 1});
}

TEST_CASE("what is faster than the slowest stage is even, and hands on few bytes") {
  CHECK(partitionStages(std::vector<double>{1, 1, 1, 1, 9}, std::vector<int64_t>{1, 5, 1, 1}, 3) ==
        std::vector<size_t>{1, 3});
  // 1 1 | 1 | 9 and 1 | 1 1 | 9 are equally even.
  CHECK(partitionStages(std::vector<double>{1, 1, 1, 9}, std::vector<int64_t>{7, 3, 5}, 3) ==
        std::vector<size_t>{1, 2});
  CHECK(partitionStages(std::vector<double>{1, 1, 1, 9}, std::vector<int64_t>{3, 7, 5}, 3) ==
        std::vector<size_t>{0, 2});
}

TEST_CASE("stages are as good as the best of all partitions") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    size_t blocks = 1 + random() % 9, stages = 1 + random() % blocks;
    std::vector<double> times(blocks);
    std::vector<int64_t> bytes(blocks - 1);
    for (double &time : times)
      time = random() % 6;
    for (int64_t &each : bytes)
      each = random() % 10;
    Cost found = getCost(times, bytes, partitionStages(times, bytes, stages));
    CHECK(found == tryAll(times, bytes, stages));
  }
}

TEST_CASE("ten thousand blocks are parted at once") {
  std::vector<double> times(10000, 1);
  std::vector<int64_t> bytes(9999, 1);
  std::vector<size_t> cuts = partitionStages(times, bytes, 100);
  CHECK(getCost(times, bytes, cuts).slowest == 100);
}

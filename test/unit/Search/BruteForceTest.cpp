// The search against all assignments of small graphs.
#include "test/unit/Search/BruteForce.h"

#include <cstdlib>

using namespace weft;

/// s that sums of prices, which the search counts in whole picoseconds, may be off.
static constexpr double rounding = 1e-11;

TEST_CASE("the search finds the least of all assignments") {
  const ClusterModel cluster = getCluster("cpu:8");
  const char *asked = std::getenv("WEFT_BRUTE_FORCE");
  uint64_t seeds = asked ? std::atoi(asked) : 12;
  int split = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Program program(seed);
    const MeshShape meshes[] = {
        {"mesh", {{"model", 2}}}, {"mesh", {{"model", 3}}}, {"mesh", {{"data", 2}, {"model", 2}}}};
    for (const MeshShape &shape : meshes) {
      INFO("seed " << seed << ":" << program.described << " on " << shape.axes[0].name << "="
                   << shape.axes[0].size);
      MeshPrices prices(shape, cluster);
      ShardingAnswer answer = searchShardings(program.problem, prices, {});
      CHECK(answer.status == solver::Status::Optimal);
      CHECK(answer.lowerBound == Approx(answer.seconds));
      CHECK(answer.seconds == Approx(Enumerator(program, prices, Enumerator::none).run())
                                  .epsilon(1e-6)
                                  .margin(rounding));
      split += llvm::any_of(answer.splits, [](const OperationSplit &own) {
        return llvm::any_of(own.axes, [](const AxisList &axes) { return !axes.empty(); });
      });
    }
  }
  CHECK(split > static_cast<int>(seeds)); // not everything stays whole
}

TEST_CASE("within a limit of memory the search finds the least that fits") {
  const ClusterModel cluster = getCluster("cpu:8");
  const MeshShape shape{"mesh", {{"model", 2}}};
  int slower = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Program program(seed);
    INFO("seed " << seed << ":" << program.described);
    MeshPrices prices(shape, cluster);
    SearchOptions options;
    ShardingAnswer fastest = searchShardings(program.problem, prices, options);
    options.leastMemory = true;
    double least = searchShardings(program.problem, prices, options).memory;
    options.leastMemory = false;
    REQUIRE(least <= fastest.memory);
    if (least < 1) // neither weights nor values that wait
      continue;
    options.memoryLimit = least - 1;
    CHECK(searchShardings(program.problem, prices, options).status == solver::Status::Infeasible);
    for (double share : {0.0, 0.5}) {
      options.memoryLimit = least + share * (fastest.memory - least);
      ShardingAnswer answer = searchShardings(program.problem, prices, options);
      CHECK(answer.status == solver::Status::Optimal);
      CHECK(answer.memory <= options.memoryLimit);
      CHECK(answer.seconds == Approx(Enumerator(program, prices, options.memoryLimit).run())
                                  .epsilon(1e-6)
                                  .margin(rounding));
      slower += answer.seconds > fastest.seconds * 1.001;
    }
  }
  CHECK(slower > 0); // the limit matters
}

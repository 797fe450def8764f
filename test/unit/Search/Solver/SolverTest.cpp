#include "compiler/Search/Solver/Solver.h"
#include "compiler/Search/Solver/Branching.h"
#include "compiler/Search/Solver/Climber.h"
#include "compiler/Search/Solver/Dual.h"
#include "compiler/Search/Solver/ExactSearch.h"
#include "compiler/Search/Solver/Reduce.h"
#include "test/unit/Search/Solver/RandomInstance.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace weft::solver;

namespace {

Options withIterations(int64_t iterations, uint64_t seed = 1) {
  Options options;
  options.iterations = iterations;
  options.seed = seed;
  return options;
}

/// Compares what `solve` says of many problems with all their answers.
void compareWithBruteForce(uint64_t seed, int count, const Shape &shape) {
  Random random(seed);
  int feasible = 0;
  for (int i = 0; i < count; ++i) {
    Instance instance = randomInstance(random, shape);
    std::optional<Wide> least = bruteForce(instance);
    Result result = solve(instance, withIterations(2, i));
    INFO("problem " << i);
    if (!least) {
      REQUIRE(result.status == Status::Infeasible);
      continue;
    }
    ++feasible;
    REQUIRE(result.status == Status::Optimal);
    REQUIRE(Wide(*result.progress.cost) == *least);
    REQUIRE(Wide(result.progress.lowerBound) == *least);
    Evaluation evaluation = evaluate(instance, result.answer);
    REQUIRE(evaluation.feasible());
    REQUIRE(evaluation.cost == *least);
  }
  CHECK(feasible > count / 10);
  CHECK(feasible < count);
}

/// Some core with memory, nothing reduced.
Core rawCore(Random &random, const Shape &shape) {
  Model model(randomInstance(random, shape));
  removeUnsupported(model);
  while (model.infeasible) {
    model = Model(randomInstance(random, shape));
    removeUnsupported(model);
  }
  return Core(model);
}

Assignment firstStrategies(const Core &core) {
  return Assignment(core, std::vector<int>(core.numNodes(), 0));
}

} // namespace

TEST_CASE("small problems without a limit are solved exactly") {
  compareWithBruteForce(1, 1500, {.tightness = 0});
  compareWithBruteForce(2, 500, {.nodes = 8, .strategies = 3, .edges = 16, .tightness = 0});
}

TEST_CASE("small problems with a limit are solved exactly") {
  compareWithBruteForce(3, 1500, {});
  compareWithBruteForce(4, 1000, {.nodes = 7, .strategies = 3, .edges = 10, .tightness = 0.8});
  compareWithBruteForce(5, 500, {.nodes = 9, .strategies = 2, .edges = 3, .times = 12});
}

TEST_CASE("reductions keep the optimum of problems that they do not solve") {
  Random random(6);
  int left = 0;
  for (int i = 0; i < 150; ++i) {
    Instance instance = randomInstance(random, {.nodes = 16,
                                                .strategies = 4,
                                                .edges = 60,
                                                .forbidden = 0.02,
                                                .tightness = 2,
                                                .hyperedges = false});
    Model whole(instance), reduced(instance);
    removeUnsupported(whole);
    reduce(reduced, [] { return false; });
    if (whole.infeasible) {
      REQUIRE(reduced.infeasible);
      continue;
    }
    Core core(whole);
    ExactSearch search(core, firstStrategies(core));
    REQUIRE(search.run(10'000'000, [] { return false; }));
    Value expected = search.answer().value();
    REQUIRE(reduced.infeasible <= !expected.feasible());
    if (reduced.infeasible)
      continue;
    Core small(reduced);
    left += small.numNodes();
    ExactSearch smaller(small, firstStrategies(small));
    REQUIRE(smaller.run(10'000'000, [] { return false; }));
    REQUIRE(smaller.answer().value().feasible() == expected.feasible());
    if (expected.feasible())
      REQUIRE(smaller.answer().value().cost == expected.cost);
  }
  CHECK(left > 150);
}

TEST_CASE("the worked example of Reduce.h") {
  Instance instance;
  instance.intervals = {{0, 2}, {1, 3}};
  for (auto [costs, usages] : {std::pair(std::vector<int64_t>{1, 5}, std::vector<int64_t>{4, 2}),
                               std::pair(std::vector<int64_t>{2, 3}, std::vector<int64_t>{3, 4})}) {
    instance.costs.values.insert(instance.costs.values.end(), costs.begin(), costs.end());
    instance.costs.close();
    instance.usages.values.insert(instance.usages.values.end(), usages.begin(), usages.end());
    instance.usages.close();
  }
  instance.edges.values = {0, 1};
  instance.edges.close();
  instance.edgeCosts.values = {0, 9, 9, 0};
  instance.edgeCosts.close();
  instance.usageLimit = 6;
  Model model(instance);
  CHECK(reduceTimes(model) > 0);
  CHECK(model.capacity == std::vector<int64_t>{1});
  REQUIRE(model.nodes[0].usages.size() == 1);
  CHECK(model.nodes[0].usages[0].amount == std::vector<int64_t>{2, 0});
  CHECK(model.nodes[1].usages[0].amount == std::vector<int64_t>{0, 1});
  CHECK(removeOversized(model) == 1);
  CHECK(model.nodes[0].cost == std::vector<int64_t>{5});
  reduce(model, [] { return false; });
  CHECK(model.constant == 8);
}

/// A problem of nodes without memory, two strategies each, in a path whose edges are alike.
static Instance path(std::initializer_list<int64_t> costs, std::vector<int64_t> edge) {
  Instance instance;
  int node = 0;
  for (auto cost = costs.begin(); cost != costs.end(); cost += 2, ++node) {
    instance.costs.values.insert(instance.costs.values.end(), {cost[0], cost[1]});
    instance.costs.close();
    if (node == 0)
      continue;
    instance.edges.values.insert(instance.edges.values.end(), {node - 1, node});
    instance.edges.close();
    instance.edgeCosts.values.insert(instance.edgeCosts.values.end(), edge.begin(), edge.end());
    instance.edgeCosts.close();
  }
  return instance;
}

TEST_CASE("the worked example of Dual.h") {
  Model model(path({0, 4, 4, 0}, {0, 5, 5, 0}));
  Core core(model);
  CHECK(trivialBound(core) == 0);
  Dual dual(core);
  CHECK(dual.sweep() == Approx(4));
  CHECK(dual.certify() == 4);
}

TEST_CASE("the worked examples of Prices.h and Branching.h") {
  Instance instance;
  instance.intervals = {{0, 1}, {0, 1}};
  for (int node = 0; node < 2; ++node) {
    instance.costs.values.insert(instance.costs.values.end(), {0, 3});
    instance.costs.close();
    instance.usages.values.insert(instance.usages.values.end(), {2, 0});
    instance.usages.close();
  }
  instance.usageLimit = 3;
  Model model(instance);
  Core core(model);
  REQUIRE(core.capacity == std::vector<int64_t>{3});
  Dual dual(core);
  PriceSearch search(core, dual);
  for (int update = 0; update < 200; ++update)
    search.step(/*target=*/3);
  CHECK(search.bound() == Approx(1.5).epsilon(0.02));
  CHECK(search.prices().front() == Approx(1.5).epsilon(0.05));

  dual.setPrices(search.prices());
  dual.sweep();
  Branching branching(core, dual, search.prices(), dual.certify());
  Value answer = Assignment(core, {0, 1}).value();
  CHECK(answer.cost == 3);
  answer.cost += 1; // some answer that is not the best
  Slice slice;
  slice.work = 1;
  for (int step = 0; step < 2000 && !branching.ended(); ++step)
    branching.run(slice, answer);
  CHECK(branching.bound() == 3);
}

TEST_CASE("certified bounds stay below the optimum, under any prices") {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    Core core = rawCore(random, {.nodes = 8, .strategies = 3, .edges = 14, .hyperedges = false});
    ExactSearch search(core, firstStrategies(core));
    REQUIRE(search.run(10'000'000, [] { return false; }));
    if (!search.answer().value().feasible())
      continue;
    Dual dual(core);
    std::vector<double> prices(core.capacity.size());
    for (int update = 0; update < 3; ++update) {
      double bound = dual.sweep() + double(core.constant);
      REQUIRE(dual.certify() <= search.answer().value().cost);
      REQUIRE(std::abs(double(dual.certify()) - bound) < 1.01 + 1e-4 * std::abs(bound));
      for (double &price : prices)
        price = random.unit() * 3;
      dual.setPrices(prices);
    }
  }
}

TEST_CASE("the bound is tight on trees") {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    Instance instance;
    for (int node = 0; node < 7; ++node) {
      for (int s = 0; s < 3; ++s)
        instance.costs.values.push_back(random.below(100));
      instance.costs.close();
      if (node == 0)
        continue;
      instance.edges.values.insert(instance.edges.values.end(), {random.below(node), node});
      instance.edges.close();
      for (int entry = 0; entry < 9; ++entry)
        instance.edgeCosts.values.push_back(random.below(100));
      instance.edgeCosts.close();
    }
    Model model(instance);
    Core core(model);
    Dual dual(core);
    for (int sweep = 0; sweep < 50; ++sweep)
      dual.sweep();
    REQUIRE(Wide(dual.certify()) == *bruteForce(instance));
    REQUIRE(Wide(Assignment(core, dual.decode()).value().cost) == *bruteForce(instance));
  }
}

TEST_CASE("elimination finds the best choice of a region") {
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    Core core = rawCore(
        random, {.nodes = 9, .strategies = 3, .edges = 20, .tightness = 0, .hyperedges = false});
    DirectedTables<double> tables(core, 1);
    Elimination elimination(core, tables);
    Assignment before(core, [&] {
      std::vector<int> choice;
      for (int size : core.size)
        choice.push_back(random.below(size));
      return choice;
    }());
    std::vector<int> region;
    for (int u = 0; u < core.numNodes(); ++u)
      if (random.unit() < 0.7)
        region.push_back(u);
    elimination.plan(region, 1 + random.below(30));
    elimination.condition(before.choices());
    std::vector<int> chosen = elimination.solve(random), best = before.choices();
    for (size_t place = 0; place < chosen.size(); ++place)
      best[elimination.nodes()[place]] = chosen[place];
    Value found = Assignment(core, best).value();
    REQUIRE(found <= before.value());
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<int> other = before.choices();
      for (int node : elimination.nodes())
        other[node] = random.below(core.size[node]);
      REQUIRE(found <= Assignment(core, other).value());
    }
  }
}

TEST_CASE("values are kept up to date by local search") {
  Random random(10);
  for (int i = 0; i < 50; ++i) {
    Core core = rawCore(random, {.nodes = 60,
                                 .strategies = 4,
                                 .edges = 150,
                                 .times = 30,
                                 .forbidden = 0.05,
                                 .tightness = 0.3,
                                 .hyperedges = false});
    DirectedTables<double> tables(core, 1);
    LocalSearch search(core, tables, i);
    search.start(firstStrategies(core));
    for (int step = 0; step < 30; ++step) {
      Value before = search.answer().value();
      search.step();
      Value after = search.answer().value();
      Assignment again(core, search.answer().choices());
      REQUIRE(after <= before);
      REQUIRE(after.key() == again.value().key());
      REQUIRE(search.answer().loads() == again.loads());
      if (step % 10 == 9)
        search.kick();
    }
  }
}

/// Pairs of nodes that live at their own time and must share it: only the answer that was planted
/// fits there, and what is cheap never does.
static Instance plantedInstance(Random &random, int pairs) {
  Instance instance;
  instance.usageLimit = 100;
  for (int pair = 0; pair < pairs; ++pair) {
    int share = 20 + random.below(60), place = random.below(5);
    for (int half = 0; half < 2; ++half) {
      int fitting = half ? 100 - share : share;
      instance.intervals.push_back({pair, pair + 1});
      for (int s = 0; s < 5; ++s) {
        instance.usages.values.push_back(s == place ? fitting : fitting + 1 + random.below(15));
        instance.costs.values.push_back(s == place ? 1000 : random.below(10));
      }
      instance.usages.close();
      instance.costs.close();
    }
  }
  for (int e = 0; e < 4 * pairs; ++e) {
    int a = random.below(2 * pairs), b = random.below(2 * pairs);
    if (a == b)
      continue;
    instance.edges.values.insert(instance.edges.values.end(), {a, b});
    instance.edges.close();
    for (int entry = 0; entry < 25; ++entry)
      instance.edgeCosts.values.push_back(random.below(50));
    instance.edgeCosts.close();
  }
  return instance;
}

TEST_CASE("an answer is found from a start that does not fit") {
  Random random(11);
  for (int i = 0; i < 5; ++i) {
    Instance instance = plantedInstance(random, 40);
    Model model(instance);
    Core core(model);
    DirectedTables<double> tables(core, 1);
    Assignment start = firstStrategies(core);
    REQUIRE_FALSE(start.value().feasible());
    Climber climber(core, tables, i);
    Slice slice;
    slice.work = 50'000'000;
    climber.run(slice, {start, {}}, false);
    CHECK(climber.best().value().feasible());
  }
}

/// A problem that some rounds do not solve to the end.
static Instance largeInstance() {
  Random random(12);
  Instance instance;
  while (instance.numNodes() < 300 || instance.edges.size() < 800 ||
         std::abs(*instance.usageLimit - 500) > 100)
    instance = randomInstance(random, {.nodes = 400,
                                       .strategies = 6,
                                       .edges = 1200,
                                       .times = 50,
                                       .forbidden = 0,
                                       .tightness = 1,
                                       .hyperedges = false});
  return instance;
}

TEST_CASE("the seed and the iterations give the answer, however many threads there are") {
  Instance instance = largeInstance();
  Options options = withIterations(4, 3);
  options.threads = 1;
  Result one = solve(instance, options);
  REQUIRE(one.status == Status::Feasible);
  options.threads = 2;
  Result two = solve(instance, options);
  CHECK(one.answer == two.answer);
  CHECK(one.progress.lowerBound == two.progress.lowerBound);
  options.threads = 5;
  options.workers = 2;
  options.timeLimit = std::numeric_limits<double>::infinity();
  Result five = solve(instance, options);
  CHECK(one.answer == five.answer);
  CHECK(one.progress.lowerBound == five.progress.lowerBound);
  CHECK(evaluate(instance, one.answer).cost == Wide(*one.progress.cost));
  CHECK(one.progress.lowerBound < *one.progress.cost);
}

TEST_CASE("rounds end where the answer is near enough to the bound") {
  Instance instance = largeInstance();
  Options options = withIterations(8);
  options.roundWork = 1'000'000;
  Result whole = solve(instance, options);
  double least = whole.progress.gap();
  REQUIRE(least > 0);
  options.gapLimit = 4 * least;
  Result near = solve(instance, options);
  CHECK(near.progress.gap() <= options.gapLimit);
  CHECK(near.progress.gap() > least);
}

TEST_CASE(
    "rounds end, but not the first ones, where no answer may cost as little as is hoped for") {
  Instance instance = largeInstance();
  Options options = withIterations(8);
  options.roundWork = 1'000'000;
  Result whole = solve(instance, options);
  options.hopefulCost = 1;
  std::vector<Result> results;
  for (int64_t first : {1, 3, 8}) {
    options.firstIterations = first;
    results.push_back(solve(instance, options));
    CHECK(results.back().progress.lowerBound >= options.hopefulCost);
  }
  CHECK(*results[0].progress.cost > *results[1].progress.cost);
  CHECK(*results[1].progress.cost > *results[2].progress.cost);
  CHECK(results[2].answer == whole.answer);
}

TEST_CASE("splitting raises the bound up to the optimum and not above") {
  Random random(13);
  int split = 0;
  for (int i = 0; i < 200; ++i) {
    Core core = rawCore(random, {.nodes = 9, .strategies = 3, .edges = 12, .hyperedges = false});
    ExactSearch search(core, firstStrategies(core));
    REQUIRE(search.run(10'000'000, [] { return false; }));
    Value optimum = search.answer().value();
    if (!optimum.feasible())
      continue;
    Dual dual(core);
    std::vector<double> prices(core.capacity.size(), 0.0);
    Value above = optimum;
    above.cost += 1 + i % 50; // some answer that is not the best
    Branching branching(core, dual, prices, dual.certify());
    Slice slice;
    slice.work = 1;
    for (int step = 0; step < 2000 && !branching.ended(); ++step) {
      branching.run(slice, above);
      if (branching.bound() != INT64_MAX)
        REQUIRE(branching.bound() <= optimum.cost);
      for (const Assignment &answer : branching.takeDecoded())
        REQUIRE(optimum.cost <= answer.value().cost);
      split += step > 0;
    }
    // The part that holds the optimum costs less than `above`: it must be left.
    CHECK(branching.bound() == optimum.cost);
  }
  CHECK(split > 1000);
}

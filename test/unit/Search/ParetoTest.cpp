// All best splits by several costs, against all assignments.
#include "compiler/Search/ParetoElimination.h"

#include "compiler/Search/Solver/Instance.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace weft;

namespace {
class Random {
public:
  explicit Random(uint64_t seed) : random(seed) {}
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  }

private:
  std::mt19937_64 random;
};

CostInstance makeInstance(uint64_t seed) {
  Random random(seed);
  CostInstance instance;
  instance.edgeCost = 3;
  int64_t most = random.pick(2, 9);
  for (int64_t count = random.pick(1, 6); count > 0; --count)
    for (auto &own = instance.variables.emplace_back(random.pick(1, 4)); Costs &costs : own)
      for (int64_t &cost : costs)
        cost = random.pick(0, 40) == 0 ? solver::forbidden : random.pick(0, most);
  for (unsigned from = 0; from < instance.variables.size(); ++from)
    for (unsigned to = 0; to < from; ++to) {
      if (random.pick(0, 2) == 0)
        continue;
      CostInstance::Edge &edge = instance.edges.emplace_back();
      edge.from = from;
      edge.to = to;
      for (size_t i = instance.variables[from].size() * instance.variables[to].size(); i > 0; --i)
        edge.costs.push_back(random.pick(0, 9) == 0 ? solver::forbidden : random.pick(0, 6));
    }
  if (random.pick(0, 1) == 0) {
    instance.limits.emplace();
    instance.limits->fill(solver::forbidden);
    (*instance.limits)[4] = random.pick(0, 3 * most);
  }
  return instance;
}

Costs evaluate(const CostInstance &instance, const std::vector<unsigned> &strategies) {
  Costs costs{};
  for (auto [own, strategy] : llvm::zip_equal(instance.variables, strategies))
    costs = costs + own[strategy];
  for (const CostInstance::Edge &edge : instance.edges) {
    Costs more{};
    more[instance.edgeCost] =
        edge.costs[strategies[edge.from] * instance.variables[edge.to].size() +
                   strategies[edge.to]];
    costs = costs + more;
  }
  return costs;
}

/// Of all assignments the costs that none beats.
std::set<Costs> enumerate(const CostInstance &instance) {
  std::set<Costs> all, best;
  std::vector<unsigned> strategies(instance.variables.size(), 0);
  for (bool more = true; more;) {
    Costs costs = evaluate(instance, strategies);
    if (llvm::all_of(costs, [](int64_t cost) { return cost < solver::forbidden; }) &&
        (!instance.limits || isNoWorse(costs, *instance.limits)))
      all.insert(costs);
    more = false;
    for (size_t i = 0; i < strategies.size() && !more; ++i) {
      more = ++strategies[i] < instance.variables[i].size();
      strategies[i] = more ? strategies[i] : 0;
    }
  }
  for (const Costs &costs : all)
    if (llvm::none_of(
            all, [&](const Costs &other) { return other != costs && isNoWorse(other, costs); }))
      best.insert(costs);
  return best;
}
} // namespace

TEST_CASE("elimination finds the costs that no assignment beats, and all of them") {
  size_t answers = 0, none = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    CostInstance instance = makeInstance(seed);
    EliminationLimits limits;
    limits.answers = 100'000;
    std::optional<ParetoSet> found = findParetoSet(instance, limits);
    REQUIRE(found);
    CHECK(found->isComplete);
    std::set<Costs> costs;
    for (const CostAnswer &answer : found->answers) {
      CHECK(evaluate(instance, answer.strategies) == answer.costs);
      costs.insert(answer.costs);
    }
    CHECK(costs.size() == found->answers.size());
    CHECK(costs == enumerate(instance));
    answers += costs.size();
    none += costs.empty();
  }
  CHECK(answers > 2000);
  CHECK(none > 0);
}

TEST_CASE("where few answers are kept they are the least by each cost, and none is beaten") {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    CostInstance instance = makeInstance(seed);
    EliminationLimits limits;
    limits.answers = 12;
    std::optional<ParetoSet> found = findParetoSet(instance, limits);
    REQUIRE(found);
    std::set<Costs> best = enumerate(instance);
    CHECK(found->answers.empty() == best.empty());
    CHECK(found->answers.size() <= 12);
    CHECK((!found->isComplete || found->answers.size() == best.size()));
    for (const CostAnswer &answer : found->answers)
      for (const CostAnswer &other : found->answers)
        CHECK((&answer == &other || !isNoWorse(other.costs, answer.costs)));
    for (size_t i = 0; i < numCosts && !best.empty(); ++i) {
      auto least = [&](const auto &all, auto get) {
        int64_t cost = solver::forbidden;
        for (const auto &each : all)
          cost = std::min(cost, get(each));
        return cost;
      };
      CHECK(least(found->answers, [&](const CostAnswer &answer) { return answer.costs[i]; }) ==
            least(best, [&](const Costs &costs) { return costs[i]; }));
    }
  }
}

TEST_CASE("a graph that is too dense is refused") {
  CostInstance instance;
  instance.variables.assign(12, std::vector<Costs>(8));
  Random random(7);
  for (std::vector<Costs> &own : instance.variables)
    for (Costs &costs : own)
      for (int64_t &cost : costs)
        cost = random.pick(0, 1000);
  for (unsigned from = 0; from < 12; ++from)
    for (unsigned to = 0; to < from; ++to) {
      CostInstance::Edge &edge = instance.edges.emplace_back();
      edge.from = from;
      edge.to = to;
      for (int i = 0; i < 64; ++i)
        edge.costs.push_back(random.pick(0, 1000));
    }
  CHECK_FALSE(findParetoSet(instance));
}

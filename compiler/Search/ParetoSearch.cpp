#include "compiler/Search/ParetoSearch.h"

#include "compiler/Search/Searcher.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace weft;
using llvm::ArrayRef;

/// The costs in their order: seconds of the phases, of communication, bytes.
static constexpr size_t communication = 3, memory = 4;

/// Where there is no exact answer: by how much more one kind of seconds counts than the others in
/// turn, and into how many sizes of memory what lies between the least and the fastest is parted.
static constexpr int64_t emphasis = 1024, numSizes = 4;

static int64_t toUnits(double seconds) {
  return std::isfinite(seconds) ? std::llround(seconds * unitsPerSecond) : solver::forbidden;
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// Adds what the strategies of an operation's variable compute, cut and join.
void Searcher::addCosts(unsigned index, Phase phase, std::vector<Costs> &costs) {
  const ShardingGraph::Node &node = graph.nodes[index];
  double times = getCount(index) * static_cast<double>(problem.work[index].times);
  const StrategyVariable &variable = variables[operationOf[classes[index]]];
  for (auto [own, split] : llvm::zip_equal(costs, variable.splits)) {
    double moved = 0;
    for (auto [slot, tensor] : llvm::enumerate(node.operands)) {
      TensorSharding form = getOperandForm(node.rule, slot, split);
      moved += getCutSeconds(tensor, form) + getJoinSeconds(tensor, form);
    }
    Costs more{};
    more[static_cast<size_t>(phase)] =
        toUnits(times * getShardSeconds(graph, node, problem.work[index], split.axes,
                                        prices.getDevice(), prices.getConstants()));
    more[communication] = toUnits(times * moved);
    own = own + more;
  }
}

CostInstance Searcher::makeCosts(ArrayRef<Phase> phases) {
  CostInstance instance;
  instance.edgeCost = communication;
  for (const StrategyVariable &variable : variables) {
    std::vector<Costs> &costs = instance.variables.emplace_back(variable.seconds.size());
    for (auto [own, held] : llvm::zip_equal(costs, variable.held))
      own[memory] = std::llround(held);
  }
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    if (unsigned variable = operationOf[classes[node]]; variable != ShardingGraph::none)
      addCosts(node, phases[node], instance.variables[variable]);
  for (const auto &[ends, carried] : links) {
    const auto &[maker, taker] = ends;
    bool isOwn = maker.variable == taker.variable;
    size_t makers = variables[maker.variable].seconds.size();
    std::vector<int64_t> table(makers * (isOwn ? 1 : variables[taker.variable].seconds.size()));
    addLink(maker, taker, carried.first, carried.second, table, isOwn);
    if (!isOwn) {
      instance.edges.push_back({maker.variable, taker.variable, std::move(table)});
      continue;
    }
    for (auto [own, cost] : llvm::zip_equal(instance.variables[maker.variable], table)) {
      Costs more{};
      more[communication] = cost;
      own = own + more;
    }
  }
  if (options.memoryLimit > 0) {
    instance.limits.emplace();
    instance.limits->fill(solver::forbidden);
    (*instance.limits)[memory] = static_cast<int64_t>(options.memoryLimit);
  }
  return instance;
}

//===----------------------------------------------------------------------===//
// Without an exact answer
//===----------------------------------------------------------------------===//

namespace {
/// Asks the solver for answers by one sum of costs each.
class Sampler {
public:
  Sampler(const CostInstance &instance, const SearchOptions &options)
      : instance(instance), options(options) {}

  ParetoSet run();

private:
  std::optional<Costs> solve(const Costs &weights, int64_t bytes);
  Costs evaluate(ArrayRef<unsigned> strategies) const;

  const CostInstance &instance;
  const SearchOptions &options;
  ParetoSet found;
};
} // namespace

static int64_t sum(const Costs &costs, const Costs &weights) {
  int64_t total = 0;
  for (size_t i = 0; i < numCosts; ++i) {
    if (costs[i] >= solver::forbidden)
      return solver::forbidden;
    total += costs[i] * weights[i];
  }
  return total;
}

Costs Sampler::evaluate(ArrayRef<unsigned> strategies) const {
  Costs costs{};
  for (auto [variable, strategy] : llvm::zip_equal(instance.variables, strategies))
    costs = costs + variable[strategy];
  for (const CostInstance::Edge &edge : instance.edges)
    costs[instance.edgeCost] +=
        edge.costs[strategies[edge.from] * instance.variables[edge.to].size() +
                   strategies[edge.to]];
  return costs;
}

/// What no answer holds less than: each variable by itself.
static int64_t getLeastMemory(const CostInstance &instance) {
  int64_t total = 0;
  for (const std::vector<Costs> &variable : instance.variables) {
    int64_t least = solver::forbidden;
    for (const Costs &costs : variable)
      least = std::min(least, costs[memory]);
    total += least;
  }
  return total;
}

/// The answer of the least weighted sum within so many bytes (0: any).
std::optional<Costs> Sampler::solve(const Costs &weights, int64_t bytes) {
  solver::Instance scalar;
  for (const std::vector<Costs> &variable : instance.variables) {
    for (const Costs &costs : variable) {
      scalar.costs.values.push_back(sum(costs, weights));
      scalar.usages.values.push_back(costs[memory]);
    }
    scalar.costs.close();
    scalar.usages.close();
    scalar.intervals.push_back({0, 1});
  }
  for (const CostInstance::Edge &edge : instance.edges) {
    scalar.edges.values.insert(scalar.edges.values.end(), {edge.from, edge.to});
    scalar.edges.close();
    for (int64_t cost : edge.costs)
      scalar.edgeCosts.values.push_back(cost < solver::forbidden ? cost * weights[instance.edgeCost]
                                                                 : solver::forbidden);
    scalar.edgeCosts.close();
  }
  if (bytes > 0)
    scalar.usageLimit = bytes;
  solver::Options limits;
  limits.iterations = 1; // of many, none need be proved
  limits.timeLimit = options.timeLimit;
  limits.threads = options.threads;
  limits.workers = solverWorkers;
  solver::Result result = solver::solve(scalar, limits);
  if (result.answer.empty())
    return std::nullopt;
  CostAnswer answer;
  answer.strategies.assign(result.answer.begin(), result.answer.end());
  answer.costs = evaluate(answer.strategies);
  Costs costs = answer.costs;
  bool isBeaten = llvm::any_of(
      found.answers, [&](const CostAnswer &other) { return isNoWorse(other.costs, costs); });
  if (isBeaten)
    return costs;
  llvm::erase_if(found.answers,
                 [&](const CostAnswer &other) { return isNoWorse(costs, other.costs); });
  found.answers.push_back(std::move(answer));
  return costs;
}

ParetoSet Sampler::run() {
  found.isComplete = false;
  int64_t limit = instance.limits ? (*instance.limits)[memory] : 0;
  const Costs even{1, 1, 1, 1, 0};
  std::optional<Costs> fastest = solve(even, limit);
  std::optional<Costs> least = solve({0, 0, 0, 0, 1}, limit);
  if (!fastest || !least)
    return std::move(found);
  for (int64_t part = 1; part < numSizes; ++part)
    solve(even, (*least)[memory] + ((*fastest)[memory] - (*least)[memory]) * part / numSizes);
  for (size_t kind = 0; kind < memory; ++kind) {
    Costs weights = even;
    weights[kind] = emphasis;
    solve(weights, limit);
  }
  llvm::sort(found.answers,
             [](const CostAnswer &a, const CostAnswer &b) { return a.costs < b.costs; });
  return std::move(found);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

StepSplits Searcher::runPareto(ArrayRef<Phase> phases, const EliminationLimits &limits) {
  StepSplits result;
  if (!build())
    return result;
  CostInstance instance = makeCosts(phases);
  if (instance.limits && getLeastMemory(instance) > (*instance.limits)[memory])
    return result;
  std::optional<ParetoSet> exact = findParetoSet(instance, limits);
  ParetoSet set = exact ? std::move(*exact) : Sampler(instance, options).run();
  result.isComplete = set.isComplete;
  for (const CostAnswer &found : set.answers) {
    auto seconds = [&](size_t kind) {
      return static_cast<double>(found.costs[kind]) / unitsPerSecond;
    };
    solver::Result read;
    read.status = solver::Status::Feasible;
    read.answer.assign(found.strategies.begin(), found.strategies.end());
    read.progress.cost = sum(found.costs, {1, 1, 1, 1, 0});
    result.splits.push_back({{seconds(0), seconds(1), seconds(2), seconds(communication),
                              static_cast<double>(found.costs[memory])},
                             this->read(read)});
  }
  return result;
}

StepSplits weft::searchPareto(const ShardingProblem &problem, ArrayRef<Phase> phases,
                              MeshPrices &prices, FormTables &tables, const SearchOptions &options,
                              const EliminationLimits &limits) {
  return Searcher(problem, prices, tables, options).runPareto(phases, limits);
}

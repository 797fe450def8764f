#include "compiler/Search/ParetoElimination.h"

#include "compiler/Search/Solver/Instance.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

using namespace weft;
using solver::forbidden;

bool weft::isNoWorse(const Costs &a, const Costs &b) {
  return llvm::all_of(llvm::zip(a, b),
                      [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
}

Costs weft::operator+(const Costs &a, const Costs &b) {
  Costs sum;
  for (size_t i = 0; i < numCosts; ++i)
    sum[i] = a[i] >= forbidden || b[i] >= forbidden ? forbidden : a[i] + b[i];
  return sum;
}

static bool isAllowed(const Costs &costs) {
  return llvm::all_of(costs, [](int64_t cost) { return cost < forbidden; });
}

namespace {
/// An answer in part: its costs, and what was chosen, as a tree of choices.
struct Point {
  Costs costs{};
  int choice = -1;
};

struct Choice {
  int first = -1, second = -1; ///< choices that this one joins
  unsigned variable = 0, strategy = 0;
  bool isJoin = false;
};

using Points = std::vector<Point>;

/// What some variables cost together, by their strategies.
struct Table {
  std::vector<unsigned> scope;
  std::vector<Points> entries; ///< row-major
};

class Eliminator {
public:
  Eliminator(const CostInstance &instance, const EliminationLimits &limits)
      : instance(instance), limits(limits), open(instance.variables.size()) {}

  std::optional<ParetoSet> run();

private:
  void dropStrategies();
  bool isBeaten(unsigned variable, unsigned by, unsigned strategy) const;
  int64_t getEdgeCost(const CostInstance::Edge &edge, unsigned from, unsigned to) const {
    return edge.costs[from * instance.variables[edge.to].size() + to];
  }
  void makeTables();
  std::vector<unsigned> getNeighbours(unsigned variable) const;
  double countEntries(unsigned variable) const;
  void eliminate(unsigned variable);
  Points combine(unsigned variable, const std::vector<const Table *> &own,
                 const std::vector<unsigned> &scope, std::vector<unsigned> &at);
  size_t locate(const Table &table, const std::vector<unsigned> &scope,
                const std::vector<unsigned> &at, unsigned variable, unsigned number) const;
  Points join(const Points &a, const Points &b);
  void prune(Points &points);
  void thin(Points &points);
  int addChoice(const Choice &choice) {
    choices.push_back(choice);
    return static_cast<int>(choices.size()) - 1;
  }
  void unfold(int choice, std::vector<unsigned> &strategies) const;

  const CostInstance &instance;
  const EliminationLimits &limits;
  std::vector<std::vector<unsigned>> open; ///< by variable: strategies that are left
  std::vector<Table> tables;
  std::vector<Choice> choices;
  size_t numEntries = 0;
  bool isComplete = true;
};
} // namespace

//===----------------------------------------------------------------------===//
// Lists of costs
//===----------------------------------------------------------------------===//

/// Keeps what nothing beats, of equal costs one.
void Eliminator::prune(Points &points) {
  if (instance.limits)
    llvm::erase_if(points,
                   [&](const Point &point) { return !isNoWorse(point.costs, *instance.limits); });
  llvm::sort(points, [](const Point &a, const Point &b) {
    return std::tie(a.costs, a.choice) < std::tie(b.costs, b.choice);
  });
  Points kept;
  for (const Point &point : points)
    if (llvm::none_of(kept,
                      [&](const Point &other) { return isNoWorse(other.costs, point.costs); }))
      kept.push_back(point);
  points = std::move(kept);
  thin(points);
}

/// Of points that lie near each other by every cost keeps one, and the least by each cost.
void Eliminator::thin(Points &points) {
  for (double share = 0.01; points.size() > limits.answers && share < 1e6; share *= 2) {
    isComplete = false;
    std::set<std::array<int64_t, numCosts>> cells;
    std::set<const Point *> least;
    for (size_t i = 0; i < numCosts; ++i)
      least.insert(&*llvm::min_element(
          points, [&](const Point &a, const Point &b) { return a.costs[i] < b.costs[i]; }));
    Points kept;
    for (const Point &point : points) {
      std::array<int64_t, numCosts> cell;
      for (size_t i = 0; i < numCosts; ++i)
        cell[i] = static_cast<int64_t>(std::log1p(double(point.costs[i])) / std::log1p(share));
      if (cells.insert(cell).second || least.contains(&point))
        kept.push_back(point);
    }
    points = std::move(kept);
  }
}

Points Eliminator::join(const Points &a, const Points &b) {
  Points joined;
  for (const Point &x : a)
    for (const Point &y : b)
      joined.push_back({x.costs + y.costs, -1});
  std::vector<std::pair<int, int>> pairs;
  for (const Point &x : a)
    for (const Point &y : b)
      pairs.emplace_back(x.choice, y.choice);
  for (size_t i = 0; i < joined.size(); ++i)
    joined[i].choice = static_cast<int>(i);
  prune(joined);
  for (Point &point : joined) {
    auto [first, second] = pairs[point.choice];
    point.choice = first < 0    ? second
                   : second < 0 ? first
                                : addChoice({first, second, 0, 0, /*isJoin=*/true});
  }
  return joined;
}

//===----------------------------------------------------------------------===//
// Strategies that are beaten
//===----------------------------------------------------------------------===//

/// Whether, whatever the others choose, one strategy is as good as another one of its variable.
bool Eliminator::isBeaten(unsigned variable, unsigned by, unsigned strategy) const {
  const std::vector<Costs> &costs = instance.variables[variable];
  if (!isNoWorse(costs[by], costs[strategy]))
    return false;
  for (const CostInstance::Edge &edge : instance.edges) {
    if (edge.from == variable && llvm::any_of(open[edge.to], [&](unsigned to) {
          return getEdgeCost(edge, by, to) > getEdgeCost(edge, strategy, to);
        }))
      return false;
    if (edge.to == variable && llvm::any_of(open[edge.from], [&](unsigned from) {
          return getEdgeCost(edge, from, by) > getEdgeCost(edge, from, strategy);
        }))
      return false;
  }
  return true;
}

void Eliminator::dropStrategies() {
  for (auto [own, costs] : llvm::zip_equal(open, instance.variables))
    for (unsigned strategy = 0; strategy < costs.size(); ++strategy)
      if (isAllowed(costs[strategy]))
        own.push_back(strategy);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned variable = 0; variable < open.size(); ++variable)
      for (size_t i = open[variable].size(); i-- > 0;) {
        unsigned strategy = open[variable][i];
        if (llvm::none_of(open[variable], [&](unsigned by) {
              return by != strategy && isBeaten(variable, by, strategy);
            }))
          continue;
        open[variable].erase(open[variable].begin() + i);
        changed = true;
      }
  }
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

void Eliminator::makeTables() {
  for (unsigned variable = 0; variable < open.size(); ++variable) {
    Table &table = tables.emplace_back();
    table.scope = {variable};
    for (unsigned strategy : open[variable])
      table.entries.push_back({{instance.variables[variable][strategy],
                                addChoice({-1, -1, variable, strategy, /*isJoin=*/false})}});
  }
  for (const CostInstance::Edge &edge : instance.edges) {
    Table &table = tables.emplace_back();
    table.scope = {edge.from, edge.to};
    for (unsigned from : open[edge.from])
      for (unsigned to : open[edge.to]) {
        Points &points = table.entries.emplace_back();
        if (int64_t cost = getEdgeCost(edge, from, to); cost < forbidden) {
          points.emplace_back();
          points.front().costs[instance.edgeCost] = cost;
        }
      }
  }
}

std::vector<unsigned> Eliminator::getNeighbours(unsigned variable) const {
  std::set<unsigned> found;
  for (const Table &table : tables)
    if (llvm::is_contained(table.scope, variable))
      found.insert(table.scope.begin(), table.scope.end());
  found.erase(variable);
  return {found.begin(), found.end()};
}

double Eliminator::countEntries(unsigned variable) const {
  double count = static_cast<double>(open[variable].size());
  for (unsigned other : getNeighbours(variable))
    count *= static_cast<double>(open[other].size());
  return count;
}

/// The entry of a table where the variables of `scope` are at these of their open strategies.
size_t Eliminator::locate(const Table &table, const std::vector<unsigned> &scope,
                          const std::vector<unsigned> &at, unsigned variable,
                          unsigned number) const {
  size_t index = 0;
  for (unsigned own : table.scope) {
    unsigned chosen = own == variable ? number : at[llvm::find(scope, own) - scope.begin()];
    index = index * open[own].size() + chosen;
  }
  return index;
}

/// All that is worth it of a variable's strategies, where its neighbours are decided.
Points Eliminator::combine(unsigned variable, const std::vector<const Table *> &own,
                           const std::vector<unsigned> &scope, std::vector<unsigned> &at) {
  Points all;
  for (unsigned number = 0; number < open[variable].size(); ++number) {
    Points points{Point()};
    for (const Table *table : own) {
      const Points &more = table->entries[locate(*table, scope, at, variable, number)];
      points = join(points, more);
    }
    all.insert(all.end(), points.begin(), points.end());
  }
  prune(all);
  return all;
}

void Eliminator::eliminate(unsigned variable) {
  std::vector<Table> rest, taken;
  Table made;
  made.scope = getNeighbours(variable);
  for (Table &table : tables)
    (llvm::is_contained(table.scope, variable) ? taken : rest).push_back(std::move(table));
  std::vector<const Table *> own;
  size_t size = 1;
  for (const Table &table : taken)
    own.push_back(&table);
  for (unsigned other : made.scope)
    size *= open[other].size();
  std::vector<unsigned> at(made.scope.size(), 0);
  for (size_t entry = 0; entry < size; ++entry) {
    size_t left = entry;
    for (size_t i = made.scope.size(); i-- > 0; left /= open[made.scope[i]].size())
      at[i] = left % open[made.scope[i]].size();
    made.entries.push_back(combine(variable, own, made.scope, at));
  }
  rest.push_back(std::move(made));
  tables = std::move(rest);
}

void Eliminator::unfold(int choice, std::vector<unsigned> &strategies) const {
  std::vector<int> stack{choice};
  while (!stack.empty()) {
    int next = stack.back();
    stack.pop_back();
    if (next < 0)
      continue;
    const Choice &own = choices[next];
    if (!own.isJoin)
      strategies[own.variable] = own.strategy;
    stack.insert(stack.end(), {own.first, own.second});
  }
}

std::optional<ParetoSet> Eliminator::run() {
  dropStrategies();
  makeTables();
  std::set<unsigned> left;
  for (unsigned variable = 0; variable < open.size(); ++variable)
    left.insert(variable);
  while (!left.empty()) {
    unsigned next = *llvm::min_element(
        left, [&](unsigned a, unsigned b) { return countEntries(a) < countEntries(b); });
    double count = countEntries(next);
    if (count + double(numEntries) > double(limits.entries))
      return std::nullopt;
    numEntries += static_cast<size_t>(count);
    eliminate(next);
    left.erase(next);
  }
  Points points{Point()};
  for (const Table &table : tables)
    points = join(points, table.entries.front());
  prune(points);
  ParetoSet set;
  set.isComplete = isComplete;
  for (const Point &point : points) {
    CostAnswer &answer = set.answers.emplace_back();
    answer.costs = point.costs;
    answer.strategies.resize(open.size());
    unfold(point.choice, answer.strategies);
  }
  return set;
}

std::optional<ParetoSet> weft::findParetoSet(const CostInstance &instance,
                                             const EliminationLimits &limits) {
  return Eliminator(instance, limits).run();
}

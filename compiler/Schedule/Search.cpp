#include "compiler/Schedule/Search.h"
#include "compiler/Schedule/ListScheduler.h"
#include "compiler/Schedule/LocalSearch.h"
#include "compiler/Schedule/Pattern.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <limits>

using namespace weft::schedule;

namespace {

/// Operations that may be scheduled or priced on each placement: some seconds together.
constexpr double listBudget = 2e7, patternBudget = 5e6, moveBudget = 1e8;
constexpr double mostMoves = 1e5; ///< from one order
constexpr size_t numSeeds = 3;    ///< orders that local search starts from

/// What was found on one placement, best first.
class Pool {
public:
  Pool(const Spec &spec, Placement placement)
      : problem(placement, spec.microbatches,
                divideCosts(spec.costs, spec.message, placement, spec.microbatches, 1),
                spec.limit.value_or(std::numeric_limits<double>::infinity())),
        pricer(problem) {}

  void add(Order order);
  void addLists();
  void addPatterns(const Spec &spec);
  void improve();
  std::vector<Schedule> getSchedules() const;

  const OrderProblem &getProblem() const { return problem; }

private:
  struct Found {
    double cost;
    Order order;
  };
  double getRoundTrip() const;
  bool isDone() const { return !found.empty() && found[0].cost <= bound * (1 + 1e-12); }

  OrderProblem problem;
  OrderPricer pricer;
  OrderTimes times;
  double bound = getCostBound(problem);
  std::vector<Found> found;
};

void Pool::add(Order order) {
  if (order.empty() || !pricer.price(order, times) ||
      !std::all_of(order.begin(), order.end(),
                   [&](const auto &list) { return fitsMemory(problem, list); }))
    return;
  double cost = times.getCost();
  auto place = std::lower_bound(found.begin(), found.end(), cost,
                                [](const Found &a, double b) { return a.cost < b; });
  if (place != found.end() && place->cost == cost)
    return; // most likely the same
  found.insert(place, {cost, std::move(order)});
  if (found.size() > numSeeds)
    found.pop_back();
}

/// Forwards that a rank can run for each rank behind it, until the first gradient comes back.
double Pool::getRoundTrip() const {
  double forward = problem.getSeconds(problem.getOp(OpKind::Forward, 0, 0));
  double input = problem.getSeconds(problem.getOp(OpKind::Input, 0, 0));
  return forward > 0 ? (forward + input + 2 * problem.message) / forward : 2;
}

/// Policies in an order in which the first few are the ones that are best most often.
void Pool::addLists() {
  auto left = static_cast<int64_t>(1 + listBudget / problem.getNumOps());
  double trip = getRoundTrip();
  for (double patience : {0.5, 0.0, 0.25, 0.75, 1.0})
    for (auto [base, slope] : {std::pair{0.0, 0.0},
                               {1.0, 1.0},
                               {2.0, 2.0},
                               {0.0, trip},
                               {1.0, trip},
                               {1.0, 2.0},
                               {1.0, 1.5},
                               {2.0, 1.0},
                               {2.0, 1.5}})
      for (auto prefer : {ListPolicy::Prefer::Gradients, ListPolicy::Prefer::Alternate,
                          ListPolicy::Prefer::Forwards}) {
        if (left-- <= 0 || isDone())
          return;
        add(makeListOrder(problem, {prefer, true, base, slope, patience}));
      }
}

void Pool::addPatterns(const Spec &spec) {
  auto left = static_cast<int64_t>(patternBudget / problem.getNumOps());
  for (int32_t sum : {12, 10, 8, 6, 4})
    for (const Pattern &pattern : listPatterns(spec.ranks, sum)) {
      if (left-- <= 0 || isDone())
        return;
      add(makeOrder(problem, makePattern(spec, "", pattern)));
    }
}

void Pool::improve() {
  auto moves =
      static_cast<int64_t>(std::min(mostMoves, moveBudget / problem.getNumOps() / numSeeds));
  std::vector<Found> seeds = found;
  for (size_t i = 0; i < seeds.size() && !isDone(); ++i) {
    improveOrder(problem, seeds[i].order, moves, i + 1);
    add(std::move(seeds[i].order));
  }
}

std::vector<Schedule> Pool::getSchedules() const {
  std::vector<Schedule> schedules;
  for (const Found &entry : found)
    schedules.push_back(makeSchedule(problem, entry.order, "searched"));
  return schedules;
}

double getPeak(const Timeline &timeline) {
  return *std::max_element(timeline.peak.begin(), timeline.peak.end());
}

class Search {
public:
  explicit Search(const Spec &spec) : spec(spec) {}
  Searched run();

private:
  void makePools();
  void addNamed();
  void consider(Schedule schedule);
  Searched choose();

  const Spec &spec;
  std::deque<Pool> pools; ///< which do not move
  std::vector<Searched> candidates;
  size_t named = 0; ///< of the candidates, the first ones
};

/// One stage a rank and a V of two, or the loop and the V of as many chunks as are asked for.
void Search::makePools() {
  for (int32_t chunks : {1, 2, 3}) {
    int32_t wanted = spec.chunks.value_or(chunks);
    if (wanted != chunks && !(chunks == 3 && wanted > 3))
      continue;
    if (chunks == 1 || spec.chunks)
      pools.emplace_back(spec, placeLoop(spec.ranks, wanted));
    if (chunks > 1 && (spec.chunks || chunks == 2))
      pools.emplace_back(spec, placeV(spec.ranks, wanted));
  }
}

/// Prices a schedule with the simulator, and keeps it if it fits.
void Search::consider(Schedule schedule) {
  addMessages(schedule);
  Costs costs = divideCosts(spec.costs, spec.message, schedule.placement, spec.microbatches, 1);
  Timeline timeline = runSchedule(schedule, costs);
  if (!spec.limit || getPeak(timeline) <= *spec.limit + 1e-9 * (1 + *spec.limit))
    candidates.push_back({std::move(schedule), std::move(timeline)});
}

void Search::addNamed() {
  for (const NamedSchedule &entry : listNamedSchedules()) {
    Schedule schedule;
    try {
      schedule = entry.make(spec);
    } catch (const ScheduleError &) {
      continue; // not with so many ranks, microbatches or chunks
    }
    if (schedule.placement.numPaths > 1 && !spec.copies)
      continue;
    for (Pool &pool : pools)
      if (pool.getProblem().placement.ranks == schedule.placement.ranks &&
          schedule.placement.numPaths == 1 && schedule.recompute.empty())
        pool.add(makeOrder(pool.getProblem(), schedule));
    consider(std::move(schedule));
  }
  named = candidates.size();
}

/// The best by cost of those that are not worse than any named one in both of its terms; if there
/// is none, the one that ends first, but for rounding, and of these the one with the least bubble.
/// Of the same cost the one with less memory.
Searched Search::choose() {
  double makespan = std::numeric_limits<double>::infinity(), longest = makespan, first = makespan;
  for (size_t i = 0; i < candidates.size(); ++i) {
    first = std::min(first, candidates[i].timeline.makespan);
    if (i >= named)
      continue;
    makespan = std::min(makespan, candidates[i].timeline.makespan);
    longest = std::min(longest, candidates[i].timeline.longest);
  }
  constexpr double rounding = 1 + 1e-12;
  auto rank = [&](const Searched &entry) {
    const Timeline &times = entry.timeline;
    bool dominates = times.makespan <= makespan * rounding && times.longest <= longest * rounding;
    if (dominates)
      return std::tuple(false, times.makespan + times.longest, 0.0, getPeak(times));
    double end = times.makespan <= first * rounding ? first : times.makespan;
    return std::tuple(true, end, times.longest, getPeak(times));
  };
  auto best = std::min_element(candidates.begin(), candidates.end(),
                               [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
  return std::move(*best);
}

Searched Search::run() {
  if (spec.slices > 1)
    throw ScheduleError("schedule searched has no token slices; gpipe and 1f1b have them");
  makePools();
  addNamed();
  for (Pool &pool : pools) {
    pool.addLists();
    if (pool.getProblem().placement.ranks == placeV(spec.ranks, 2).ranks && spec.ranks > 1)
      pool.addPatterns(spec);
    pool.improve();
    for (Schedule &schedule : pool.getSchedules())
      consider(std::move(schedule));
  }
  if (candidates.empty())
    throw ScheduleError(fmt::format(
        "no schedule fits the limit {:.6g} of each rank: one microbatch alone needs more",
        *spec.limit));
  return choose();
}

} // namespace

Searched weft::schedule::searchSchedule(const Spec &spec) { return Search(spec).run(); }

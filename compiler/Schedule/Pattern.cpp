#include "compiler/Schedule/Pattern.h"
#include "compiler/Schedule/Builder.h"
#include "compiler/Schedule/LocalSearch.h"

#include <algorithm>
#include <tuple>

using namespace weft::schedule;

using enum ActionKind;

Pattern::Cells Pattern::getCells(int32_t ranks, int32_t rank) const {
  int32_t last = ranks - 1, cell = last * down + lowTurn;
  Cells cells{};
  cells.forwardDown = rank * down;
  cells.forwardUp = cell + (last - rank) * up;
  cell += last * up + highTurn;
  cells.inputUp = cell + rank * back;
  cell += last * back + loopTurn;
  cells.inputDown = cell + (last - rank) * out;
  return cells;
}

bool Pattern::fits(int32_t ranks) const {
  for (int32_t rank = 0; rank < std::min(ranks, period); ++rank) { // what follows repeats
    Cells cells = getCells(ranks, rank);
    unsigned taken = 0;
    for (int32_t cell : {cells.forwardDown, cells.forwardUp, cells.inputUp, cells.inputDown}) {
      unsigned bit = 1u << (cell % period);
      if (taken & bit)
        return false;
      taken |= bit;
    }
  }
  return true;
}

/// Both chunks live equally long on every rank if down + out and up + back are the same.
std::vector<Pattern> weft::schedule::listPatterns(int32_t ranks, int32_t sum) {
  std::vector<Pattern> patterns;
  for (int32_t down = 1; down < sum / 2; ++down)
    for (int32_t up = 1; up < sum / 2; ++up)
      for (int32_t turns = 0; turns < Pattern::period * Pattern::period * Pattern::period;
           ++turns) {
        Pattern pattern{down, up, sum / 2 - up, sum / 2 - down};
        pattern.lowTurn = 1 + turns % Pattern::period;
        pattern.highTurn = 1 + turns / Pattern::period % Pattern::period;
        pattern.loopTurn = 1 + turns / Pattern::period / Pattern::period;
        if (pattern.fits(ranks))
          patterns.push_back(pattern);
      }
  auto getKey = [](const Pattern &pattern) {
    return std::tuple(pattern.lowTurn + pattern.highTurn + pattern.loopTurn, pattern.down,
                      pattern.up, pattern.loopTurn, pattern.highTurn);
  };
  std::sort(patterns.begin(), patterns.end(),
            [&](const Pattern &a, const Pattern &b) { return getKey(a) < getKey(b); });
  return patterns;
}

static void writePattern(Schedule &schedule, int32_t rank, const Pattern &pattern) {
  int32_t ranks = schedule.placement.numRanks;
  int32_t down = rank, up = 2 * ranks - 1 - rank;
  Pattern::Cells cells = pattern.getCells(ranks, rank);
  ListBuilder list(schedule, rank);
  auto starts = [&](int32_t first, int32_t cell) {
    return cell >= first && (cell - first) % Pattern::period == 0;
  };
  auto addAt = [&](int32_t cell) {
    return (starts(cells.forwardDown, cell) && list.add(Forward, down)) ||
           (starts(cells.forwardUp, cell) && list.add(Forward, up)) ||
           (starts(cells.inputUp, cell) && list.add(BackwardInput, up)) ||
           (starts(cells.inputDown, cell) && list.add(BackwardInput, down)) ||
           list.add(BackwardWeight, up) || list.add(BackwardWeight, down);
  };
  for (int32_t cell = 0; list.has(BackwardInput, down) || list.has(BackwardInput, up); ++cell)
    addAt(cell);
  while (list.add(BackwardWeight, up) || list.add(BackwardWeight, down))
    ;
}

Schedule weft::schedule::makePattern(const Spec &spec, const char *name, const Pattern &pattern) {
  Schedule schedule = startSchedule(spec, name, placeV(spec.ranks, 2), 2);
  for (int32_t rank = 0; rank < spec.ranks; ++rank)
    writePattern(schedule, rank, pattern);
  return schedule;
}

Schedule weft::schedule::makeBestPattern(const Spec &spec, const char *name, int32_t sum) {
  constexpr double pricing = 5e6, moving = 8e7; // operations that may be priced: half a second
  Placement placement = startSchedule(spec, name, placeV(spec.ranks, 2), 2).placement;
  Costs costs = divideCosts(spec.costs, spec.message, placement, spec.microbatches, 1);
  OrderProblem problem(placement, spec.microbatches, costs, 0);
  OrderPricer pricer(problem);
  OrderTimes times;
  Order best;
  double bestCost = 0;
  auto left = static_cast<int64_t>(1 + pricing / problem.getNumOps());
  for (const Pattern &pattern : listPatterns(spec.ranks, sum)) {
    if (left-- == 0)
      break;
    Order order = makeOrder(problem, makePattern(spec, name, pattern));
    double peak = getPeak(problem, order);
    if (!pricer.price(order, times))
      continue;
    if (best.empty() || std::pair(peak, times.getCost()) < std::pair(problem.limit, bestCost)) {
      best = std::move(order);
      bestCost = times.getCost();
      problem.limit = peak;
    }
  }
  double moves = std::min(1e5, moving / problem.getNumOps());
  improveOrder(problem, best, static_cast<int64_t>(moves), 1);
  return makeSchedule(problem, best, name);
}

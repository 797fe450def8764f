//===- Climber.cpp - a worker that improves answers -----------------------===//

#include "compiler/Search/Solver/Climber.h"

using namespace weft::solver;

namespace {
constexpr int leastPatience = 100;            // regions without gain before a descent has ended
constexpr double patienceByNode = 0.2;        // more for each node
constexpr int64_t windowLength = 200'000'000; // table entries, of a descent
constexpr double leastGain = 0.002;           // in a window, of the distance to the bound
constexpr double poolShare = 0.8;             // of the restarts: from another answer
constexpr int mostKicks = 6;                  // of a restart from the best
} // namespace

Climber::Climber(const Core &core, const DirectedTables<double> &tables, uint64_t seed)
    : core(core), random(seed), search(core, tables, random.next()) {}

void Climber::begin(const Assignment &from) {
  search.start(from);
  reached = windowStart = from.value();
  idle = 0;
  windowWork = 0;
  if (!started() || from.value() < own.value())
    own = from;
}

/// Rather from the cheaper ones.
void Climber::beginFromPool(const std::vector<Assignment> &pool) {
  double rank = random.unit() * random.unit();
  begin(pool[size_t(rank * double(pool.size()))]);
}

void Climber::restart(const Shared &shared) {
  if (!shared.pool.empty() && random.unit() < poolShare)
    return beginFromPool(shared.pool);
  begin(shared.best.value() < own.value() ? shared.best : own);
  for (int kicks = 1 + random.below(mostKicks); kicks > 0; --kicks)
    search.kick();
  reached = windowStart = search.answer().value();
}

void Climber::advance() {
  search.step();
  ++idle;
  if (!(search.answer().value() < reached))
    return;
  reached = search.answer().value();
  idle = 0;
  if (reached < own.value())
    own = search.answer();
}

/// Whether a descent has ended: nothing was gained for long, or little in a window.
bool Climber::settles(int64_t bound, bool last) {
  if (idle > leastPatience + int(patienceByNode * core.numNodes()))
    return true;
  if (last || windowWork < windowLength)
    return false;
  double gain = double(windowStart.cost - reached.cost);
  bool ended = windowStart.feasible() && gain < leastGain * double(reached.cost - bound);
  windowStart = reached;
  windowWork = 0;
  return ended;
}

/// Where to go on at the beginning of a slice.
void Climber::choose(const Shared &shared, bool last) {
  const Value &present = search.answer().value(), &best = shared.best.value();
  bool behind = best < present && ((last && !finishing) || !present.feasible());
  if (!started() && !shared.pool.empty() && !last)
    beginFromPool(shared.pool);
  else if (!started() || behind)
    begin(shared.best);
  else if (!shared.pool.empty() && shared.pool.front().value() < own.value())
    begin(shared.pool.front());
  finishing = last;
}

void Climber::run(const Slice &slice, const Shared &shared, bool last) {
  choose(shared, last);
  int64_t work = 0;
  do {
    advance();
    int64_t more = search.takeWork();
    work += more;
    windowWork += more;
    if (settles(shared.bound, last))
      restart(shared);
  } while (!slice.over(work));
}

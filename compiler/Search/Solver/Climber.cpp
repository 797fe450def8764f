//===- Climber.cpp - a worker that improves answers -----------------------===//

#include "compiler/Search/Solver/Climber.h"

using namespace weft::solver;

namespace {
constexpr int leastPatience = 100;     // regions without gain before a restart
constexpr double patienceByNode = 0.2; // more for each node
constexpr double poolShare = 0.4;      // of the restarts: from another answer
constexpr int mostKicks = 6;
} // namespace

Climber::Climber(const Core &core, const DirectedTables<double> &tables, uint64_t seed)
    : core(core), random(seed), search(core, tables, random.next()) {}

void Climber::begin(const Assignment &from) {
  search.start(from);
  reached = from.value();
  idle = 0;
  note();
}

void Climber::note() {
  if (!started() || search.answer().value() < own.value())
    own = search.answer();
}

void Climber::restart(const Assignment &best, const std::vector<Assignment> &pool) {
  if (!pool.empty() && random.unit() < poolShare)
    return begin(pool[random.below(pool.size())]);
  begin(best.value() < own.value() ? best : own);
  for (int kicks = 1 + random.below(mostKicks); kicks > 0; --kicks)
    search.kick();
  reached = search.answer().value();
}

void Climber::run(const Slice &slice, const Assignment &best, const std::vector<Assignment> &pool,
                  bool last) {
  const Value &present = search.answer().value();
  bool behind = best.value() < present && ((last && !finishing) || !present.feasible());
  if (!started() || behind)
    begin(best);
  finishing = last;
  int patience = leastPatience + int(patienceByNode * core.numNodes());
  int64_t work = 0;
  do {
    search.step();
    work += search.takeWork();
    ++idle;
    if (search.answer().value() < reached) {
      reached = search.answer().value();
      idle = 0;
      note();
    } else if (idle > patience && !last) {
      restart(best, pool);
    }
  } while (!slice.over(work));
}

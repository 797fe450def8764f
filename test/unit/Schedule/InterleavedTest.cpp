#include "test/unit/Schedule/Schedules.h"

#include <map>
#include <tuple>

using namespace weft::schedule;

namespace {

/// Whether what an action waits for is taken to be there without a message.
using Forgets = bool (*)(const Placement &placement, const Action &action);

/// The last end, by nothing but the definition: an action begins when its rank's last one is over
/// and a message after the end of the one that it needs.
class Evaluator {
public:
  Evaluator(const Schedule &schedule, const Costs &costs, Forgets forgets)
      : schedule(schedule), costs(costs), forgets(forgets) {}

  double run() {
    std::vector<size_t> next(schedule.ranks.size());
    std::vector<double> time(schedule.ranks.size());
    for (bool moves = true; moves;) {
      moves = false;
      for (size_t rank = 0; rank < time.size(); ++rank)
        while (next[rank] < schedule.ranks[rank].size() &&
               step(schedule.ranks[rank][next[rank]], time[rank])) {
          ++next[rank];
          moves = true;
        }
    }
    for (size_t rank = 0; rank < time.size(); ++rank)
      REQUIRE(next[rank] == schedule.ranks[rank].size());
    return *std::max_element(time.begin(), time.end());
  }

private:
  bool step(const Action &action, double &time) {
    const Placement &placement = schedule.placement;
    bool forward = action.kind == ActionKind::Forward;
    bool ends = forward ? placement.isFirst(action.stage) : placement.isLast(action.stage);
    double ready = 0;
    if (!forward && ends) {
      auto found = done.find({true, action.stage, action.microbatch});
      if (found == done.end())
        return false;
      ready = found->second;
    } else if (!ends && !forgets(placement, action)) {
      int32_t from = action.stage + (forward ? -1 : 1);
      auto found = done.find({forward, from, action.microbatch});
      if (found == done.end())
        return false;
      ready = found->second + costs.message;
    }
    const StageCosts &cost = costs.get(schedule, action.stage, 0);
    time = std::max(time, ready) + (forward ? cost.forward : cost.input + cost.weight);
    done[{forward, action.stage, action.microbatch}] = time;
    return true;
  }

  const Schedule &schedule;
  const Costs &costs;
  Forgets forgets;
  std::map<std::tuple<bool, int32_t, int32_t>, double> done; ///< forward, stage, microbatch
};

double getBubble(const Spec &spec, Forgets forgets) {
  Schedule schedule = findNamedSchedule("interleaved")->make(spec);
  Costs costs = divideCosts(spec.costs, spec.message, schedule.placement, spec.microbatches, 1);
  double makespan = Evaluator(schedule, costs, forgets).run();
  return (makespan - costs.work) / makespan;
}

} // namespace

/// Published numbers wait for what comes from the last rank to the first, and back, in the first
/// microbatch of each round alone. docs/schedules.md derives both closed forms.
TEST_CASE("interleaved waits for every message between the ends; published numbers do not") {
  struct Row {
    Spec spec;
    int32_t chunks;
    double published;
  };
  for (Row row : {Row{makeSpec(8, 24, 18.522, 18.086, 9.337, 0.601), 3, 0.1055},
                  Row{makeSpec(8, 64, 18.546, 18.097, 9.321, 0.762), 3, 0.0443},
                  Row{makeSpec(8, 24, 29.718, 29.444, 19.927, 0.527), 4, 0.0808},
                  Row{makeSpec(16, 48, 11.347, 11.248, 8.132, 0.377), 3, 0.1104}}) {
    Spec &spec = row.spec;
    spec.chunks = row.chunks;
    INFO(spec.ranks << " ranks, " << spec.microbatches << " microbatches");
    double bubble = runNamed("interleaved", spec).bubble;
    CHECK(getBubble(spec, [](const Placement &, const Action &) { return false; }) ==
          Approx(bubble));
    CHECK(getBubble(spec, [](const Placement &placement, const Action &action) {
            int32_t rank = placement.ranks[action.stage];
            int32_t edge = action.kind == ActionKind::Forward ? 0 : placement.numRanks - 1;
            return rank == edge && action.microbatch % placement.numRanks != 0;
          }) == Approx(row.published).margin(5e-5));

    int32_t p = spec.ranks, v = row.chunks;
    double whole = spec.costs.forward + spec.costs.input + spec.costs.weight;
    double idle = (p - 1) * whole / v + 2 * (p * v - 1) * spec.message;
    CHECK(bubble == Approx(idle / (spec.microbatches * whole + idle)));
  }
}

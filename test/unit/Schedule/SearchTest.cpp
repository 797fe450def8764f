#include "compiler/Schedule/Search.h"
#include "test/unit/Schedule/Schedules.h"

#include <random>

using namespace weft::schedule;

namespace {

/// Results of the zero-bubble authors' heuristics.
struct Golden {
  int32_t ranks, microbatches;
  double forward, input, weight, message;
  StageCosts memory;
  double limit;
  double longest, makespan;
};

StageCosts makeMemory(double forward, double input, double weight) {
  return {1, 1, 1, forward, input, weight};
}

/// A transformer layer's activations, and what its weight gradient still holds.
StageCosts makeLayerMemory(double hidden, double heads) {
  double forward = 34 * hidden + 5 * heads * 1024;
  return makeMemory(forward, 32 * hidden - forward, -32 * hidden);
}

Spec makeSpec(const Golden &golden) {
  Spec spec = weft::schedule::makeSpec(golden.ranks, golden.microbatches, golden.forward,
                                       golden.input, golden.weight, golden.message);
  spec.costs.forwardMemory = golden.memory.forwardMemory;
  spec.costs.inputMemory = golden.memory.inputMemory;
  spec.costs.weightMemory = golden.memory.weightMemory;
  spec.limit = golden.limit;
  return spec;
}

void checkSearched(const Spec &spec, const Searched &searched) {
  CHECK_NOTHROW(checkSchedule(searched.schedule, 1));
  if (spec.limit)
    CHECK(getPeak(searched.timeline) <= *spec.limit * (1 + 1e-9));
  for (const NamedSchedule &named : listNamedSchedules()) {
    Schedule schedule;
    try {
      schedule = named.make(spec);
    } catch (const ScheduleError &) {
      continue;
    }
    addMessages(schedule);
    Timeline timeline = run(schedule, spec);
    if (spec.limit && getPeak(timeline) > *spec.limit * (1 + 1e-9))
      continue;
    INFO(named.name);
    CHECK(searched.timeline.makespan <= timeline.makespan * (1 + 1e-9));
  }
}

} // namespace

TEST_CASE("searched schedules are at most what published heuristics find") {
  StageCosts two = makeMemory(2, -1, -1);
  for (const Golden &golden : {
           Golden{4, 12, 5, 6, 4, 0, two, 10, 193, 198},
           Golden{4, 12, 5, 6, 4, 0, two, 14, 183, 195},
           Golden{4, 12, 5478, 5806, 3534, 200, two, 32, 178898, 194850},
           Golden{4, 8, 1, 1, 1, 0, two, 8, 27, 27},
           Golden{4, 8, 1, 1, 1, 0, two, 16, 24, 27},
           Golden{8, 24, 1, 1, 1, 0, two, 16, 79, 79},
           Golden{8, 24, 1, 1, 1, 0, two, 32, 72, 79},
       })
    for (bool oneChunk : {true, false}) {
      if (!oneChunk && golden.limit != 10 && golden.limit != 16)
        continue; // easier than with one chunk
      Spec spec = makeSpec(golden);
      if (oneChunk)
        spec.chunks = 1;
      Searched searched = searchSchedule(spec);
      INFO(golden.ranks << " ranks, " << golden.microbatches << " microbatches, limit "
                        << golden.limit << (oneChunk ? ", one chunk" : ""));
      CHECK(searched.timeline.longest <= golden.longest);
      CHECK(searched.timeline.makespan <= golden.makespan);
      checkSearched(spec, searched);
    }
}

TEST_CASE("bubbles at once and twice the memory of 1F1B are at most the published ones") {
  struct Row {
    Golden golden;
    double hidden, heads, once, twice;
  };
  for (const Row &row : {
           Row{{8, 24, 18522, 18086, 9337, 601, {}, 0, 0, 0}, 2304, 24, .1585, .0433},
           Row{{8, 24, 29718, 29444, 19927, 527, {}, 0, 0, 0}, 4096, 32, .1323, .0029},
           Row{{16, 48, 11347, 11248, 8132, 377, {}, 0, 0, 0}, 5120, 40, .1397, .0066},
           Row{{32, 96, 10419, 10207, 7715, 408, {}, 0, 0, 0}, 6144, 48, .1421, .0038},
       })
    for (auto [times, bubble] : {std::pair{1, row.once}, {2, row.twice}}) {
      Golden golden = row.golden;
      golden.memory = makeLayerMemory(row.hidden, row.heads);
      golden.limit = times * golden.ranks * golden.memory.forwardMemory;
      INFO(golden.ranks << " ranks at " << times << " times the memory");
      if (golden.ranks == 8)
        CHECK(searchSchedule(makeSpec(golden)).timeline.bubble <= bubble + 5e-5);
      Spec spec = makeSpec(golden);
      spec.chunks = 1;
      CHECK(searchSchedule(spec).timeline.bubble <= bubble + 1.5e-4);
    }
}

TEST_CASE("searched is never worse than a named schedule, whatever the costs") {
  for (Spec spec : {makeSpec(Golden{6, 7, 3, 1, 2, .3, makeMemory(1, 0, -1), 3, 0, 0}),
                    makeSpec(Golden{4, 8, 1, 4, 0, 2, makeMemory(1, -1, 0), 2, 0, 0}),
                    makeSpec(Golden{2, 16, 1, 1, 9, 0, makeMemory(3, 1, -4), 12, 0, 0}),
                    makeSpec(Golden{5, 10, 0, 1, 1, 0, makeMemory(1, 0, -1), 1, 0, 0})}) {
    checkSearched(spec, searchSchedule(spec));
    spec.limit.reset();
    checkSearched(spec, searchSchedule(spec));
    spec.chunks = 3;
    checkSearched(spec, searchSchedule(spec));
  }
}

TEST_CASE("searched is never worse than a named schedule, whatever is drawn") {
  std::minstd_rand random(7);
  auto draw = [&](int most) { return static_cast<int32_t>(random() % (most + 1)); };
  for (int i = 0; i < 6; ++i) {
    Golden golden{1 + draw(5),
                  1 + draw(11),
                  0.5 * draw(8),
                  0.5 * draw(8),
                  0.5 * draw(8) + 0.5,
                  0.25 * draw(4),
                  {},
                  0,
                  0,
                  0};
    double kept = 0.25 * draw(4);
    golden.memory = makeMemory(1, kept - 1, -kept);
    golden.limit = 1 + 0.5 * draw(2 * golden.ranks);
    Spec spec = makeSpec(golden);
    if (draw(3) == 0)
      spec.limit.reset();
    if (int32_t chunks = draw(3); chunks > 0 && draw(1) == 0)
      spec.chunks = chunks;
    INFO("draw " << i << ": " << golden.ranks << " ranks, " << golden.microbatches
                 << " microbatches");
    checkSearched(spec, searchSchedule(spec));
  }
}

/// The random search ends a rounding's width before zb-v, which idles less.
TEST_CASE("of schedules that end at the same time the one with the least bubble is taken") {
  Spec spec = weft::schedule::makeSpec(8, 32, 0, 5.553, 4, 0);
  spec.costs.inputMemory = -0.75;
  spec.costs.weightMemory = -0.25;
  CHECK(searchSchedule(spec).timeline.bubble <= runNamed("zb-v", spec).bubble + 1e-9);
}

TEST_CASE("where copies of stages are not allowed the best is another") {
  Spec spec = weft::schedule::makeSpec(2, 4, 1, 1, 1, 0);
  Searched both = searchSchedule(spec);
  CHECK(both.schedule.placement.numPaths == 2);
  spec.copies = false;
  Searched one = searchSchedule(spec);
  CHECK(one.schedule.placement.numPaths == 1);
  CHECK(one.timeline.makespan > both.timeline.makespan);
}

TEST_CASE("a limit that no microbatch passes is said") {
  Spec spec = weft::schedule::makeSpec(4, 8, 1, 1, 1, 0);
  spec.limit = 0.5;
  CHECK_THROWS_WITH(searchSchedule(spec), Catch::Contains("no schedule fits the limit 0.5"));
}

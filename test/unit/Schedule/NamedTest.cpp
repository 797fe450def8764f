#include "test/unit/Schedule/Schedules.h"

using namespace weft::schedule;

TEST_CASE("bubble rates published with the zero-bubble schedules, to four digits") {
  Spec eight = makeSpec(8, 24, 18.522, 18.086, 9.337, 0.601);
  CHECK(runNamed("1f1b", eight).bubble == Approx(0.2431).margin(5e-5));
  CHECK(runNamed("zb-h1", eight).bubble == Approx(0.1585).margin(5e-5));
  CHECK(runNamed("zb-h2", eight).bubble == Approx(0.1083).margin(5e-5));
  Spec many = makeSpec(32, 96, 10.419, 10.207, 7.715, 0.408);
  CHECK(runNamed("1f1b", many).bubble == Approx(0.2646).margin(5e-5));
  CHECK(runNamed("zb-h1", many).bubble == Approx(0.1421).margin(5e-5));
  CHECK(runNamed("zb-h2", many).bubble == Approx(0.0641).margin(5e-5));
  // Interleaved ones: InterleavedTest.cpp.
}

TEST_CASE("makespans published with Merak's critical path") {
  CHECK(runNamed("critical-path", makeSpec(4, 8, 1, 1, 1, 0)).makespan == 38);
  CHECK(runNamed("critical-path", makeSpec(8, 32, 1, 1, 1, 0)).makespan == 146);
}

TEST_CASE("recomputing less costs less and holds more") {
  Spec spec = makeSpec(8, 32, 1, 1, 1, 0);
  double makespan = runNamed("critical-path", spec).makespan, peak = 0;
  for (double ratio : {0.9, 0.5, 0.0}) {
    spec.recompute = ratio;
    Schedule schedule = makeNamed("critical-path", spec);
    CHECK(schedule.recompute.front() == Approx(ratio));
    CHECK(schedule.recompute.back() == 0);
    Timeline timeline = run(schedule, spec);
    CHECK(timeline.makespan <= makespan);
    CHECK(getPeak(timeline) > peak);
    makespan = timeline.makespan;
    peak = getPeak(timeline);
  }
}

TEST_CASE("bubbles of closed forms") {
  for (int32_t p : {2, 4, 6}) {
    double f = 2, b = 3, w = 1;
    int32_t m = 4 * p;
    Spec spec = makeSpec(p, m, f, b, w, 0);
    auto getBubble = [&](const char *name) {
      return runNamed(name, spec).longest - m * (f + b + w);
    };
    INFO("p = " << p);
    CHECK(getBubble("gpipe") == Approx((p - 1) * (f + b + w)));
    CHECK(getBubble("1f1b") == Approx((p - 1) * (f + b + w)));
    CHECK(getBubble("interleaved") == Approx((p - 1) * (f + b + w) / 2));
    CHECK(getBubble("zb-h1") == Approx((p - 1) * (f + b - w)));
    // With the full backward b + w, and a joined pair that takes f + b + w: at most, where forwards
    // and gradients take different times.
    double dual = (f + b + w) + (b + w) - 3 * w;
    CHECK(getBubble("dualpipe") <= (p / 2. - 1) * dual);
    CHECK(getBubble("dualpipev") <= (p - 1) * dual / 2);
    spec = makeSpec(p, m, 1, 1, 1, 0);
    f = b = w = 1;
    CHECK(getBubble("dualpipe") == Approx((p / 2. - 1) * 2));
    CHECK(getBubble("dualpipev") == Approx(p - 1));
  }
  CHECK(runNamed("zb-h2", makeSpec(8, 24, 1, 1, 1, 0)).bubble == Approx(0).margin(1e-12));
  for (int32_t p : {1, 2, 4, 8})
    CHECK(runNamed("zb-v", makeSpec(p, 3 * p, 1, 1, 1, 0)).bubble == Approx(0).margin(1e-12));
}

TEST_CASE("memory and messages of the schedules") {
  Spec spec = makeSpec(8, 24, 1, 1, 1, 0);
  Timeline gpipe = runNamed("gpipe", spec);
  CHECK(getPeak(gpipe) == 24);
  CHECK(gpipe.messages == 2 * 7 * 24);
  CHECK(runNamed("1f1b", spec).peak == std::vector<double>{8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(runNamed("zb-h1", spec).peak == std::vector<double>(8, 8));
  CHECK(runNamed("zb-h2", spec).peak == std::vector<double>(8, 15));
  CHECK(runNamed("dualpipe", spec).peak == std::vector<double>(8, 9));
  Timeline zbv = runNamed("zb-v", spec);
  CHECK(zbv.peak == std::vector<double>(8, 8));
  CHECK(zbv.messages == 2 * gpipe.messages);
  CHECK(getPeak(runNamed("v-half", spec)) == 5);
  CHECK(getPeak(runNamed("v-min", spec)) == 4);
  spec.chunks = 3;
  Timeline interleaved = runNamed("interleaved", spec);
  CHECK(interleaved.peak[0] == Approx(8 * (1 + 7 / 24.)).margin(1. / 3));
  CHECK(interleaved.messages == 2 * 23 * 24);
}

TEST_CASE("V schedules with less memory are as good as published") {
  Spec spec = makeSpec(8, 24, 2 * 4959, 2 * 5217, 2 * 3519, 213); // published for each chunk
  CHECK(runNamed("v-half", spec).bubble <= 0.1456);
  CHECK(runNamed("v-min", spec).bubble <= 0.2822);
}

TEST_CASE("zb-v takes the memory that it may") {
  Spec spec = makeSpec(8, 24, 1, 1, 1, 0);
  for (double limit : {8, 5, 4}) {
    spec.limit = limit;
    CHECK(getPeak(runNamed("zb-v", spec)) == limit);
  }
}

TEST_CASE("every schedule is complete, ordered and free of deadlocks with one buffer") {
  for (int32_t ranks : {1, 2, 3, 4, 8, 9})
    for (int32_t microbatches : {1, 2, 3, 8, 9, 18, 24})
      for (const NamedSchedule &named : listNamedSchedules()) {
        Spec spec = makeSpec(ranks, microbatches, 3, 2, 1, 0.5);
        Schedule schedule;
        try {
          schedule = named.make(spec);
        } catch (const ScheduleError &) {
          continue; // not with these numbers
        }
        INFO(named.name << ", " << ranks << " ranks, " << microbatches << " microbatches");
        addMessages(schedule);
        CHECK_NOTHROW(checkSchedule(schedule, 1));
        double work = microbatches * 6;
        CHECK(run(schedule, spec).makespan >= Approx(work));
      }
}

TEST_CASE("token slices flow through GPipe in the time of the closed form") {
  Spec spec = makeSpec(6, 1, 1, 2, 1, 0);
  spec.slices = 4;
  Schedule schedule = makeNamed("gpipe", spec);
  Costs costs = divideCosts(spec.costs, 0, schedule.placement, 1, 4);
  std::vector<double> forward = {4, 3, 2, 5}, backward = {7, 9, 6, 5};
  for (int32_t stage = 0; stage < 6; ++stage)
    for (int32_t slice = 0; slice < 4; ++slice) {
      StageCosts &cost = costs.stages[stage * 4 + slice];
      cost.forward = forward[slice];
      cost.input = backward[slice];
      cost.weight = 0;
    }
  CHECK(runSchedule(schedule, costs).makespan == Approx(14 + 27 + 5 * (5 + 9)));
  CHECK_NOTHROW(makeNamed("1f1b", spec));
  spec.microbatches = 5;
  CHECK(getPeak(runNamed("1f1b", spec)) < getPeak(runNamed("gpipe", spec)));
}

TEST_CASE("numbers that a schedule cannot have are named") {
  auto getMessage = [](const char *name, Spec spec) -> std::string {
    try {
      findNamedSchedule(name)->make(spec);
    } catch (const ScheduleError &error) {
      return error.what();
    }
    return "";
  };
  CHECK(getMessage("interleaved", makeSpec(4, 6, 1, 1, 1, 0)) ==
        "schedule interleaved needs the number of microbatches to be a multiple of the 4 ranks, "
        "got: 6");
  CHECK(getMessage("dualpipe", makeSpec(3, 6, 1, 1, 1, 0)) ==
        "schedule dualpipe needs an even number of ranks, got: 3");
  CHECK(getMessage("dualpipev", makeSpec(4, 6, 1, 1, 1, 0)) ==
        "schedule dualpipev needs at least 8 microbatches, twice the number of ranks, got: 6");
  Spec chunks = makeSpec(4, 8, 1, 1, 1, 0);
  chunks.chunks = 2;
  CHECK(getMessage("1f1b", chunks) == "expected 1 chunk of schedule 1f1b, got: 2");
  Spec slices = makeSpec(4, 8, 1, 1, 1, 0);
  slices.slices = 2;
  CHECK(getMessage("zb-h1", slices) ==
        "schedule zb-h1 has no token slices; gpipe and 1f1b have them");
  CHECK_FALSE(findNamedSchedule("zb-h3"));
}

TEST_CASE("what is told of schedules by name is so of those that are made") {
  for (const NamedSchedule &named : listNamedSchedules()) {
    INFO(named.name);
    Schedule schedule = makeNamed(named.name, makeSpec(4, 8, 1, 1, 1, 0));
    CHECK(schedule.placement.ranks == named.place(4, named.chunks).ranks);
    bool splits = false, again = false;
    for (const std::vector<Action> &list : schedule.ranks)
      for (const Action &action : list) {
        splits |= action.kind == ActionKind::BackwardWeight;
        again |= action.kind == ActionKind::Recompute;
      }
    CHECK(splits == named.splitsBackward);
    CHECK((schedule.placement.numPaths == 1 && !again) == named.isOfPrograms);
  }
}

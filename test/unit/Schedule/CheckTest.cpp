#include "test/unit/Schedule/Schedules.h"

using namespace weft::schedule;

using enum ActionKind;

static Schedule make1F1B() {
  Schedule schedule = makeNamed("1f1b", makeSpec(3, 4, 1, 1, 1, 0));
  return schedule;
}

static std::string getProblem(const Schedule &schedule, int32_t buffers = 1) {
  try {
    checkSchedule(schedule, buffers);
  } catch (const ScheduleError &error) {
    return error.what();
  }
  return "";
}

static std::vector<Action>::iterator find(std::vector<Action> &list, ActionKind kind,
                                          int32_t microbatch) {
  auto found = std::find_if(list.begin(), list.end(), [&](const Action &action) {
    return action.kind == kind && action.microbatch == microbatch;
  });
  REQUIRE(found != list.end());
  return found;
}

TEST_CASE("what is missing or double is named") {
  Schedule schedule = make1F1B();
  schedule.ranks[1].erase(find(schedule.ranks[1], Backward, 2));
  CHECK(getProblem(schedule) == "rank 1: B of stage 1, microbatch 2 is missing");

  schedule = make1F1B();
  schedule.ranks[2].erase(find(schedule.ranks[2], Forward, 3));
  CHECK(getProblem(schedule) == "rank 2: F of stage 2, microbatch 3 is missing");

  schedule = make1F1B();
  schedule.ranks[0].push_back({Forward, false, 0, 1, 0});
  CHECK(getProblem(schedule) == "rank 0: F of stage 0, microbatch 1 is there twice");

  schedule = make1F1B();
  schedule.ranks[0].push_back({BackwardWeight, false, 0, 1, 0});
  CHECK(getProblem(schedule) ==
        "rank 0: W of stage 0, microbatch 1 is there beside a full backward B, which contains it");

  schedule = make1F1B();
  schedule.ranks[0].erase(find(schedule.ranks[0], SendForward, 1));
  CHECK(getProblem(schedule) == "rank 0: SEND_F of stage 0, microbatch 1 is missing");

  schedule = make1F1B();
  schedule.ranks[2].push_back({SendForward, false, 2, 1, 0});
  CHECK(getProblem(schedule) ==
        "rank 2: SEND_F of stage 2, microbatch 1 is a message that nothing needs");

  schedule = make1F1B();
  schedule.ranks[2].push_back({Forward, false, 1, 1, 0});
  CHECK(getProblem(schedule) == "rank 2: F of stage 1, microbatch 1: the stage lies on rank 1");

  schedule = make1F1B();
  schedule.ranks[2].push_back({Forward, false, 2, 4, 0});
  CHECK(getProblem(schedule) ==
        "rank 2: F of stage 2, microbatch 4: there are 3 stages, 4 microbatches, 1 slices");
}

TEST_CASE("what comes too early is named") {
  Schedule schedule = make1F1B();
  auto gradient = find(schedule.ranks[2], Backward, 1),
       forward = find(schedule.ranks[2], Forward, 1);
  std::iter_swap(gradient, forward);
  CHECK(getProblem(schedule).find("B of stage 2, microbatch 1 comes before F of stage 2, "
                                  "microbatch 1") != std::string::npos);

  schedule = make1F1B();
  std::iter_swap(find(schedule.ranks[1], ReceiveForward, 1), find(schedule.ranks[1], Forward, 1));
  CHECK(getProblem(schedule) ==
        "rank 1: F of stage 1, microbatch 1 comes before RECV_F of stage 1, microbatch 1");

  schedule = make1F1B();
  std::iter_swap(find(schedule.ranks[0], SendForward, 0), find(schedule.ranks[0], SendForward, 1));
  CHECK(getProblem(schedule) ==
        "rank 0: SEND_F of stage 0, microbatch 1 comes before F of stage 0, microbatch 1");

  schedule = make1F1B();
  schedule.ranks[0].insert(schedule.ranks[0].begin(), {Update, false, 0, 0, 0});
  CHECK(getProblem(schedule) == "rank 0: UPDATE of stage 0 comes before the stage's last gradient");

  schedule = make1F1B();
  schedule.ranks[0].insert(schedule.ranks[0].begin(),
                           {{Gather, false, 0, 0, 0}, {Release, false, 0, 0, 0}});
  CHECK(getProblem(schedule) ==
        "rank 0: F of stage 0, microbatch 0 comes while the stage's weights are not gathered");
}

TEST_CASE("gathers, reductions and updates around a stage are legal") {
  Schedule schedule = make1F1B();
  for (int32_t rank = 0; rank < 3; ++rank) {
    schedule.ranks[rank].insert(schedule.ranks[rank].begin(), {Gather, false, rank, 0, 0});
    for (ActionKind kind : {Release, Reduce, Update})
      schedule.ranks[rank].push_back({kind, false, rank, 0, 0});
  }
  CHECK(getProblem(schedule).empty());
}

TEST_CASE("messages of an edge keep their order") {
  Schedule schedule = make1F1B();
  std::vector<Action> &list = schedule.ranks[1];
  auto first = find(list, ReceiveForward, 2), second = find(list, ReceiveForward, 3);
  // Both come before the first of the two forwards.
  Action moved = *second;
  list.erase(second);
  list.insert(first, moved);
  CHECK(getProblem(schedule) ==
        "rank 1: RECV_F of stage 1, microbatch 3 comes where rank 0 sends microbatch 2: messages "
        "of an edge are received in the order in which they are sent");
}

TEST_CASE("ranks that wait for each other are a deadlock") {
  // Rank 0 wants the first gradient before it sends the second microbatch, rank 1 both microbatches
  // before it sends a gradient.
  Schedule schedule;
  schedule.placement = placeLoop(2, 1);
  schedule.numMicrobatches = 2;
  schedule.ranks = {{{Forward, false, 0, 0},
                     {Backward, false, 0, 0},
                     {Forward, false, 0, 1},
                     {Backward, false, 0, 1}},
                    {{Forward, false, 1, 0},
                     {Forward, false, 1, 1},
                     {Backward, false, 1, 0},
                     {Backward, false, 1, 1}}};
  addMessages(schedule);
  CHECK(getProblem(schedule) ==
        "deadlock: rank 0 waits in RECV_B of stage 0, microbatch 0; rank 1 waits in RECV_F of "
        "stage 1, microbatch 1 (each edge holds 1 message a direction)");
}

TEST_CASE("bounded buffers make a deadlock of a list that has none without bounds") {
  // Two microbatches are sent before a gradient is taken, and gradients before microbatches.
  Schedule schedule = makeNamed("gpipe", makeSpec(2, 2, 1, 1, 1, 0));
  std::vector<Action> &first = schedule.ranks[0], &second = schedule.ranks[1];
  first = {{Forward, false, 0, 0},         {Forward, false, 0, 1},
           {SendForward, false, 0, 0},     {SendForward, false, 0, 1},
           {ReceiveBackward, false, 0, 0}, {Backward, false, 0, 0},
           {ReceiveBackward, false, 0, 1}, {Backward, false, 0, 1}};
  second = {{ReceiveForward, false, 1, 0}, {Forward, false, 1, 0},        {Backward, false, 1, 0},
            {SendBackward, false, 1, 0},   {ReceiveForward, false, 1, 1}, {Forward, false, 1, 1},
            {Backward, false, 1, 1},       {SendBackward, false, 1, 1}};
  CHECK(getProblem(schedule, 1).empty());
  CHECK(getProblem(schedule, 0) ==
        "deadlock: rank 0 waits in SEND_F of stage 0, microbatch 0; rank 1 waits in RECV_F of "
        "stage 1, microbatch 0 (each edge holds 0 messages a direction)");
  // Gradients of both microbatches go before either of the activations' receives.
  Schedule crossed = makeNamed("gpipe", makeSpec(2, 3, 1, 1, 1, 0));
  CHECK(getProblem(crossed, 1).empty());
}

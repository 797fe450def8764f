#include "compiler/Schedule/Order.h"
#include "compiler/Schedule/ListScheduler.h"
#include "compiler/Schedule/LocalSearch.h"
#include "test/unit/Schedule/Schedules.h"

#include <random>

using namespace weft::schedule;

/// The same as the simulator says, and inside the limit.
static void checkOrder(const OrderProblem &problem, const Costs &costs, const Order &order) {
  OrderTimes times;
  REQUIRE(OrderPricer(problem).price(order, times));
  Schedule schedule = makeSchedule(problem, order, "order");
  addMessages(schedule);
  REQUIRE_NOTHROW(checkSchedule(schedule, 1));
  Timeline timeline = runSchedule(schedule, costs);
  CHECK(timeline.makespan == Approx(times.makespan));
  CHECK(timeline.longest == Approx(times.longest));
  CHECK(getPeak(timeline) <= problem.limit * (1 + 1e-9));
  CHECK(getPeak(timeline) == Approx(getPeak(problem, order)));
  CHECK(times.getCost() >= getCostBound(problem) * (1 - 1e-9));
}

TEST_CASE("orders of all policies run as they were scheduled") {
  std::minstd_rand random(3);
  auto draw = [&](double most) { return most * double(random() % 1000 + 1) / 1000; };
  for (int i = 0; i < 200; ++i) {
    int32_t ranks = 1 + int32_t(random() % 6), microbatches = 1 + int32_t(random() % 12);
    int32_t chunks = 1 + int32_t(random() % 3);
    StageCosts cost{draw(5), draw(5), draw(5), 2, -draw(2), 0};
    cost.weightMemory = -2 - cost.inputMemory;
    Placement placement = random() % 2 ? placeLoop(ranks, chunks) : placeV(ranks, chunks);
    Costs costs = divideCosts(cost, draw(1), placement, microbatches, 1);
    OrderProblem problem(placement, microbatches, costs, 2 + draw(2.0 * ranks));
    ListPolicy policy{static_cast<ListPolicy::Prefer>(random() % 3), random() % 2 == 0,
                      double(random() % 3), double(random() % 3), draw(1)};
    Order order = makeListOrder(problem, policy);
    INFO(ranks << " ranks, " << chunks << " chunks, " << microbatches << " microbatches");
    REQUIRE_FALSE(order.empty());
    checkOrder(problem, costs, order);
    OrderTimes before, after;
    REQUIRE(OrderPricer(problem).price(order, before));
    improveOrder(problem, order, 300, i + 1);
    checkOrder(problem, costs, order);
    REQUIRE(OrderPricer(problem).price(order, after));
    CHECK(after.getCost() <= before.getCost() * (1 + 1e-9));
  }
}

TEST_CASE("the worked examples of Order.h and ListScheduler.h") {
  Placement placement = placeLoop(2, 1);
  Costs costs = divideCosts(StageCosts(), 0, placement, 3, 1);
  OrderProblem three(placement, 3, costs, 10);
  CHECK(three.getOp(OpKind::Forward, 1, 0) == 3);
  CHECK(three.getOp(OpKind::Input, 0, 2) == 8);
  CHECK(three.getOp(OpKind::Weight, 0, 0) == 12);
  double message = 0;
  CHECK(three.getInput(8, message) == 11);

  costs = divideCosts(StageCosts(), 0, placement, 2, 1);
  OrderProblem problem(placement, 2, costs, 10);
  Order order = makeListOrder(problem, {});
  auto list = [&](int32_t rank) {
    std::string text;
    for (int32_t op : order[rank])
      text += "FIW"[static_cast<int>(problem.getKind(op))] +
              std::to_string(problem.getMicrobatch(op)) + " ";
    return text;
  };
  CHECK(list(0) == "F0 F1 I0 W0 I1 W1 ");
  CHECK(list(1) == "F0 I0 F1 I1 W0 W1 ");
  OrderTimes times;
  REQUIRE(OrderPricer(problem).price(order, times));
  CHECK(times.makespan == 7);
  CHECK(times.begin[problem.getOp(OpKind::Input, 0, 0)] == 3);
}

TEST_CASE("a limit below one microbatch has no order") {
  Placement placement = placeV(4, 2);
  Costs costs = divideCosts(StageCosts(), 0, placement, 4, 1);
  CHECK(makeListOrder(OrderProblem(placement, 4, costs, 0.9), {}).empty());
  CHECK_FALSE(makeListOrder(OrderProblem(placement, 4, costs, 1), {}).empty());
}

TEST_CASE("orders that wait for themselves are found") {
  Placement placement = placeLoop(2, 1);
  Costs costs = divideCosts(StageCosts(), 0, placement, 2, 1);
  OrderProblem problem(placement, 2, costs, 10);
  Order order = makeListOrder(problem, {});
  std::swap(order[1][0], order[1].back());
  OrderTimes times;
  CHECK_FALSE(OrderPricer(problem).price(order, times));
}

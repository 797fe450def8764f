#include "compiler/Schedule/Order.h"

#include <algorithm>

using namespace weft::schedule;

OrderProblem::OrderProblem(Placement where, int32_t microbatches, const Costs &costs, double limit)
    : placement(std::move(where)), stages(placement.getNumStages()), microbatches(microbatches),
      message(costs.message), limit(limit), chunks(placement.getChunks()) {
  for (double StageCosts::*field : {&StageCosts::forward, &StageCosts::input, &StageCosts::weight})
    for (const StageCosts &stage : costs.stages)
      seconds.push_back(stage.*field);
  for (double StageCosts::*field :
       {&StageCosts::forwardMemory, &StageCosts::inputMemory, &StageCosts::weightMemory})
    for (const StageCosts &stage : costs.stages)
      memory.push_back(stage.*field);
}

int32_t OrderProblem::getInput(int32_t op, double &delay) const {
  int32_t stage = getStage(op), microbatch = getMicrobatch(op);
  delay = 0;
  switch (getKind(op)) {
  case OpKind::Forward:
    if (placement.isFirst(stage))
      return -1;
    delay = placement.crosses(stage - 1) ? message : 0;
    return getOp(OpKind::Forward, stage - 1, microbatch);
  case OpKind::Input:
    if (placement.isLast(stage))
      return getOp(OpKind::Forward, stage, microbatch);
    delay = placement.crosses(stage) ? message : 0;
    return getOp(OpKind::Input, stage + 1, microbatch);
  case OpKind::Weight:
    break;
  }
  return getOp(OpKind::Input, stage, microbatch);
}

OrderPricer::OrderPricer(const OrderProblem &problem)
    : problem(problem), input(problem.getNumOps()), next(problem.placement.numRanks),
      waiter(problem.getNumOps()), message(problem.getNumOps()) {
  for (int32_t op = 0; op < problem.getNumOps(); ++op)
    input[op] = problem.getInput(op, message[op]);
}

bool OrderPricer::price(const Order &order, OrderTimes &times) {
  constexpr double never = -1;
  times.begin.resize(input.size());
  times.end.assign(input.size(), never);
  std::fill(next.begin(), next.end(), 0);
  std::fill(waiter.begin(), waiter.end(), -1);
  std::vector<double> &end = times.end;
  work.clear();
  for (size_t rank = 0; rank < order.size(); ++rank)
    work.push_back(static_cast<int32_t>(rank));
  size_t done = 0;
  while (!work.empty()) {
    int32_t rank = work.back();
    work.pop_back();
    const std::vector<int32_t> &list = order[rank];
    double now = next[rank] == 0 ? 0 : end[list[next[rank] - 1]];
    for (; next[rank] < static_cast<int32_t>(list.size()); ++next[rank], ++done) {
      int32_t op = list[next[rank]];
      if (input[op] >= 0) {
        if (end[input[op]] == never) {
          waiter[input[op]] = rank;
          break;
        }
        now = std::max(now, end[input[op]] + message[op]);
      }
      times.begin[op] = now;
      end[op] = now += problem.getSeconds(op);
      if (waiter[op] >= 0)
        work.push_back(waiter[op]);
    }
  }
  if (done < input.size())
    return false;
  times.makespan = times.longest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    double last = end[order[rank].back()];
    times.makespan = std::max(times.makespan, last);
    if (double took = last - times.begin[order[rank].front()]; took > times.longest) {
      times.longest = took;
      times.last = static_cast<int32_t>(rank);
    }
  }
  return true;
}

static double getPeak(const OrderProblem &problem, const std::vector<int32_t> &order) {
  double live = 0, peak = 0;
  for (int32_t op : order) {
    live += problem.getMemory(op);
    peak = std::max(peak, live);
  }
  return peak;
}

double weft::schedule::getPeak(const OrderProblem &problem, const Order &order) {
  double peak = 0;
  for (const std::vector<int32_t> &list : order)
    peak = std::max(peak, ::getPeak(problem, list));
  return peak;
}

bool weft::schedule::fitsMemory(const OrderProblem &problem, const std::vector<int32_t> &order) {
  return ::getPeak(problem, order) <= problem.limit + 1e-9 * (1 + problem.limit);
}

Schedule weft::schedule::makeSchedule(const OrderProblem &problem, const Order &order,
                                      const char *name) {
  static constexpr ActionKind kinds[] = {ActionKind::Forward, ActionKind::BackwardInput,
                                         ActionKind::BackwardWeight};
  Schedule schedule;
  schedule.name = name;
  schedule.placement = problem.placement;
  schedule.numMicrobatches = problem.microbatches;
  for (const std::vector<int32_t> &list : order) {
    schedule.ranks.emplace_back();
    for (int32_t op : list)
      schedule.ranks.back().push_back({kinds[static_cast<size_t>(problem.getKind(op))], false,
                                       problem.getStage(op), problem.getMicrobatch(op), 0});
  }
  return schedule;
}

Order weft::schedule::makeOrder(const OrderProblem &problem, const Schedule &schedule) {
  Order order(schedule.ranks.size());
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Action &action : schedule.ranks[rank]) {
      auto add = [&](OpKind kind) {
        order[rank].push_back(problem.getOp(kind, action.stage, action.microbatch));
      };
      if (isForward(action.kind))
        add(OpKind::Forward);
      if (makesGradient(action.kind))
        add(OpKind::Input);
      if (action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardWeight)
        add(OpKind::Weight);
    }
  return order;
}

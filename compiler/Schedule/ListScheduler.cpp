#include "compiler/Schedule/ListScheduler.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <tuple>

using namespace weft::schedule;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// One stage on its rank. Operations of a kind run in the order of microbatches.
struct StageState {
  int32_t forward = 0, input = 0, weight = 0;   ///< how many have started
  std::vector<double> forwardReady, inputReady; ///< by microbatch, when inputs come
};

struct RankState {
  double free = 0, memory = 0;
  bool lastForward = false; ///< of the last operation that was not a weight gradient
};

class ListScheduler {
public:
  ListScheduler(const OrderProblem &problem, const ListPolicy &policy);
  Order run();

private:
  struct Choice {
    int32_t op = -1;
    double ready = never; ///< when the earliest candidate comes, where there is none yet
  };

  bool hasMemoryFor(int32_t rank, size_t chunk) const;
  bool admits(int32_t rank) const;
  int32_t getInFlight(int32_t rank) const;
  Choice chooseForward(int32_t rank, double now) const;
  Choice chooseInput(int32_t rank, double now) const;
  Choice chooseWeight(int32_t rank) const;
  int32_t choose(int32_t rank, double now, double &next) const;
  void start(int32_t rank, int32_t op, double now);
  void announce(int32_t op, double end);

  const OrderProblem &problem;
  const ListPolicy &policy;
  double slack;
  std::vector<StageState> stages;
  std::vector<RankState> states;
  Order order;
  using Wake = std::pair<double, int32_t>; ///< time and rank
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes;
};

ListScheduler::ListScheduler(const OrderProblem &problem, const ListPolicy &policy)
    : problem(problem), policy(policy), slack(1e-9 * (1 + problem.limit)), stages(problem.stages),
      states(problem.placement.numRanks), order(problem.placement.numRanks) {
  for (int32_t stage = 0; stage < problem.stages; ++stage) {
    bool first = problem.placement.isFirst(stage);
    stages[stage].forwardReady.assign(problem.microbatches, first ? 0 : never);
    stages[stage].inputReady.assign(problem.microbatches, never);
  }
  for (int32_t rank = 0; rank < problem.placement.numRanks; ++rank)
    wakes.push({0, rank});
}

/// Forwards of the rank's first chunk whose gradient has not run.
int32_t ListScheduler::getInFlight(int32_t rank) const {
  const StageState &first = stages[problem.chunks[rank].front()];
  return first.forward - first.input;
}

/// Whether after a forward of a chunk a microbatch could still pass all later ones.
bool ListScheduler::hasMemoryFor(int32_t rank, size_t chunk) const {
  const std::vector<int32_t> &chunks = problem.chunks[rank];
  double need = 0, most = 0;
  for (size_t i = chunk; i < chunks.size(); ++i) {
    need += problem.getMemory(problem.getOp(OpKind::Forward, chunks[i], 0));
    most = std::max(most, problem.getMemory(problem.getOp(OpKind::Input, chunks[i], 0)));
  }
  return states[rank].memory + need + most <= problem.limit + slack;
}

/// Whether the policy lets the first chunk take in one more microbatch.
bool ListScheduler::admits(int32_t rank) const {
  if (policy.warmupBase == 0 && policy.warmupSlope == 0)
    return true;
  int32_t behind = problem.placement.numRanks - 1 - rank;
  return getInFlight(rank) < std::max(1.0, policy.warmupBase + policy.warmupSlope * behind);
}

ListScheduler::Choice ListScheduler::chooseForward(int32_t rank, double now) const {
  Choice choice;
  const std::vector<int32_t> &chunks = problem.chunks[rank];
  for (size_t i = 0; i < chunks.size(); ++i) {
    size_t index = policy.deepFirst ? chunks.size() - 1 - i : i;
    int32_t stage = chunks[index];
    const StageState &state = stages[stage];
    if (state.forward == problem.microbatches)
      continue;
    int32_t op = problem.getOp(OpKind::Forward, stage, state.forward);
    if (!hasMemoryFor(rank, index) || (index == 0 && !admits(rank)))
      continue;
    double ready = state.forwardReady[state.forward];
    choice.ready = std::min(choice.ready, ready);
    if (ready <= now && choice.op < 0)
      choice.op = op;
  }
  return choice;
}

ListScheduler::Choice ListScheduler::chooseInput(int32_t rank, double now) const {
  Choice choice;
  int32_t oldest = problem.microbatches;
  for (auto stage = problem.chunks[rank].rbegin(); stage != problem.chunks[rank].rend(); ++stage) {
    const StageState &state = stages[*stage];
    if (state.input == state.forward)
      continue;
    double ready = state.inputReady[state.input];
    choice.ready = std::min(choice.ready, ready);
    if (ready <= now && state.input < oldest) {
      choice.op = problem.getOp(OpKind::Input, *stage, state.input);
      oldest = state.input;
    }
  }
  return choice;
}

/// The oldest that waits.
ListScheduler::Choice ListScheduler::chooseWeight(int32_t rank) const {
  Choice choice;
  int32_t oldest = problem.microbatches;
  for (int32_t stage : problem.chunks[rank])
    if (const StageState &state = stages[stage];
        state.weight < state.input && state.weight < oldest) {
      choice.op = problem.getOp(OpKind::Weight, stage, state.weight);
      oldest = state.weight;
    }
  return choice;
}

/// What to start now; -1 to wait until `next`.
int32_t ListScheduler::choose(int32_t rank, double now, double &next) const {
  Choice forward = chooseForward(rank, now), input = chooseInput(rank, now);
  Choice weight = chooseWeight(rank);
  if (weight.op >= 0 && policy.backlog >= 0) {
    int32_t waiting = 0;
    for (int32_t stage : problem.chunks[rank])
      waiting += stages[stage].input - stages[stage].weight;
    if (waiting > policy.backlog && input.op < 0)
      return weight.op;
  }
  if (forward.op >= 0 && input.op >= 0) {
    bool takeForward =
        policy.prefer == ListPolicy::Prefer::Forwards ||
        (policy.prefer == ListPolicy::Prefer::Alternate && !states[rank].lastForward);
    return takeForward ? forward.op : input.op;
  }
  if (forward.op >= 0 || input.op >= 0)
    return std::max(forward.op, input.op);
  next = std::min(forward.ready, input.ready);
  if (weight.op >= 0 && next - now >= policy.patience * problem.getSeconds(weight.op))
    return weight.op;
  return -1;
}

/// Tells the stage that uses the operation's result when it comes.
void ListScheduler::announce(int32_t op, double end) {
  int32_t stage = problem.getStage(op), microbatch = problem.getMicrobatch(op);
  const Placement &placement = problem.placement;
  int32_t target = stage;
  double *ready = nullptr;
  if (problem.getKind(op) == OpKind::Forward) {
    if (placement.isLast(stage)) {
      ready = &stages[stage].inputReady[microbatch];
    } else {
      target = stage + 1;
      end += placement.crosses(stage) ? problem.message : 0;
      ready = &stages[target].forwardReady[microbatch];
    }
  } else if (problem.getKind(op) == OpKind::Input && !placement.isFirst(stage)) {
    target = stage - 1;
    end += placement.crosses(target) ? problem.message : 0;
    ready = &stages[target].inputReady[microbatch];
  }
  if (!ready)
    return;
  *ready = end;
  wakes.push({end, placement.ranks[target]});
}

void ListScheduler::start(int32_t rank, int32_t op, double now) {
  RankState &state = states[rank];
  StageState &stage = stages[problem.getStage(op)];
  OpKind kind = problem.getKind(op);
  ++(kind == OpKind::Forward ? stage.forward : kind == OpKind::Input ? stage.input : stage.weight);
  if (kind != OpKind::Weight)
    state.lastForward = kind == OpKind::Forward;
  state.memory += problem.getMemory(op);
  state.free = now + problem.getSeconds(op);
  order[rank].push_back(op);
  announce(op, state.free);
  wakes.push({state.free, rank});
}

Order ListScheduler::run() {
  size_t started = 0;
  while (!wakes.empty()) {
    auto [now, rank] = wakes.top();
    wakes.pop();
    if (now < states[rank].free)
      continue;
    double next = never;
    int32_t op = choose(rank, now, next);
    if (op >= 0) {
      start(rank, op, now);
      ++started;
    } else if (next > now && next < never) {
      wakes.push({next, rank});
    }
  }
  return started == static_cast<size_t>(problem.getNumOps()) ? std::move(order) : Order();
}

} // namespace

Order weft::schedule::makeListOrder(const OrderProblem &problem, const ListPolicy &policy) {
  return ListScheduler(problem, policy).run();
}

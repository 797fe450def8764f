#include "compiler/Schedule/LocalSearch.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace weft::schedule;

double weft::schedule::getCostBound(const OrderProblem &problem) {
  double makespan = 0, longest = 0;
  for (const std::vector<int32_t> &chunks : problem.chunks) {
    double head = 0, work = 0, delay = 0;
    for (int32_t op = problem.getOp(OpKind::Forward, chunks.front(), 0);
         (op = problem.getInput(op, delay)) >= 0;)
      head += delay + problem.getSeconds(op);
    for (int32_t stage : chunks)
      for (OpKind kind : {OpKind::Forward, OpKind::Input, OpKind::Weight})
        work += problem.microbatches * problem.getSeconds(problem.getOp(kind, stage, 0));
    makespan = std::max(makespan, head + work);
    longest = std::max(longest, work);
  }
  return makespan + longest;
}

namespace {

/// Of sums of the same times in another order.
constexpr double tolerance = 1e-12;

class Improver {
public:
  Improver(const OrderProblem &problem, Order &order, uint64_t seed)
      : problem(problem), order(order), pricer(problem), random(seed), place(problem.getNumOps()) {}

  void run(int64_t moves);

private:
  void index(int32_t rank);
  void findChain();
  int32_t getBefore(int32_t op) const;
  bool isWeight(int32_t op) const { return problem.getKind(op) == OpKind::Weight; }
  int64_t draw(int64_t below) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  }
  /// A move: the operation at `from` of a rank's list goes to `to`.
  struct Move {
    int32_t rank = 0, from = 0, to = 0;
  };
  bool propose(Move &move);
  bool proposeGap(Move &move);
  void apply(const Move &move);
  bool isLegal(const Move &move) const;

  const OrderProblem &problem;
  Order &order;
  OrderPricer pricer;
  OrderTimes times, tried;
  std::minstd_rand random;
  std::vector<int32_t> place; ///< by operation, in its rank's list
  std::vector<int32_t> chain; ///< operations without slack, last first
};

void Improver::index(int32_t rank) {
  for (size_t i = 0; i < order[rank].size(); ++i)
    place[order[rank][i]] = static_cast<int32_t>(i);
}

/// The operation before it on its rank, -1 if none.
int32_t Improver::getBefore(int32_t op) const {
  return place[op] == 0 ? -1 : order[problem.getRank(op)][place[op] - 1];
}

/// From the last operation of the rank that decides, half of the time of the one that ends last.
void Improver::findChain() {
  chain.clear();
  int32_t rank = times.last;
  if (draw(2) == 0)
    for (size_t other = 0; other < order.size(); ++other)
      if (times.end[order[other].back()] == times.makespan)
        rank = static_cast<int32_t>(other);
  double delay = 0;
  for (int32_t op = order[rank].back(); op >= 0;) {
    chain.push_back(op);
    int32_t before = getBefore(op), input = problem.getInput(op, delay);
    bool waits = input >= 0 && times.end[input] + delay >= times.begin[op];
    op = before >= 0 && (!waits || times.end[before] >= times.begin[op]) ? before : input;
  }
}

/// Operations of one stage and kind keep the order of microbatches, and each stays behind its
/// input.
bool Improver::isLegal(const Move &move) const {
  const std::vector<int32_t> &list = order[move.rank];
  int32_t op = list[move.from];
  int32_t step = move.to > move.from ? 1 : -1;
  double delay = 0;
  for (int32_t i = move.from + step; i != move.to + step; i += step) {
    int32_t first = step > 0 ? op : list[i], second = step > 0 ? list[i] : op;
    if (problem.getInput(second, delay) == first ||
        (problem.getKind(first) == problem.getKind(second) &&
         problem.getStage(first) == problem.getStage(second)))
      return false;
  }
  return true;
}

void Improver::apply(const Move &move) {
  std::vector<int32_t> &list = order[move.rank];
  auto from = list.begin() + move.from, to = list.begin() + move.to;
  if (move.from < move.to)
    std::rotate(from, from + 1, to + 1);
  else
    std::rotate(to, from, from + 1);
}

/// A weight gradient that runs later on a rank of the chain goes to where the rank is idle.
bool Improver::proposeGap(Move &move) {
  int32_t op = chain[draw(static_cast<int64_t>(chain.size()))];
  move.rank = problem.getRank(op);
  const std::vector<int32_t> &list = order[move.rank];
  auto size = static_cast<int64_t>(list.size());
  move.to = static_cast<int32_t>(draw(size));
  for (int tries = 0; tries < 64; ++tries, move.to = (move.to + 1) % static_cast<int32_t>(size)) {
    if (move.to == 0 || times.begin[list[move.to]] <= times.end[list[move.to - 1]])
      continue;
    for (move.from = move.to + 1; move.from < size; ++move.from)
      if (isWeight(list[move.from]))
        return true;
    return false;
  }
  return false;
}

/// A link of the chain that waits for the one before it on its rank goes in front of it, or of all
/// weight gradients before it.
bool Improver::propose(Move &move) {
  if (draw(4) == 0)
    return proposeGap(move);
  int32_t op = chain[draw(static_cast<int64_t>(chain.size()))];
  move.rank = problem.getRank(op);
  move.from = place[op];
  if (move.from == 0)
    return false;
  const std::vector<int32_t> &list = order[move.rank];
  move.to = move.from - 1;
  switch (draw(4)) {
  case 0: // one further back
    move.to = move.from + 1;
    break;
  case 1: // in front of all weight gradients
    while (move.to > 0 && isWeight(list[move.to - 1]))
      --move.to;
    break;
  case 2: // anywhere near
    move.to = static_cast<int32_t>(move.from - 8 + draw(17));
    break;
  default:
    break;
  }
  return move.to >= 0 && move.to < static_cast<int32_t>(list.size()) && move.to != move.from;
}

void Improver::run(int64_t moves) {
  for (size_t rank = 0; rank < order.size(); ++rank)
    index(static_cast<int32_t>(rank));
  if (!pricer.price(order, times))
    return;
  double bound = getCostBound(problem) * (1 + tolerance);
  findChain();
  for (int64_t i = 0; i < moves && times.getCost() > bound; ++i) {
    Move move;
    if (!propose(move) || !isLegal(move))
      continue;
    apply(move);
    if (fitsMemory(problem, order[move.rank]) && pricer.price(order, tried) &&
        tried.getCost() <= times.getCost() * (1 + tolerance)) {
      std::swap(times, tried);
      index(move.rank);
      findChain();
    } else {
      apply({move.rank, move.to, move.from});
    }
  }
}

} // namespace

void weft::schedule::improveOrder(const OrderProblem &problem, Order &order, int64_t moves,
                                  uint64_t seed) {
  Improver(problem, order, seed).run(moves);
}

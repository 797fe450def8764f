//===- Order.h - orders of a pipeline, priced quickly -----------*- C++ -*-===//
//
// What the search for a schedule works on: every rank's order of forwards, input gradients and
// weight gradients as numbers, and what such an order takes. The same rules as the simulator's for
// schedules (Timeline.h), of which a test makes sure, without its generality: linear in the number
// of operations, some 100 operations a microsecond.
//
// Worked example: with 2 stages and 3 microbatches the operations 0 to 5 are forwards, those of
// stage 0 first, 6 to 11 input gradients, 12 to 17 weight gradients. Number 8 is the input gradient
// of stage 0 and microbatch 2, and waits for number 11, that of stage 1.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_ORDER_H
#define WEFT_COMPILER_SCHEDULE_ORDER_H

#include "compiler/Schedule/Timeline.h"

namespace weft::schedule {

/// Kinds of operations: F, I and W of a stage and microbatch.
enum class OpKind : uint8_t { Forward, Input, Weight };

/// A pipeline without an order. Operations are numbered kind, stage, microbatch.
struct OrderProblem {
  OrderProblem(Placement placement, int32_t microbatches, const Costs &costs, double limit);

  int32_t getOp(OpKind kind, int32_t stage, int32_t microbatch) const {
    return (static_cast<int32_t>(kind) * stages + stage) * microbatches + microbatch;
  }
  OpKind getKind(int32_t op) const { return static_cast<OpKind>(op / (stages * microbatches)); }
  int32_t getStage(int32_t op) const { return op / microbatches % stages; }
  int32_t getMicrobatch(int32_t op) const { return op % microbatches; }
  int32_t getRank(int32_t op) const { return placement.ranks[getStage(op)]; }
  double getSeconds(int32_t op) const { return seconds[op / microbatches]; }
  double getMemory(int32_t op) const { return memory[op / microbatches]; }
  int32_t getNumOps() const { return 3 * stages * microbatches; }
  /// The operation that this one waits for, -1 if none; `message` is the time between them.
  int32_t getInput(int32_t op, double &message) const;

  Placement placement;
  int32_t stages, microbatches;
  std::vector<double> seconds, memory;      ///< by kind and stage; memory as StageCosts has it
  double message;                           ///< between two ranks
  double limit;                             ///< of every rank's memory
  std::vector<std::vector<int32_t>> chunks; ///< stages of each rank
};

/// What every rank does, in order.
using Order = std::vector<std::vector<int32_t>>;

/// When an order's operations begin and end.
struct OrderTimes {
  std::vector<double> begin, end; ///< by operation
  double makespan = 0, longest = 0;
  int32_t last = -1; ///< rank with the longest time from begin to end

  /// Both: what a step takes, and what one takes where the optimizer's step need not wait for all.
  double getCost() const { return makespan + longest; }
};

/// Times of orders of one problem; keeps its memory between calls.
class OrderPricer {
public:
  explicit OrderPricer(const OrderProblem &problem);

  /// False if the order deadlocks.
  bool price(const Order &order, OrderTimes &times);

private:
  const OrderProblem &problem;
  std::vector<int32_t> input, next, waiter; ///< by operation, rank, operation
  std::vector<double> message;              ///< by operation
  std::vector<int32_t> work;
};

/// The most memory that a rank holds.
double getPeak(const OrderProblem &problem, const Order &order);

/// Whether the rank's order stays inside the memory limit.
bool fitsMemory(const OrderProblem &problem, const std::vector<int32_t> &order);

/// As a schedule without messages; an input gradient directly followed by its weight gradient stays
/// two actions, so that messages leave in between.
Schedule makeSchedule(const OrderProblem &problem, const Order &order, const char *name);

/// Of a schedule without recomputation and slices, whole backwards as their two halves.
Order makeOrder(const OrderProblem &problem, const Schedule &schedule);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_ORDER_H

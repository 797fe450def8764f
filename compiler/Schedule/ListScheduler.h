//===- ListScheduler.h - orders made event by event -------------*- C++ -*-===//
//
// All ranks start at time 0; whenever one is free it takes, by a fixed policy, one of the
// operations whose inputs have come and whose memory fits. The times that this gives are those of
// the order that it writes.
//
// Memory cannot run into a corner: a microbatch enters only if afterwards the oldest one on the
// rank could still pass the rank's later chunks.
//
// Worked example (OrderTest.cpp): two ranks, a stage each, two microbatches, operations of 1 s, the
// default policy. Of gradient and forward the gradient goes first; a weight gradient fills the time
// in which neither has come.
//
//   time      0   1   2   3   4   5   6
//   rank 0    F0  F1      I0  W0  I1  W1
//   rank 1        F0  I0  F1  I1  W0  W1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_LISTSCHEDULER_H
#define WEFT_COMPILER_SCHEDULE_LISTSCHEDULER_H

#include "compiler/Schedule/Order.h"

namespace weft::schedule {

/// How a free rank chooses.
struct ListPolicy {
  enum class Prefer { Gradients, Forwards, Alternate };
  Prefer prefer = Prefer::Gradients; ///< among what is ready
  bool deepFirst = true;             ///< among forwards: of later chunks
  /// Microbatches that a rank of the first chunk takes in before it has gradients: `warmupBase` and
  /// `warmupSlope` for each rank behind it; 0 and 0: as many as memory allows.
  double warmupBase = 0, warmupSlope = 0;
  /// A weight gradient is started if the next known input comes later than this part of its time.
  double patience = 0.5;
  /// Weight gradients that may wait before they go before forwards; negative: without bound.
  int32_t backlog = -1;
};

/// Writes an order by a policy; empty if the memory limit does not let even one microbatch through.
Order makeListOrder(const OrderProblem &problem, const ListPolicy &policy);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_LISTSCHEDULER_H

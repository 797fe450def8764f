//===- LocalSearch.h - small changes that make an order better --*- C++ -*-===//
//
// Follows the chain of operations that leaves no slack from the end of the step back to its begin,
// and moves operations on it: what stands in the way of the next link to behind it, weight
// gradients into gaps. Changes that cost nothing are kept too, so that plateaus are crossed. The
// same seed gives the same answer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_LOCALSEARCH_H
#define WEFT_COMPILER_SCHEDULE_LOCALSEARCH_H

#include "compiler/Schedule/Order.h"

namespace weft::schedule {

/// Least cost (OrderTimes::getCost) that any order has: every rank waits for its first forward and
/// does all its work.
double getCostBound(const OrderProblem &problem);

/// Tries so many changes of an order that is alive and fits the memory; never gets worse.
void improveOrder(const OrderProblem &problem, Order &order, int64_t moves, uint64_t seed);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_LOCALSEARCH_H

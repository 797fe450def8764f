//===- Overlap.h - communication beside computation -------------*- C++ -*-===//

#ifndef WEFT_COMPILER_COST_OVERLAP_H
#define WEFT_COMPILER_COST_OVERLAP_H

#include "compiler/Cost/Constants.h"

namespace weft {

/// Seconds by which a collective of `communication` seconds lengthens `compute` seconds of
/// independent work on the same device. While both run the collective's kernel takes a part of the
/// processors and of the memory's rate (overlapLoss), so that nothing is hidden for nothing: the
/// bound is what remains uncovered plus what the work loses.
double getExposedSeconds(double communication, double compute, const CostConstants &constants);

} // namespace weft

#endif // WEFT_COMPILER_COST_OVERLAP_H

//===- LoopDomain.h - the elements that a kernel runs over ------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_LOOPDOMAIN_H
#define WEFT_COMPILER_KERNEL_LOOPDOMAIN_H

#include "compiler/Kernel/KernelGraph.h"
#include "compiler/Kernel/Target.h"

namespace weft::kernel {

class LoopPlan;
struct Affine;

/// The extents of a kernel's loops (see LoopPlan.h).
struct Domain {
  llvm::SmallVector<int64_t, 4> rows, inner;
  int64_t laneTotal = 0, laneWidth = 1; ///< laneTotal 0: no lanes
  KernelMachine machine = KernelMachine::Cores;
  /// Where reductions join dimensions that are not the last: the shape they read, and those
  /// dimensions.
  llvm::SmallVector<int64_t, 4> shape, reduced;

  static llvm::Expected<Domain> choose(const Graph &graph, KernelMachine machine);

  bool isColumns() const { return laneTotal > 0; }
  bool isReduced(size_t dim) const {
    return llvm::is_contained(reduced, static_cast<int64_t>(dim));
  }
  size_t lastKept() const;
  int64_t rowCount() const;
  int64_t innerCount() const;
  /// See LoopPlan::team.
  unsigned chooseTeam() const;
  void widenLanes();

  /// Joins neighbouring loops wherever every use steps through them as through one, then chooses
  /// how much of an elementwise kernel is a row. `uses` are the expressions of `draft`, a plan of
  /// this domain.
  void simplify(const LoopPlan &draft, const std::vector<Affine> &uses);

  bool hasReduction = false, isScan = false;
  int64_t sortedLength = 0; ///< of the rows of a sort
};

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_LOOPDOMAIN_H

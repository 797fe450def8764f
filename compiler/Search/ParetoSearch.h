//===- ParetoSearch.h - all best splits of a step by several costs --------===//

#ifndef WEFT_COMPILER_SEARCH_PARETOSEARCH_H
#define WEFT_COMPILER_SEARCH_PARETOSEARCH_H

#include "compiler/Search/ParetoElimination.h"
#include "compiler/Search/StrategyGraph.h"

namespace weft {

/// What an operation of a training step is for.
enum class Phase { Forward, Backward, WeightGradient };

/// What a device takes and holds for a step, of one microbatch.
struct StepCost {
  double forward = 0;        ///< s, of computing
  double backward = 0;       ///< s, of computing the gradients of inputs
  double weightGradient = 0; ///< s, of computing those of weights
  double communication = 0;  ///< s, of all collectives, and of cuts beside them
  double memory = 0;         ///< B: weights, and values where most is held
};

struct StepSplit {
  StepCost cost;
  ShardingAnswer answer;
};

/// Splits of which no other one is as good by every cost and better by one.
struct StepSplits {
  std::vector<StepSplit> splits; ///< empty where none fits the memory
  bool isComplete = true;        ///< whether these are all, of splits of equal costs one
};

/// Searches for all of them, exactly where the limits allow it; else finds some by the solver, with
/// several weights of the costs and in several sizes of memory. `phases` are by node, and nodes of
/// several phases must be of several kinds (ShardingProblem).
StepSplits searchPareto(const ShardingProblem &problem, llvm::ArrayRef<Phase> phases,
                        MeshPrices &prices, FormTables &tables, const SearchOptions &options,
                        const EliminationLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_PARETOSEARCH_H

//===- ShardOptimizer.h - training state over the data axes -----*- C++ -*-===//
//
// Optimizer sharding (ZeRO; Rajbhandari et al. 2020): what a step of data parallel training holds
// for each parameter, its optimizer's state, its gradient and the parameter itself, is the same on
// all devices of the batch's axes, and may be held in parts instead. Stage 1 splits the state,
// stage 2 the gradients besides, stage 3 the parameters too. Each is a sharding of storage, or of
// the gradient, over these axes: what moves follows from it as from any other,
//
//   state in parts       the gradient is scattered as it is reduced, the new parameter is gathered
//   parameter in parts   it is gathered where it is computed with, and not once more when it is new
//
// so that a rank receives 2Ψ, 2Ψ and 3Ψ elements times (n - 1) / n for Ψ parameters on n devices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SHARDOPTIMIZER_H
#define WEFT_COMPILER_SEARCH_SHARDOPTIMIZER_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Search/StrategyGraph.h"
#include "compiler/Sharding/PlannedModule.h"

namespace weft {

/// Where a tensor of this shape that lies as `base` is best split by further axes: the first
/// dimension whose blocks they divide (those of outer ones lie one after another in memory), else
/// the longest that is whole, in padded blocks; one of the `preferred` dimensions, if any will do.
/// None where no dimension has an element for each block.
std::optional<TensorSharding> splitFurther(llvm::ArrayRef<int64_t> shape,
                                           const TensorSharding &base, const AxisList &axes,
                                           llvm::ArrayRef<unsigned> preferred = {});

/// A sum over the batch that a gradient is made of, and which of its dimensions each of the
/// gradient's is; -1 where what lies between (a padding, say) needs all of it.
struct GradientSource {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims;
};

/// The sums that a gradient is moved together from, by what computes nothing; the gradient itself
/// where it may be joined as a whole (CarriedSums: what lies between makes nothing longer).
llvm::SmallVector<GradientSource> findSources(mlir::Value gradient);

/// Adds the decisions of a stage, 1 to 3, to the plan for a part, given an answer that splits
/// nothing over the batch's axes but the batch: the storage of each trained parameter, which is
/// whole over these axes before stage 3, of the states of its optimizer (`optimizer.KIND:NAME`),
/// and its gradient. A search that obeys them decides the rest. What is pinned stays.
void shardOptimizer(const PlannedPart &part, const ShardingAnswer &answer, int64_t stage,
                    plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SHARDOPTIMIZER_H

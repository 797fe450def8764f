//===- FactorSharding.h - between tensors' and factors' axes ----*- C++ -*-===//
//
// To split an operation is to assign axes to the factors of its rule. This projects the shardings
// of operands and results to factors, and factors' axes back to tensors.
//
// A dimension may be a compound of factors, major first; its axes then split the majors first. For
// the reshape
//
//   ([b, (h d)]) -> ([b, h, d]) {b=8, h=8, d=128},   axes "x"=2, "y"=8
//
// the operand's [{}, {"x", "y"}] projects to h = {"x", "y":(1)4} (wholly split), d = {"y":(4)2},
// and so to the result
// [{}, {"x", "y":(1)4}, {"y":(4)2}]. Blocks of a tensor are contiguous: d may be split in the
// operand only where h is wholly split, so d = {"x"} alone is a sharding of the result but none of
// the operand.
//
// A factor whose axes do not divide it is padded (Extent.h). That can be seen only in dimensions
// that it leads, whose unit is then what the minor factors make, times the factor's own: of
//
//   ([b, s]) -> ([(b s)]) {b=5, s=3},   b = {"x"}, "x"=2
//
// the result is [{"x"} unit 3], in blocks of 9 and 6.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_FACTORSHARDING_H
#define WEFT_COMPILER_SHARDING_FACTORSHARDING_H

#include "compiler/Sharding/Axes.h"

namespace weft {

/// For each factor of a rule the axes that split it.
using FactorAxes = llvm::SmallVector<AxisList, 6>;

/// A projection is exact if nothing of the sharding had to be left out.
struct ToFactors {
  FactorAxes axes;
  bool exact = true;
};
struct ToTensor {
  TensorSharding sharding;
  bool exact = true;
};

/// The factor that leads a dimension, that is the first that is not of size 1, and what the factors
/// behind it make; none of a dimension of size 1.
struct LeadingFactor {
  unsigned factor;
  int64_t unit;
};
std::optional<LeadingFactor> leadingFactorOf(const FactorRule &rule, const DimFactors &dim);

/// The axes that `sharding` gives to the factors of one operand or result. Axes that fit no factor
/// and those behind them in their dimension are left out. Partial axes are not looked at.
ToFactors projectToFactors(const FactorRule &rule, const TensorFactors &tensor,
                           const TensorSharding &sharding);

/// The sharding of one operand or result whose factors are split by `axes`. The axes of a minor
/// factor whose majors are not wholly split are left out.
ToTensor factorsToSharding(const FactorRule &rule, const TensorFactors &tensor,
                           const FactorAxes &axes);

/// What one tensor of an operation brings to the decision how the operation is split.
struct TensorState {
  const TensorFactors *factors = nullptr;
  const TensorSharding *sharding = nullptr;
  int64_t bytes = 0;   ///< of the whole tensor
  bool weight = false; ///< the value of a weight: moving it is worse than moving any other tensor
  bool open =
      false; ///< its sharding is not settled: it may grow to what the operation gives, at no cost
  bool decided = false;               ///< somebody decided its sharding
  llvm::ArrayRef<AxisRef> batch = {}; ///< of operands: axes by which it stays split, as a batch
};

/// The axes by which an operation is best split, given how its operands and results lie (one entry
/// per operand, then one per result). For each factor the choice is between the lists that tensors
/// give to it and none; it falls on the one that moves fewest bytes (weights first): an operand is
/// moved unless its list begins the chosen one (a local slice is free), a result unless the chosen
/// list begins its own; to join the batch of an operand counts as moving a weight; a split
/// reduction moves its results twice (once where they are split by its axes: a reduce-scatter), but
/// not at all for splits of weights. A result that is to stay partial gives its partial axes to a
/// reduction, and costs as much as reducing it where none takes them. Ties go to a list that does
/// not take axes from where a decided result has them, then to the longer list. Where two factors
/// want one axis, the one that would cost more without it gets it. Only parallel and reduction
/// factors are split.
FactorAxes resolveFactors(const FactorRule &rule, llvm::ArrayRef<TensorState> tensors);

/// The axes over which result `index` is partial when factors are split by `axes`: those of split
/// reduction factors that the result has not. All reductions of one operation are of one kind.
AxisList partialAxes(const FactorRule &rule, const FactorAxes &axes, unsigned index,
                     ReduceKind &reduction);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_FACTORSHARDING_H

// Partial sums that an operation takes as they are and hands on.

#include "compiler/Sharding/Partitioner.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// The partial axes of an operand's own form, where it is a sum that no use has reduced yet, that
/// this operation alone uses, and that shares no axis with the operation's split.
static AxisList unreducedAxes(Value operand, const FactorAxes &axes, const LocalValues &values) {
  ArrayRef<LocalForm> forms = values.getForms(operand);
  if (forms.empty() || !operand.hasOneUse())
    return {};
  const TensorSharding &own = forms.front().sharding;
  if (own.partial.empty() || own.reduction != ReduceKind::Sum ||
      llvm::any_of(forms, [](const LocalForm &form) { return form.sharding.partial.empty(); }) ||
      llvm::any_of(axes, [&](const AxisList &list) { return overlaps(list, own.partial); }))
    return {};
  return own.partial;
}

FactorAxes weft::leavingSums(Operation &op, const FactorRule &rule, const FactorAxes &axes,
                             ArrayRef<AxisRef> batchAxes, const LocalValues &values) {
  auto elements = [](Value value) { return cast<ShapedType>(value.getType()).getNumElements(); };
  if (rule.linearity != SumLinearity::Joint || op.getNumOperands() == 0 ||
      isa<dist::AccumulateOp>(op) || elements(op.getResult(0)) > elements(op.getOperand(0)))
    return axes;
  FactorAxes none(axes.size());
  AxisList waiting = unreducedAxes(op.getOperand(0), none, values);
  bool ofBatch = llvm::all_of(waiting, [&](AxisRef axis) { return overlaps(batchAxes, axis); });
  for (Value operand : op.getOperands())
    if (waiting.empty() || !ofBatch || unreducedAxes(operand, none, values) != waiting)
      return axes;
  FactorAxes left = axes;
  for (AxisList &list : left)
    list = headWithout(list, waiting);
  return expressible(rule, left);
}

/// Elements of one device's block of a tensor.
static int64_t localElements(const FactorRule &rule, const TensorFactors &tensor,
                             const FactorAxes &axes) {
  int64_t elements = 1;
  for (const DimFactors &dim : tensor)
    for (unsigned factor : dim)
      elements *= localExtent(rule.factors[factor].size, axes[factor]);
  return elements;
}

/// Marks the operands that may be partial together.
static CarriedSums candidates(Operation &op, const FactorRule &rule, const FactorAxes &axes,
                              const LocalValues &values) {
  CarriedSums sums{{}, SmallVector<bool, 4>(op.getNumOperands(), false)};
  auto partialOf = [&](unsigned operand) {
    return unreducedAxes(op.getOperand(operand), axes, values);
  };
  unsigned count = op.getNumOperands();
  switch (rule.linearity) {
  case SumLinearity::None:
    break;
  case SumLinearity::Joint:
    sums.axes = partialOf(0);
    for (unsigned operand = 1; operand < count; ++operand)
      if (partialOf(operand) != sums.axes)
        return {{}, SmallVector<bool, 4>(count, false)};
    sums.operands.assign(count, true);
    break;
  case SumLinearity::Each:
    for (unsigned operand = 0; operand < count && sums.axes.empty(); ++operand) {
      sums.axes = partialOf(operand);
      sums.operands[operand] = !sums.axes.empty();
    }
    break;
  case SumLinearity::First:
    sums.axes = partialOf(0);
    sums.operands[0] = true;
    break;
  }
  return sums;
}

CarriedSums weft::carriedSums(Operation &op, const FactorRule &rule, const FactorAxes &axes,
                              const LocalValues &values) {
  CarriedSums none{{}, SmallVector<bool, 4>(op.getNumOperands(), false)};
  if (op.getNumOperands() == 0 || op.getNumResults() != 1)
    return none;
  CarriedSums sums = candidates(op, rule, axes, values);
  if (sums.axes.empty())
    return none;
  int64_t before = 0;
  for (auto [operand, carries] : llvm::enumerate(sums.operands))
    if (carries)
      before += localElements(rule, rule.operands[operand], axes);
  return localElements(rule, rule.results[0], axes) <= before ? sums : none;
}

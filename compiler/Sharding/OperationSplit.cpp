#include "compiler/Sharding/OperationSplit.h"

#include "compiler/Sharding/FunctionGraph.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Keys of the attribute besides factors' names.
static constexpr llvm::StringLiteral sumKey = "sum", carriesKey = "carries";

OperationSplit OperationSplit::whole(const FactorRule &rule) {
  return {FactorAxes(rule.factors.size()), {{}, SmallVector<bool, 4>(rule.operands.size(), false)}};
}

void weft::setPartial(TensorSharding &sharding, AxisList axes, ReduceKind reduction) {
  llvm::sort(
      axes, [](AxisRef a, AxisRef b) { return std::tie(a.axis, a.pre) < std::tie(b.axis, b.pre); });
  sharding.partial.clear();
  append(sharding.partial, axes);
  sharding.reduction = axes.empty() ? ReduceKind::Sum : reduction;
}

TensorSharding weft::getOperandForm(const FactorRule &rule, unsigned index,
                                    const OperationSplit &split) {
  TensorSharding form = factorsToSharding(rule, rule.operands[index], split.axes).sharding;
  if (split.sums.operands[index])
    setPartial(form, split.sums.axes, ReduceKind::Sum);
  return form;
}

TensorSharding weft::getResultForm(const FactorRule &rule, unsigned index,
                                   const OperationSplit &split) {
  TensorSharding form = factorsToSharding(rule, rule.results[index], split.axes).sharding;
  ReduceKind reduction = ReduceKind::Sum;
  AxisList partial = partialAxes(rule, split.axes, index, reduction);
  partial.append(split.sums.axes);
  setPartial(form, partial, reduction);
  return form;
}

std::optional<FactorAxes> weft::splitSource(const FactorRule &rule, const TensorSharding &form) {
  ToFactors split = projectToFactors(rule, rule.results[0], form);
  bool isSplit =
      split.exact && form.partial.empty() &&
      llvm::all_of(llvm::zip_equal(rule.factors, split.axes), [](auto factor) {
        return std::get<1>(factor).empty() || std::get<0>(factor).kind == FactorKind::Parallel;
      });
  return isSplit ? std::optional(std::move(split.axes)) : std::nullopt;
}

FactorAxes weft::expressible(const FactorRule &rule, FactorAxes axes) {
  bool changed = true;
  auto settle = [&](const TensorFactors &tensor) {
    for (const DimFactors &dim : tensor) {
      std::optional<LeadingFactor> lead = leadingFactorOf(rule, dim);
      bool majorsWhole = true;
      for (unsigned factor : dim) {
        int64_t size = rule.factors[factor].size;
        bool padsBehind = isPadded(size, axes[factor]) && (!lead || lead->factor != factor);
        if (!axes[factor].empty() && (!majorsWhole || padsBehind)) {
          axes[factor] = {};
          changed = true;
        }
        majorsWhole &= blocks(axes[factor]) == size;
      }
    }
  };
  while (changed) {
    changed = false;
    llvm::for_each(rule.operands, settle);
    llvm::for_each(rule.results, settle);
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether the operation is linear in these operands together.
static bool isLinearIn(const FactorRule &rule, ArrayRef<bool> operands) {
  size_t count = llvm::count(operands, true);
  switch (rule.linearity) {
  case SumLinearity::None:
    return count == 0;
  case SumLinearity::Joint:
    return count == operands.size();
  case SumLinearity::Each:
    return count == 1;
  case SumLinearity::First:
    return count == 1 && operands.front();
  }
  return false;
}

/// Whether all splits of reduction factors, and sums that are carried, are joined alike.
static bool reducesAlike(const FactorRule &rule, const OperationSplit &split) {
  std::optional<ReduceKind> kind;
  if (!split.sums.axes.empty())
    kind = ReduceKind::Sum;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, split.axes)) {
    if (axes.empty() || factor.kind != FactorKind::Reduction)
      continue;
    if (kind && *kind != factor.reduction)
      return false;
    kind = factor.reduction;
  }
  return true;
}

std::string weft::check(const FactorRule &rule, const OperationSplit &split,
                        const MeshShape &mesh) {
  AxisList used(split.sums.axes);
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, split.axes)) {
    if (overlaps(used, axes))
      return "expected each axis at one place, got twice: " + str(mesh, axes);
    used.append(axes.begin(), axes.end());
    if (!axes.empty() && factor.kind != FactorKind::Parallel &&
        factor.kind != FactorKind::Reduction)
      return "expected factor '" + factor.name + "' to be whole, got: " + str(mesh, axes);
    if (axes.unit < 1 || factor.size % axes.unit != 0)
      return "expected a unit that divides factor '" + factor.name + "' of size " +
             std::to_string(factor.size) + ", got: unit " + std::to_string(axes.unit);
  }
  if (expressible(rule, split.axes) != split.axes)
    return "expected major factors of a dimension to be split wholly before minor ones";
  if (split.sums.axes.empty() == llvm::is_contained(split.sums.operands, true))
    return "expected axes of sums that wait, and operands that carry them, together";
  if (!split.sums.axes.empty() && !isLinearIn(rule, split.sums.operands))
    return "expected sums that wait in operands that the operation is linear in";
  if (!reducesAlike(rule, split))
    return "expected reductions of one kind";
  return "";
}

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

DictionaryAttr weft::toAttr(MLIRContext *context, const FactorRule &rule,
                            const OperationSplit &split, const MeshShape &mesh) {
  NamedAttrList entries;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, split.axes))
    if (!axes.empty())
      entries.set(factor.name, toDimAttr(context, axes, mesh));
  if (!split.sums.axes.empty()) {
    SmallVector<int64_t> carrying;
    for (auto [index, carries] : llvm::enumerate(split.sums.operands))
      if (carries)
        carrying.push_back(index);
    entries.set(sumKey, toDimAttr(context, split.sums.axes, mesh));
    entries.set(carriesKey, DenseI64ArrayAttr::get(context, carrying));
  }
  return entries.getDictionary(context);
}

/// The axes of one entry; none where it has axes that the mesh has not.
static std::optional<AxisList> readAxes(Attribute attr, const MeshShape &mesh) {
  auto dim = dyn_cast<dist::DimShardingAttr>(attr);
  bool isKnown = dim && llvm::all_of(dim.getAxes(), [&](dist::AxisRefAttr axis) {
                   return mesh.find(axis.getName()).has_value();
                 });
  return isKnown ? std::optional(fromDimAttr(dim, mesh)) : std::nullopt;
}

/// Marks the operands that the entry names.
static LogicalResult readCarries(Operation &op, Attribute attr, MutableArrayRef<bool> operands) {
  auto indices = dyn_cast<DenseI64ArrayAttr>(attr);
  if (!indices)
    return op.emitOpError() << "expected " << carriesKey << " to list operands, got: " << attr;
  for (int64_t index : indices.asArrayRef()) {
    if (index < 0 || index >= static_cast<int64_t>(operands.size()))
      return op.emitOpError() << "expected " << carriesKey << " to list operands below "
                              << operands.size() << ", got: operand " << index;
    operands[index] = true;
  }
  return success();
}

FailureOr<std::optional<OperationSplit>> weft::getSplit(Operation &op, const FactorRule &rule,
                                                        const MeshShape &mesh) {
  auto attr = op.getAttrOfType<DictionaryAttr>(dist::kSplitAttr);
  if (!attr)
    return std::optional<OperationSplit>();
  OperationSplit split = OperationSplit::whole(rule);
  for (NamedAttribute entry : attr) {
    if (entry.getName() == carriesKey) {
      if (failed(readCarries(op, entry.getValue(), split.sums.operands)))
        return failure();
      continue;
    }
    std::optional<AxisList> axes = readAxes(entry.getValue(), mesh);
    auto factor =
        llvm::find_if(rule.factors, [&](const Factor &f) { return f.name == entry.getName(); });
    bool isSum = entry.getName() == sumKey && factor == rule.factors.end();
    if (!axes || (!isSum && factor == rule.factors.end()))
      return op.emitOpError() << "expected a factor of " << rule.str() << " and axes of @"
                              << mesh.name << ", got: " << entry.getName() << " = "
                              << entry.getValue();
    (isSum ? split.sums.axes : split.axes[factor - rule.factors.begin()]) = *axes;
  }
  if (std::string problem = check(rule, split, mesh); !problem.empty())
    return op.emitOpError() << problem;
  return std::optional(split);
}

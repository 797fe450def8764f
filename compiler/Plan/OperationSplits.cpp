#include "compiler/Plan/OperationSplits.h"

#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

void SplitWriter::add(Operation &op, const FactorRule &rule, const OperationSplit &split) {
  plan::Split message;
  message.set_mesh(mesh.name);
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, split.axes)) {
    if (axes.empty())
      continue;
    plan::Split::Factor &entry = *message.add_factors();
    entry.set_name(factor.name);
    for (AxisRef axis : axes)
      *entry.add_axes() = toPlan(axis, mesh);
    if (axes.unit != 1)
      entry.set_unit(axes.unit);
  }
  for (AxisRef axis : split.sums.axes)
    *message.add_sum() = toPlan(axis, mesh);
  for (auto [index, carries] : llvm::enumerate(split.sums.operands))
    if (carries)
      message.add_carries(index);
  auto [entry, isNew] = known.try_emplace(message.SerializeAsString(), plan.splits_size());
  plan::Split &place = isNew ? *plan.add_splits() : *plan.mutable_splits(entry->second);
  if (isNew)
    place = message;
  place.add_operations(names.get(op.getResult(0)));
}

namespace {
/// The operations of one part by the names that plans give them.
class SplitApplier {
public:
  SplitApplier(ModuleOp module, const Part &part, const ValueNames &names)
      : module(module), mesh(getMeshShape(part.mesh)), names(names) {}

  const std::string &getMesh() const { return mesh.name; }
  /// Whether the part has all operations of the split, none of which was split already.
  bool isOpen(const plan::Split &split) const;
  LogicalResult apply(const plan::Split &split);

private:
  LogicalResult apply(const std::string &name, const plan::Split &split);

  ModuleOp module;
  MeshShape mesh;
  const ValueNames &names;
  llvm::StringSet<> done;
};
} // namespace

bool SplitApplier::isOpen(const plan::Split &split) const {
  return llvm::all_of(split.operations(), [&](const std::string &name) {
    return names.lookup(name) && !done.contains(name);
  });
}

static std::vector<std::string> namesOf(const FactorRule &rule) {
  std::vector<std::string> names;
  for (const Factor &factor : rule.factors)
    names.push_back(factor.name);
  return names;
}

LogicalResult SplitApplier::apply(const std::string &name, const plan::Split &message) {
  Value value = names.lookup(name);
  auto interface = value ? dyn_cast_or_null<FactorRuleOpInterface>(value.getDefiningOp()) : nullptr;
  if (!interface)
    return module.emitError() << "the model has no operation '" << name << "' to split"
                              << didYouMean(name, names.all());
  FactorRule rule = interface.getFactorRule();
  OperationSplit split = OperationSplit::whole(rule);
  for (const plan::Split::Factor &entry : message.factors()) {
    auto factor =
        llvm::find_if(rule.factors, [&](const Factor &own) { return own.name == entry.name(); });
    if (factor == rule.factors.end())
      return module.emitError() << "cannot split '" << name << "': expected a factor of "
                                << rule.str() << ", got: " << entry.name()
                                << didYouMean(entry.name(), namesOf(rule));
    AxisList &axes = split.axes[factor - rule.factors.begin()];
    axes = fromPlan(entry.axes(), mesh);
    axes.unit = entry.unit() == 0 ? 1 : entry.unit();
  }
  split.sums.axes = fromPlan(message.sum(), mesh);
  for (int64_t operand : message.carries()) {
    if (operand < 0 || operand >= static_cast<int64_t>(split.sums.operands.size()))
      return module.emitError() << "cannot split '" << name << "': expected an operand below "
                                << split.sums.operands.size() << " to carry sums, got: " << operand;
    split.sums.operands[operand] = true;
  }
  if (std::string why = check(rule, split, mesh); !why.empty())
    return module.emitError() << "cannot split '" << name << "': " << why;
  interface->setAttr(dist::kSplitAttr, toAttr(module.getContext(), rule, split, mesh));
  return success();
}

LogicalResult SplitApplier::apply(const plan::Split &split) {
  for (const std::string &name : split.operations()) {
    if (failed(apply(name, split)))
      return failure();
    done.insert(name);
  }
  return success();
}

PlanStatus weft::applySplits(ModuleOp module, const plan::Plan &plan, FunctionNames &names) {
  std::optional<Parts> parts = getParts(module);
  if (!parts)
    return PlanStatus::Infeasible;
  std::vector<SplitApplier> appliers;
  for (const Part &part : plan.splits().empty() ? ArrayRef<Part>() : ArrayRef(parts->parts))
    appliers.emplace_back(module, part, names.of(part.function));
  // Where several parts stand on a mesh, splits are listed part by part.
  for (const plan::Split &split : plan.splits()) {
    SplitApplier *chosen = nullptr;
    for (SplitApplier &applier : appliers)
      if (applier.getMesh() == split.mesh() && (!chosen || !chosen->isOpen(split)))
        chosen = &applier;
    if (chosen && failed(chosen->apply(split)))
      return PlanStatus::Infeasible;
  }
  return PlanStatus::Applied;
}

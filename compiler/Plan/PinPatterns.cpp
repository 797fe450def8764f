#include "compiler/Plan/PinPatterns.h"

#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace weft;

/// Whether a name is as a pattern says; what stands between two `*` is taken where it comes first.
static bool matches(StringRef name, StringRef pattern) {
  auto [head, rest] = pattern.split('*');
  if (!name.consume_front(head))
    return false;
  if (head.size() == pattern.size())
    return name.empty();
  while (rest.contains('*')) {
    auto [part, behind] = rest.split('*');
    size_t at = name.find(part);
    if (at == StringRef::npos)
      return false;
    name = name.drop_front(at + part.size());
    rest = behind;
  }
  return name.ends_with(rest);
}

/// The names of all values and weights.
static llvm::SetVector<StringRef> listNames(ModuleOp module, ArrayRef<ValueNames> parts) {
  llvm::SetVector<StringRef> names;
  for (const ValueNames &part : parts)
    names.insert_range(part.all());
  for (auto weight : module.getOps<WeightOp>())
    names.insert(weight.getSymName());
  return names;
}

PlanStatus weft::expandPinPatterns(ModuleOp module, plan::Plan &plan) {
  auto isPattern = [](const plan::Decision &decision) {
    return decision.value().find('*') != std::string::npos;
  };
  if (llvm::none_of(plan.decisions(), isPattern))
    return PlanStatus::Applied;
  std::optional<Parts> parts = getParts(module);
  if (!parts)
    return PlanStatus::Infeasible;
  std::vector<ValueNames> partNames;
  for (const Part &part : parts->parts)
    partNames.emplace_back(part.function);
  llvm::SetVector<StringRef> names = listNames(module, partNames);
  std::set<std::string> decided;
  for (const plan::Decision &decision : plan.decisions())
    decided.insert(decision.value());
  plan::Plan expanded;
  for (const plan::Decision &decision : plan.decisions()) {
    if (!isPattern(decision) || names.contains(decision.value())) {
      *expanded.add_decisions() = decision;
      continue;
    }
    bool isUsed = false;
    for (StringRef name : names) {
      if (!matches(name, decision.value()))
        continue;
      isUsed = true;
      if (!decided.insert(name.str()).second)
        continue;
      *expanded.add_decisions() = decision;
      expanded.mutable_decisions()->rbegin()->set_value(name.str());
    }
    if (isUsed)
      continue;
    module.emitError() << "the model has no value or weight like '" << decision.value() << "'";
    return PlanStatus::UnknownName;
  }
  *plan.mutable_decisions() = expanded.decisions();
  return PlanStatus::Applied;
}

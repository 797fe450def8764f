#include "compiler/Plan/PinPatterns.h"

#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
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

/// In the order in which they came.
using Names = llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>;

namespace {
/// The names of a module's values, weights and results that patterns may stand for.
class KnownNames {
public:
  KnownNames(ModuleOp module, const Parts &parts);

  /// Those that a pattern matches: `weight:` and `result:` are said or not meant.
  std::vector<std::string> list(StringRef pattern) const;
  bool contains(StringRef name) const { return names.contains(name.str()); }
  /// One name for all under which the same is meant.
  std::string getOnly(StringRef name) const;
  /// `, did you mean 'layers.*.up'?`
  std::string suggest(StringRef pattern) const;

private:
  Names names, exact;            ///< `exact` with what says what is meant
  std::set<std::string> weights; ///< that are meant by their name alone
};
} // namespace

KnownNames::KnownNames(ModuleOp module, const Parts &parts) {
  std::set<std::string> ofValues;
  for (const Part &part : parts.parts) {
    ValueNames own(part.function);
    names.insert_range(own.all());
    for (const std::string &name : own.all())
      if (!own.lookup(name).getDefiningOp<LoadOp>())
        ofValues.insert(name);
    for (unsigned index = 0; index < func::FuncOp(part.function).getNumResults(); ++index)
      if (std::string name = getResultName(part.function, index); !name.empty())
        exact.insert(resultPrefix.str() + name);
  }
  for (auto weight : module.getOps<WeightOp>()) {
    std::string name = weight.getSymName().str();
    names.insert(name);
    exact.insert(weightPrefix.str() + name);
    if (!ofValues.contains(name))
      weights.insert(name);
  }
}

std::vector<std::string> KnownNames::list(StringRef pattern) const {
  bool isExact = pattern.starts_with(weightPrefix) || pattern.starts_with(resultPrefix);
  std::vector<std::string> matching;
  llvm::copy_if(isExact ? exact : names, std::back_inserter(matching),
                [&](const std::string &name) { return matches(name, pattern); });
  return matching;
}

std::string KnownNames::getOnly(StringRef name) const {
  StringRef weight = name;
  return weight.consume_front(weightPrefix) && weights.contains(weight.str()) ? weight.str()
                                                                              : name.str();
}

std::string KnownNames::suggest(StringRef pattern) const {
  Names patterns; // names whose numbers stand for all
  for (const Names *all : {&names, &exact})
    for (const std::string &name : *all) {
      std::string one;
      for (char c : name)
        if (!llvm::isDigit(c))
          one += c;
        else if (one.empty() || one.back() != '*')
          one += '*';
      patterns.insert(one);
    }
  return didYouMean(pattern.str(), patterns.takeVector());
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
  KnownNames names(module, *parts);
  std::set<std::string> decided;
  for (const plan::Decision &decision : plan.decisions())
    decided.insert(names.getOnly(decision.value()));
  plan::Plan expanded;
  for (const plan::Decision &decision : plan.decisions()) {
    if (!isPattern(decision) || names.contains(decision.value())) {
      *expanded.add_decisions() = decision;
      continue;
    }
    std::vector<std::string> matching = names.list(decision.value());
    if (matching.empty()) {
      module.emitError() << "the model has no value or weight like '" << decision.value() << "'"
                         << names.suggest(decision.value());
      return PlanStatus::UnknownName;
    }
    for (const std::string &name : matching)
      if (decided.insert(names.getOnly(name)).second) {
        *expanded.add_decisions() = decision;
        expanded.mutable_decisions()->rbegin()->set_value(name);
      }
  }
  *plan.mutable_decisions() = expanded.decisions();
  return PlanStatus::Applied;
}

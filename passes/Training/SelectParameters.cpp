#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TrainingPlan.h"
#include "dialects/Weft/IR/FrozenWeight.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Training/Passes.h"
#include "passes/Training/Request.h"

namespace weft {
#define GEN_PASS_DEF_SELECTPARAMETERS
#include "passes/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct SelectParameters : weft::impl::SelectParametersBase<SelectParameters> {
  using SelectParametersBase::SelectParametersBase;
  explicit SelectParameters(const plan::Training &training) : request(training) {}
  void runOnOperation() override;

private:
  std::optional<plan::Training> request;
};

/// The weights that may be trained, by their names, in the module's order.
using Candidates = llvm::MapVector<StringRef, WeightOp>;
} // namespace

/// Makes one weight of those that lie at one place of a file: the first.
static void mergeTied(ModuleOp module, func::FuncOp main, llvm::StringMap<StringRef> &firstNames) {
  llvm::MapVector<std::pair<Attribute, Type>, WeightOp> first;
  for (WeightOp weight : llvm::make_early_inc_range(module.getOps<WeightOp>())) {
    if (weight.getKind() != WeightKind::Parameter || !isa<ExternalAttr>(weight.getStorage()))
      continue;
    auto [entry, isNew] = first.insert({{weight.getStorage(), weight.getType()}, weight});
    if (isNew)
      continue;
    firstNames[weight.getSymName()] = entry->second.getSymName();
    for (auto load : main.getOps<LoadOp>())
      if (load.getWeight() == weight.getSymName())
        load.setWeight(entry->second.getSymName());
    weight.erase();
  }
}

static Candidates findCandidates(ModuleOp module) {
  Candidates candidates;
  for (auto weight : module.getOps<WeightOp>())
    if (weight.getKind() == WeightKind::Parameter &&
        isa<FloatType>(cast<ShapedType>(weight.getType()).getElementType()))
      candidates[weight.getSymName()] = weight;
  return candidates;
}

static std::vector<std::string> namesOf(const Candidates &candidates) {
  std::vector<std::string> names;
  for (const auto &[name, weight] : candidates)
    names.push_back(name.str());
  return names;
}

/// Those that are named, each of which must be there. A tied weight may be called by any name.
static LogicalResult selectNamed(ModuleOp module, const plan::Training &request,
                                 const Candidates &candidates,
                                 const llvm::StringMap<StringRef> &firstNames) {
  LogicalResult result = success();
  for (const std::string &name : request.parameters()) {
    auto tied = firstNames.find(name);
    auto found = candidates.find(tied == firstNames.end() ? StringRef(name) : tied->second);
    if (found != candidates.end()) {
      WeightOp(found->second).setKind(WeightKind::Trained);
      continue;
    }
    auto other = module.lookupSymbol<WeightOp>(name);
    auto error = emitRequestError(module.getContext());
    if (other)
      error << "weight '" << name << "' is no parameter of floats: " << other.getType() << ", "
            << stringifyEnum(other.getKind());
    else
      error << "the model has no parameter '" << name << "'"
            << didYouMean(name, namesOf(candidates));
    result = failure();
  }
  return result;
}

/// All that the model does not hold constant, unless it holds everything constant.
static void selectUnfrozen(ModuleOp module, Candidates &candidates) {
  auto isFrozen = [](const auto &entry) { return WeightOp(entry.second)->hasAttr(frozenAttrName); };
  if (llvm::all_of(candidates, isFrozen))
    emitWarning(module.getLoc()) << "none of the model's parameters requires a gradient, as it was "
                                    "exported: all are trained";
  else
    candidates.remove_if(isFrozen);
}

/// Those in whose names the pattern is found; without one those that are not frozen.
static LogicalResult selectFound(ModuleOp module, const plan::Training &request,
                                 Candidates candidates) {
  const std::string &pattern = request.parameter_pattern();
  bool isAny = false;
  if (pattern.empty() && !candidates.empty())
    selectUnfrozen(module, candidates);
  for (auto [name, weight] : candidates)
    if (pattern.empty() || isFoundIn(pattern, name.str())) {
      weight.setKind(WeightKind::Trained);
      isAny = true;
    }
  if (isAny)
    return success();
  auto error = emitRequestError(module.getContext());
  if (candidates.empty())
    return error << "the model has no parameters of floats to train";
  return error << "'" << pattern << "' is neither a file nor found in the name of any of "
               << candidates.size() << " parameters" << didYouMean(pattern, namesOf(candidates));
}

void SelectParameters::runOnOperation() {
  func::FuncOp main = findMain(getOperation());
  if (main && !request)
    request = readTraining(&getContext(), training);
  if (!main || !request)
    return signalPassFailure();
  llvm::StringMap<StringRef> firstNames;
  mergeTied(getOperation(), main, firstNames);
  Candidates candidates = findCandidates(getOperation());
  LogicalResult selected = request->parameters().empty()
                               ? selectFound(getOperation(), *request, candidates)
                               : selectNamed(getOperation(), *request, candidates, firstNames);
  if (failed(selected))
    signalPassFailure();
}

std::unique_ptr<Pass> weft::createSelectParameters(const plan::Training &training) {
  return std::make_unique<SelectParameters>(training);
}

#include "driver/PinConflict.h"

#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Search/SmallestConflict.h"
#include "driver/ChooseTraining.h"
#include "driver/Diagnostics.h"
#include "driver/HeldForms.h"
#include "driver/Infeasible.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace weft;
using llvm::ArrayRef;

/// s in which conflicts are looked for.
static constexpr double timeBudget = 60;

namespace {
/// One pin of a request, as on the command line.
struct Pin {
  bool isShard;
  std::string text;

  std::string str() const {
    return isShard ? fmt::format("--shard '{}'", text) : fmt::format("--pin {}", text);
  }
};

/// Asks for plans that obey some of the pins.
class PinTrials {
public:
  PinTrials(ModuleOp model, const PlanOptions &options, unsigned threads);

  ArrayRef<Pin> getPins() const { return pins; }
  /// A plan that obeys these pins and fits.
  std::optional<plan::Plan> find(ArrayRef<size_t> asked);
  bool isOver() const { return search.getRemaining() <= 0; }
  /// How the value of a pin lies in a plan; "" where that is not known.
  std::string describeForm(const plan::Plan &plan, const Pin &pin);

private:
  OwningOpRef<ModuleOp> makeStep(const plan::Plan &plan);
  std::optional<plan::Plan> findUnlimited(const plan::Plan &asked);

  ModuleOp model;
  PlanOptions options;
  unsigned threads;
  std::vector<Pin> pins;
  bool hasCluster;
  PlanSearch search{timeBudget};
};
} // namespace

PinTrials::PinTrials(ModuleOp model, const PlanOptions &options, unsigned threads)
    : model(model), options(options), threads(threads), hasCluster(!options.cluster.empty()) {
  // Without a cluster degrees make the mesh, and nothing can be said without them.
  for (const std::string &text : options.pins) {
    llvm::SmallVector<llvm::StringRef> items;
    llvm::StringRef(text).split(items, ',');
    for (llvm::StringRef item : items)
      if (hasCluster)
        pins.push_back({/*isShard=*/false, item.trim().str()});
  }
  for (const std::string &text : options.shard)
    pins.push_back({/*isShard=*/true, text});
}

/// A copy of the model, or the step that the plan asks for of it. Null where none can be made.
OwningOpRef<ModuleOp> PinTrials::makeStep(const plan::Plan &plan) {
  OwningOpRef<ModuleOp> copy(model.clone());
  if (plan.has_training() && trainModule(*copy, plan.training(), /*fromFile=*/false).failed())
    return nullptr;
  return copy;
}

/// The plan where no devices limit it but their number.
std::optional<plan::Plan> PinTrials::findUnlimited(const plan::Plan &asked) {
  OwningOpRef<ModuleOp> step = makeStep(asked);
  const Candidate *found = step ? search.attempt(*step, asked) : nullptr;
  bool isApplied = found && found->status == PlanStatus::Applied;
  return isApplied ? std::optional(found->plan) : std::nullopt;
}

std::optional<plan::Plan> PinTrials::find(ArrayRef<size_t> asked) {
  QuietDiagnostics quiet(model.getContext());
  PlanOptions some = options;
  some.shard.clear();
  if (hasCluster)
    some.pins.clear();
  for (size_t number : asked)
    (pins[number].isShard ? some.shard : some.pins).push_back(pins[number].text);
  ModelOptions unused;
  Result<plan::Plan> plan = preparePlan(*model.getContext(), some, unused);
  if (plan.failed())
    return std::nullopt;
  if (plan->has_training() &&
      completeLoss(model, *plan->mutable_training(), /*fromFile=*/false).failed())
    return std::nullopt;
  if (plan->has_training() && !needsTrainingChoice(*plan))
    closeTraining(*plan->mutable_training());
  if (!hasCluster)
    return findUnlimited(*plan);
  std::optional<Candidate> found =
      findFitting({model, model, {}, threads}, std::move(*plan), search.getRemaining());
  return found ? std::optional(std::move(found->plan)) : std::nullopt;
}

std::string PinTrials::describeForm(const plan::Plan &plan, const Pin &pin) {
  std::string problem;
  std::optional<plan::Decision> decision = parsePin(pin.text, problem);
  OwningOpRef<ModuleOp> step = makeStep(plan);
  std::optional<PlannedModule> planned = step ? applyQuietly(*step, plan) : std::nullopt;
  if (!decision || !planned)
    return "";
  llvm::StringRef name = decision->value();
  name.consume_front(weightPrefix);
  for (const PlannedPart &part : planned->parts) {
    Value value = ValueNames(part.main).lookup(name);
    auto loads = part.loads.find(name);
    if (!value && loads != part.loads.end())
      value = part.function->values[loads->second.front()];
    if (value)
      return fmt::format("'{}' lies as {} there", name.str(),
                         str(part.mesh, getHeldForm(part, part.function->tensors.lookup(value))));
  }
  return "";
}

//===----------------------------------------------------------------------===//
// What is said
//===----------------------------------------------------------------------===//

static void note(ModuleOp model, const std::string &text) {
  model.getContext()->getDiagEngine().emit(UnknownLoc::get(model.getContext()),
                                           DiagnosticSeverity::Note)
      << text;
}

/// What a plan decides of what --pin names.
static std::string describeChoices(const plan::Plan &plan) {
  std::vector<std::string> choices;
  if (plan.meshes_size() == 1)
    for (const plan::Axis &axis : plan.meshes(0).axes())
      choices.push_back(fmt::format("{}={}", axis.name(), axis.size()));
  if (plan.training().accumulate() > 1)
    choices.push_back(fmt::format("microbatches={}", plan.training().accumulate()));
  if (plan.training().recompute() != plan::Training::NONE)
    choices.push_back(fmt::format("recompute={}", getRecomputeName(plan.training().recompute())));
  if (plan.training().offload() != plan::Training::OFFLOAD_NONE)
    choices.push_back(fmt::format("offload={}", getOffloadName(plan.training().offload())));
  return choices.empty() ? "one device" : fmt::format("{}", fmt::join(choices, ","));
}

/// Tells what there is without one of the pins.
static void tellWithout(ModuleOp model, PinTrials &trials, size_t pin) {
  std::vector<size_t> others;
  for (size_t number = 0; number < trials.getPins().size(); ++number)
    if (number != pin)
      others.push_back(number);
  const Pin &left = trials.getPins()[pin];
  std::optional<plan::Plan> found = trials.find(others);
  if (!found)
    return note(model, trials.isOver()
                           ? fmt::format("without {}: not tried for lack of time", left.str())
                           : fmt::format("without {} others conflict", left.str()));
  std::string form = left.isShard ? trials.describeForm(*found, left) : "";
  note(model, fmt::format("without {} there is a plan, with {}{}{}", left.str(),
                          describeChoices(*found), form.empty() ? "" : "; ", form));
}

PinConflict::PinConflict(ModuleOp model, const PlanOptions &options, unsigned threads)
    : options(options), threads(threads) {
  if (!options.shard.empty() || !options.pins.empty())
    this->model = model.clone();
}

Outcome PinConflict::explain(Outcome outcome) {
  if (!outcome.failed() || outcome.getError() != ErrorKind::Infeasible || !model)
    return outcome;
  PinTrials trials(*model, options, threads);
  std::optional<std::vector<size_t>> conflict =
      findSmallestConflict(trials.getPins().size(), [&](ArrayRef<size_t> pins) {
        return trials.isOver() || trials.find(pins).has_value();
      });
  if (!conflict || conflict->empty())
    return outcome;
  std::vector<std::string> names;
  for (size_t number : *conflict)
    names.push_back(trials.getPins()[number].str());
  if (trials.isOver())
    return note(*model, "which of the pins conflict was not found in time"), outcome;
  note(*model, names.size() == 1 ? fmt::format("no plan obeys this pin: {}", names.front())
                                 : fmt::format("these pins conflict, no plan obeys all of them: {}",
                                               fmt::join(names, ", ")));
  for (size_t number : *conflict)
    tellWithout(*model, trials, number);
  return outcome;
}

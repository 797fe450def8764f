#include "driver/FitPlan.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Support/Bytes.h"
#include "driver/Infeasible.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// What programs take
//===----------------------------------------------------------------------===//

Result<SimulatedProgram> weft::pricePlanned(ModuleOp module, plan::Plan &plan, bool isAnswer) {
  ScopedDiagnosticHandler quiet(module.getContext(), [&](Diagnostic &diagnostic) {
    return success(!isAnswer && diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  OwningOpRef<ModuleOp> copy(module.clone());
  return notePrice(*copy, plan);
}

Outcome weft::checkHosts(MLIRContext &context, const plan::Plan &plan,
                         const Simulation &simulation) {
  std::string problem;
  std::optional<cluster::Cluster> description;
  if (plan.training().offload() == plan::Training::OFFLOAD_OPTIMIZER && !plan.cluster().empty())
    description = resolveCluster(plan.cluster(), problem);
  if (!description)
    return Outcome::success();
  int64_t first = 0;
  ClusterModel cluster = makeClusterModel(*description);
  for (const GroupModel &group : cluster.groups) {
    int64_t bytes = 0, end = first + group.getNumDevices();
    for (const Simulation::RankClass &each : simulation.classes)
      if (each.begin < end && each.end > first)
        bytes = std::max(bytes, each.hostBytes);
    int64_t devices = std::min(group.getDevicesOfHost(), simulation.ranks);
    if (!group.device.hostCopy)
      emitWarning(UnknownLoc::get(&context))
          << "offload=optimizer frees no memory that " << plan.cluster()
          << " tells of: it says of no host beside its devices (docs/cluster.md, host)";
    else if (static_cast<double>(bytes * devices) > group.hostMemory)
      return fail(context, ErrorKind::Infeasible,
                  "offload=optimizer: a host of " + plan.cluster() + " would keep " +
                      describeBytes(static_cast<double>(bytes * devices)) + " for its " +
                      std::to_string(devices) + " devices, and has " +
                      describeBytes(group.hostMemory) +
                      "; --optimizer-sharding 1, or more axes of the batch, divides it");
    first = end;
  }
  return Outcome::success();
}

std::string weft::describeExcess(const plan::Plan &plan) {
  const plan::Prediction &expected = plan.prediction();
  double limit = expected.memory_limit_bytes();
  if (limit <= 0 || expected.allocated_bytes() <= limit)
    return "";
  return "allocates " + describeBytes(expected.allocated_bytes()) + " on a device that may hold " +
         describeBytes(limit);
}

void weft::takeCopy(ModuleOp module, ModuleOp copy) {
  module->setAttrs(copy->getAttrs());
  module.getBodyRegion().takeBody(copy.getBodyRegion());
}

void weft::takeCopy(ModuleOp module, ModuleOp copy, PlannedModule &planned) {
  takeCopy(module, copy);
  for (PlannedPart &part : planned.parts)
    if (part.module == copy)
      part.module = module;
}

//===----------------------------------------------------------------------===//
// Plans that fit
//===----------------------------------------------------------------------===//

/// Applies a plan that was found to the module, and prices it. False where it cannot be applied.
Result<bool> PlanFitting::take(const plan::Plan &found, plan::Plan &plan, PricedModule &result) {
  OwningOpRef<ModuleOp> copy(getOpen().clone());
  std::optional<PlannedModule> planned = applyQuietly(*copy, found);
  if (!planned)
    return false;
  plan = found;
  result.planned = std::move(*planned);
  result.blocks.clear();
  takeCopy(module, *copy, result.planned);
  Result<SimulatedProgram> priced = pricePlanned(module, plan, isAnswer);
  if (priced.failed())
    return priced.getOutcome();
  result.program = std::move(*priced);
  return true;
}

Outcome PlanFitting::takeSmallest(const plan::Plan &asked, plan::Plan &plan, PricedModule &result,
                                  llvm::function_ref<Outcome()> refuse) {
  if (trials.isTrial())
    return refuse();
  AskedModel model{getOpen(), trials.getUntrained(), trials.getLeast(), trials.getThreads()};
  std::optional<SmallestPlan> smallest = findSmallest(model, asked);
  if (smallest && fitsWhole(model, *smallest)) {
    Result<bool> isTaken = take(smallest->candidate.plan, plan, result);
    if (isTaken.failed() || *isTaken)
      return isTaken.getOutcome();
  }
  Outcome refused = refuse();
  if (smallest)
    explainInfeasible(model, asked, std::move(*smallest), trials.hasChosenTraining());
  return refused;
}

Outcome PlanFitting::makeFit(plan::Plan &plan, PricedModule &result) {
  PlanSearch search;
  search.noteTrial(trials.getTrialLimit());
  search.settle(plan, result.counted,
                result.program ? listAllocated(result.program->simulation, plan) : BytesByGroup(),
                [&](const plan::Plan &) { return OwningOpRef<ModuleOp>(getOpen().clone()); });
  if (const Candidate &best = search.getCandidates().front(); best.fits()) {
    Result<bool> isTaken = take(best.plan, plan, result);
    if (isTaken.failed() || *isTaken)
      return isTaken.getOutcome();
  }
  return takeSmallest(trials.withAsked(withoutSearch(plan)), plan, result, [&] {
    return fail(*module.getContext(), ErrorKind::Infeasible,
                "no split was found whose program fits its devices: that of the best " +
                    describeExcess(plan));
  });
}

#include "driver/StagedSteps.h"

#include "driver/ChooseSlices.h"
#include "driver/Concurrently.h"
#include "driver/Diagnostics.h"
#include "driver/Planning.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// What the candidate that fits, and was simulated last, says.
static StagedStep describe(const Candidate &found, ModuleOp step) {
  const SimulatedProgram &program = found.program->program;
  StagedStep described{found.getSeconds(), {}, {}, found.plan, found.limits};
  described.complete.mutable_model()->set_fingerprint(fingerprintOf(step));
  for (const Simulation::RankClass &each : program.simulation.classes)
    described.computing.push_back(each.busy.front());
  described.slices = measureSlices(program, found.program->sliceLengths);
  return described;
}

StagedStep StagedSteps::simulateStep(plan::Plan trial, BytesByGroup limits, double most,
                                     std::shared_ptr<PartAnswers> answers) {
  OwningOpRef<ModuleOp> step(module.clone());
  QuietDiagnostics quiet(step->getContext());
  PlanSearch search;
  search.noteTrial(most);
  if (trainPlanned(*step, trial, &search, &whole).failed())
    return {};
  const Candidate &found =
      search.simulateTrial(trial, std::move(limits), std::move(answers), [&](const plan::Plan &) {
        return OwningOpRef<ModuleOp>(step->clone());
      });
  if (!found.fits() ||
      checkHosts(*step->getContext(), found.plan, found.program->program.simulation).failed())
    return {};
  return describe(found, *step);
}

/// Plans whose programs hold about as much beside what the search counts: they may differ in where
/// they are cut, and in their schedule.
static std::string getMemoryKey(const plan::Plan &plan) {
  plan::Plan key;
  *key.mutable_meshes() = plan.meshes();
  *key.mutable_training() = plan.training();
  key.mutable_training()->clear_pipeline();
  return key.SerializeAsString();
}

std::vector<const StagedStep *> StagedSteps::simulate(ArrayRef<plan::Plan> trials, double most) {
  std::vector<const plan::Plan *> fresh;
  for (const plan::Plan &trial : trials)
    if (!known.contains(trial.SerializeAsString()))
      fresh.push_back(&trial);
  if (!fresh.empty() && fresh.front()->has_training())
    whole.begin(module, fresh.front()->training());
  std::vector<StagedStep> steps(fresh.size());
  std::vector<std::shared_ptr<PartAnswers>> found; // what is found does not depend on other threads
  for (size_t i = 0; i < fresh.size(); ++i)
    found.push_back(std::make_shared<PartAnswers>(answers));
  doConcurrently(fresh.size(), atOnce, [&](size_t i) {
    auto held = limits.find(getMemoryKey(*fresh[i]));
    steps[i] = simulateStep(*fresh[i], held == limits.end() ? BytesByGroup() : held->second, most,
                            found[i]);
  });
  for (auto [trial, step, more] : llvm::zip_equal(fresh, steps, found)) {
    answers.merge(*more);
    if (!step.limits.empty())
      limits[getMemoryKey(*trial)] = step.limits;
    known.emplace(trial->SerializeAsString(), std::move(step));
  }
  std::vector<const StagedStep *> told;
  for (const plan::Plan &trial : trials)
    told.push_back(&known.at(trial.SerializeAsString()));
  return told;
}

#include "driver/ChooseStages.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Search/RangePlans.h"
#include "compiler/Search/StagePartition.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/Parts.h"
#include "driver/ChooseMesh.h"
#include "driver/Diagnostics.h"
#include "driver/PinOptions.h"
#include "driver/Planning.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace weft;

/// So many for each stage are tried: more win little of what the pipeline's ends leave idle.
static constexpr int64_t mostMicrobatches = 8;

namespace {
class StageChooser {
public:
  StageChooser(ModuleOp module, plan::Plan &plan)
      : module(module), main(module.lookupSymbol<func::FuncOp>("main")), plan(plan),
        count(plan.stages()) {}

  Outcome choose();

private:
  size_t countParts() const { return count * layout.chunks; }
  std::vector<double> countWork() const;
  std::vector<double> findSeconds(const plan::Mesh &mesh);
  void cut(plan::Plan &to, const plan::Mesh &mesh);
  plan::Plan takeFastest(std::vector<plan::Plan> plans) const;
  std::vector<int64_t> listMicrobatches();
  Outcome chooseByTrials();

  ModuleOp module;
  func::FuncOp main;
  plan::Plan &plan;
  size_t count; ///< of groups of devices
  StageLayout layout;
  ModelBlocks model;
  std::optional<ClusterModel> cluster;
};
} // namespace

/// Of a block without products, as many operations as it has parameters: so much it moves at least.
std::vector<double> StageChooser::countWork() const {
  std::vector<double> work;
  for (const ModelBlock &block : model.blocks)
    work.push_back(static_cast<double>(std::max(block.flops, block.parameters)));
  return work;
}

/// Seconds of each block on a mesh of the cluster; none where one cannot be told.
std::vector<double> StageChooser::findSeconds(const plan::Mesh &mesh) {
  QuietDiagnostics quiet(module.getContext());
  RangeOptions options;
  options.trains = plan.has_training();
  RangePlanner planner(main, *cluster, options);
  std::map<uint32_t, double> known; // by kind
  std::vector<double> seconds;
  for (auto [number, block] : llvm::enumerate(model.blocks)) {
    auto [entry, isNew] = known.try_emplace(block.kind, 0);
    if (isNew) {
      auto splits = planner.find(number, number + 1, getMeshShape(mesh));
      if (failed(splits) || (*splits)->splits.empty())
        return {};
      entry->second = std::numeric_limits<double>::infinity();
      for (const StepSplit &split : (*splits)->splits)
        entry->second =
            std::min(entry->second, split.cost.forward + split.cost.backward +
                                        split.cost.weightGradient + split.cost.communication);
    }
    seconds.push_back(entry->second);
  }
  return seconds;
}

void StageChooser::cut(plan::Plan &to, const plan::Mesh &mesh) {
  std::vector<double> times = cluster ? findSeconds(mesh) : std::vector<double>();
  for (size_t block :
       partitionStages(times.empty() ? countWork() : times, model.liveBytes, countParts()))
    to.add_cuts(model.blocks[block].name);
  for (plan::Decision &decision : *to.mutable_decisions()) // of each stage that holds the value
    if (decision.sharding().mesh() == mesh.name())
      decision.mutable_sharding()->clear_mesh();
  std::vector<plan::Mesh> meshes = placeMeshes(std::vector<plan::Mesh>(count, mesh), layout);
  to.mutable_meshes()->Assign(meshes.begin(), meshes.end());
  to.clear_stages();
  to.clear_chunks();
}

/// What the step that a plan asks for takes on the cluster; infinity where it cannot be.
static double simulate(ModuleOp module, plan::Plan trial) {
  OwningOpRef<ModuleOp> copy(module.clone());
  QuietDiagnostics quiet(copy->getContext());
  if (trainPlanned(*copy, trial).failed() || planModule(*copy, trial).failed())
    return std::numeric_limits<double>::infinity();
  return trial.prediction().simulated_seconds();
}

/// The fastest of some plans; the first where none is feasible, of which the caller will tell.
plan::Plan StageChooser::takeFastest(std::vector<plan::Plan> plans) const {
  std::vector<double> seconds;
  if (plans.size() > 1)
    for (const plan::Plan &each : plans)
      seconds.push_back(simulate(module, each));
  auto fastest = std::min_element(seconds.begin(), seconds.end());
  return plans[fastest == seconds.end() ? 0 : fastest - seconds.begin()];
}

/// Numbers of microbatches that divide the batch: so many times the stages as a power of two.
std::vector<int64_t> StageChooser::listMicrobatches() {
  int64_t batch = BatchDimensions(FunctionGraph(main).graph).size();
  std::vector<int64_t> numbers;
  for (int64_t times = 1; times <= mostMicrobatches; times *= 2)
    if (auto number = times * static_cast<int64_t>(count); batch > 0 && batch % number == 0)
      numbers.push_back(number);
  return numbers;
}

/// Cuts for each mesh that a stage's devices make, and plans in as many microbatches as are usual.
Outcome StageChooser::chooseByTrials() {
  bool isMeshOpen = needsMesh(module, plan);
  std::vector<plan::Mesh> meshes{plan.meshes(0)};
  if (isMeshOpen) {
    Result<std::vector<plan::Mesh>> all = listMeshes(module, plan);
    if (all.failed())
      return all.getOutcome();
    meshes = std::move(*all);
  }
  std::vector<int64_t> numbers;
  bool takesBatches = plan.training().accumulate_batches() > 1; // each of them is a microbatch
  if (plan.has_training() && plan.training().accumulate() == 0 && !takesBatches)
    numbers = listMicrobatches();
  std::vector<plan::Plan> trials;
  for (const plan::Mesh &mesh : meshes) {
    cut(trials.emplace_back(plan), mesh);
    if (!numbers.empty())
      trials.back().mutable_training()->set_accumulate(numbers[numbers.size() / 2]);
  }
  plan = takeFastest(std::move(trials));
  trials.clear();
  for (int64_t number : numbers)
    trials.emplace_back(plan).mutable_training()->set_accumulate(number);
  if (!trials.empty())
    plan = takeFastest(std::move(trials));
  return Outcome::success();
}

Outcome StageChooser::choose() {
  MLIRContext &context = *module.getContext();
  std::string asked = "stage=" + std::to_string(count) + ": ";
  if (!main || callsParts(main) || !module.getOps<dist::MeshOp>().empty())
    return fail(context, ErrorKind::Usage,
                "--pin: " + asked + "the model says its parts or its mesh itself");
  std::string problem = findLayout(plan, layout);
  if (!problem.empty())
    return fail(context, ErrorKind::Usage, "--pin: " + problem);
  model = findBlocks(main);
  if (model.blocks.size() < countParts())
    return fail(context, ErrorKind::Infeasible,
                asked + "the model has " + std::to_string(model.blocks.size()) +
                    " blocks (`weft blocks` shows them), and each of the " +
                    std::to_string(countParts()) + " stages is one of them or more");
  if (!plan.cluster().empty())
    if (std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem))
      cluster = makeClusterModel(*description);
  if (cluster)
    return chooseByTrials();
  cut(plan, plan::Mesh(plan.meshes(0)));
  return Outcome::success();
}

/// The number of stages of which the step is the fastest: one, or a power of two.
static plan::Plan chooseNumber(ModuleOp module, const plan::Plan &plan) {
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  int64_t devices = description ? makeClusterModel(*description).groups.front().getNumDevices() : 1;
  plan::Plan best = plan;
  best.clear_stages();
  best.clear_chunks();
  double least = simulate(module, best);
  for (int64_t number = 2; number <= devices && devices % number == 0; number *= 2) {
    plan::Plan trial = plan;
    trial.set_stages(number);
    QuietDiagnostics quiet(module.getContext());
    if (StageChooser(module, trial).choose().failed())
      break; // nor has the model as many blocks as more stages want
    if (double seconds = simulate(module, trial); seconds < least) {
      least = seconds;
      best = std::move(trial);
    }
  }
  return best;
}

Outcome weft::chooseStages(ModuleOp module, plan::Plan &plan) {
  if (plan.stages() == anyStages)
    plan = chooseNumber(module, plan);
  if (plan.stages() > 1)
    return StageChooser(module, plan).choose();
  plan.clear_stages();
  return Outcome::success();
}

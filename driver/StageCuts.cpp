#include "driver/StageCuts.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Search/RangePlans.h"
#include "compiler/Search/StagePartition.h"
#include "compiler/Sharding/Parts.h"
#include "driver/Diagnostics.h"
#include "driver/PinOptions.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <set>

using namespace mlir;
using namespace weft;

StageCuts::StageCuts(ModuleOp module, const plan::Plan &asked, size_t count)
    : module(module), main(module.lookupSymbol<func::FuncOp>("main")), plan(asked), count(count) {}

std::vector<double> weft::countWork(const ModelBlocks &model) {
  std::vector<double> work;
  for (const ModelBlock &block : model.blocks)
    work.push_back(static_cast<double>(std::max(block.flops, block.parameters)));
  return work;
}

/// What each block takes of the batch on a mesh of the cluster; none where one cannot be told.
/// Collectives count as what they are for takes, as much to the one as to the other.
std::vector<BlockTimes> StageCuts::planBlocks(const plan::Mesh &mesh) {
  QuietDiagnostics quiet(module.getContext());
  RangeOptions options;
  options.trains = plan.has_training();
  RangePlanner planner(main, *cluster, options);
  std::map<uint32_t, BlockTimes> byKind;
  std::vector<BlockTimes> times;
  for (auto [number, block] : llvm::enumerate(model.blocks)) {
    auto [entry, isNew] = byKind.try_emplace(block.kind);
    if (isNew) {
      auto splits = planner.find(number, number + 1, getMeshShape(mesh));
      if (failed(splits) || (*splits)->splits.empty())
        return {};
      entry->second.forward = std::numeric_limits<double>::infinity();
      for (const StepSplit &split : (*splits)->splits) {
        const StepCost &cost = split.cost;
        double moved = cost.communication / (options.trains ? 2 : 1);
        BlockTimes taken{cost.forward + moved, cost.backward + (options.trains ? moved : 0),
                         cost.weightGradient};
        if (taken.getSum() < entry->second.getSum())
          entry->second = taken;
      }
    }
    times.push_back(entry->second);
  }
  return times;
}

/// The same, corrected by what is known better.
std::vector<BlockTimes> StageCuts::findTimes(const plan::Mesh &mesh) {
  plan::Mesh shape = mesh;
  shape.clear_name();
  auto [entry, isNew] = known.try_emplace(shape.SerializeAsString());
  if (isNew)
    entry->second = planBlocks(mesh);
  std::vector<BlockTimes> times = entry->second;
  for (auto [time, block] : llvm::zip(times, model.blocks))
    if (auto factor = factors.find(block.kind); factor != factors.end())
      time = scale(time, factor->second);
  return times;
}

double StageCuts::getSecondsPerByte(const plan::Mesh &mesh) const {
  int64_t devices = 1;
  for (const TierModel &tier : cluster->groups.front().tiers)
    if ((devices *= tier.fanout) >= static_cast<int64_t>(count) * countDevices(mesh))
      return 1 / (tier.seen * static_cast<double>(countDevices(mesh)));
  return 0;
}

/// What each block is expected to take, and where a plan has it; none where that is not known.
std::vector<ExpectedBlock> StageCuts::expect(const plan::Plan &tried, const plan::Mesh &mesh) {
  std::vector<BlockTimes> times = findTimes(mesh);
  std::set<int64_t> groups = listGroups(tried);
  std::vector<ExpectedBlock> expected;
  int stage = 0;
  for (auto [block, time] : llvm::zip(model.blocks, times)) {
    auto group = std::distance(groups.begin(), groups.find(tried.meshes(stage).first_device()));
    expected.push_back({time.getSum(), block.kind, static_cast<uint32_t>(group)});
    stage += stage < tried.cuts_size() && block.name == tried.cuts(stage);
  }
  return expected;
}

double StageCuts::getSlowest(const plan::Plan &tried, const plan::Mesh &mesh) {
  std::vector<double> seconds(listGroups(tried).size());
  for (const ExpectedBlock &block : expect(tried, mesh))
    seconds[block.group] += block.seconds;
  return *llvm::max_element(seconds);
}

void StageCuts::correct(const plan::Plan &tried, const plan::Mesh &mesh,
                        ArrayRef<double> computing) {
  std::vector<ExpectedBlock> expected = expect(tried, mesh);
  if (expected.empty() || listGroups(tried).size() != computing.size())
    return;
  for (auto [kind, factor] : correctTimes(expected, computing))
    factors[kind] = factor * (factors.contains(kind) ? factors[kind] : 1);
}

void StageCuts::cut(plan::Plan &to, const plan::Mesh &mesh) {
  std::vector<double> times;
  for (const BlockTimes &block : cluster ? findTimes(mesh) : std::vector<BlockTimes>())
    times.push_back(block.getSum());
  for (size_t block :
       partitionStages(times.empty() ? countWork(model) : times, model.liveBytes, countParts()))
    to.add_cuts(model.blocks[block].name);
  for (plan::Decision &decision : *to.mutable_decisions()) // of each stage that holds the value
    if (decision.sharding().mesh() == mesh.name())
      decision.mutable_sharding()->clear_mesh();
  std::vector<plan::Mesh> meshes = placeMeshes(std::vector<plan::Mesh>(count, mesh), layout);
  to.mutable_meshes()->Assign(meshes.begin(), meshes.end());
  to.clear_stages();
  to.clear_chunks();
}

plan::Plan StageCuts::cutLike(const plan::Plan &best, const std::string &schedule,
                              const plan::Mesh &mesh) {
  plan::Plan trial = plan;
  *trial.mutable_training() = best.training();
  trial.mutable_training()->set_pipeline(schedule);
  findLayout(trial, layout);
  cut(trial, mesh);
  return trial;
}

Outcome StageCuts::setUp() {
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
  return Outcome::success();
}

#include "passes/Pipelines/Pipelines.h"

#include "compiler/Plan/TrainingPlan.h"
#include "passes/Import/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Partition/Passes.h"
#include "passes/Planning/Passes.h"
#include "passes/Training/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace weft;

void weft::buildTrainRequestPipeline(OpPassManager &manager, const plan::Training &training) {
  manager.addPass(createAddLoss(training));
  manager.addPass(createSelectParameters(training));
}

/// Bodies have one block each: there is nothing to simplify between blocks.
static void addCanonicalizer(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)));
}

/// Of what differentiation left: outputs, and all that only they needed, are gone.
static void addTidying(OpPassManager &manager) {
  addCanonicalizer(manager);
  manager.addPass(createCSEPass());
  manager.addPass(createDropUnusedWeights());
}

void weft::buildTrainStepPipeline(OpPassManager &manager, const plan::Training &training) {
  manager.addPass(createDifferentiate());
  manager.addPass(createDropStopGradients(DropStopGradientsOptions{/*all=*/true}));
  manager.addPass(createAddOptimizer(training));
  addTidying(manager);
}

void weft::buildRecomputePipeline(OpPassManager &manager, const plan::Training &training) {
  std::string mode = getRecomputeName(training.recompute());
  manager.addPass(createRecompute(RecomputeOptions{mode, /*limit=*/0}));
}

static void addPinPasses(OpPassManager &manager, std::shared_ptr<PlanState> state,
                         const ApplyPlanOptions &options) {
  manager.addNestedPass<func::FuncOp>(createSplitConstants());
  manager.addPass(createSplitMicrobatches(state));
  manager.addNestedPass<func::FuncOp>(createSplitConstants());
  manager.addPass(createApplyPlan(std::move(state), options));
}

static void addPlanPasses(OpPassManager &manager, std::shared_ptr<PlanState> state,
                          const ApplyPlanOptions &options, bool isWhole) {
  addPinPasses(manager, state, options);
  if (!isWhole)
    manager.addPass(createChooseShardings(state));
  manager.addPass(createPropagateShardings(state));
}

void weft::buildPlanPipeline(OpPassManager &manager, std::shared_ptr<PlanState> state) {
  addPlanPasses(manager, state, {}, state->isWhole);
}

void weft::buildPinPipeline(OpPassManager &manager, std::shared_ptr<PlanState> state) {
  addPinPasses(manager, std::move(state), {});
}

void weft::buildPartitionPipeline(OpPassManager &manager, StringRef target) {
  manager.addPass(createExpandCrossMeshReductions());
  manager.addPass(createSliceTokens());
  manager.addPass(createPartition());
  addCanonicalizer(manager);
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createAdvanceReductions());
  manager.addPass(createOutlineMicrobatches());
}

void weft::buildKernelPipeline(OpPassManager &manager, StringRef target) {
  std::string name = target.str();
  manager.addPass(createDropStopGradients(DropStopGradientsOptions{/*all=*/true}));
  manager.addNestedPass<func::FuncOp>(
      createDecomposeAttention(DecomposeAttentionOptions{name, /*scoreBytes=*/0}));
  manager.addNestedPass<func::FuncOp>(createDecomposePadding());
  manager.addNestedPass<func::FuncOp>(createDecomposeWindows());
  addCanonicalizer(manager);
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createMoveChannelsLast(MoveChannelsLastOptions{name}));
  manager.addPass(createFormKernels(FormKernelsOptions{name}));
}

void weft::buildSelectPipeline(OpPassManager &manager, StringRef target) {
  manager.addPass(createSelectInstructions(SelectInstructionsOptions{target.str()}));
  manager.addPass(createFetchStates());
}

void weft::buildExecPipeline(OpPassManager &manager, StringRef target) {
  manager.addPass(createScheduleInstructions(ScheduleInstructionsOptions{target.str()}));
  manager.addPass(createPlaceBuffers());
}

static constexpr LoweringPhase loweringPhases[] = {
    {"partition", "weft-partition-pipeline", "from a planned module to the program of one device",
     buildPartitionPipeline},
    {"fuse", "weft-kernel-pipeline", "decomposes attention and outlines fusion groups",
     buildKernelPipeline},
    {selectPhase, "weft-select-pipeline", "selects instructions over buffers, and fetches states",
     buildSelectPipeline},
    {"lower", "weft-exec-pipeline", "schedules instructions and places buffers", buildExecPipeline},
};

ArrayRef<LoweringPhase> weft::listLoweringPhases() { return loweringPhases; }

void weft::loadDialects(MLIRContext &context) {
  PassManager manager(&context);
  buildTrainRequestPipeline(manager, plan::Training());
  buildTrainStepPipeline(manager, plan::Training());
  buildRecomputePipeline(manager, plan::Training());
  buildPlanPipeline(manager, std::make_shared<PlanState>());
  for (const LoweringPhase &phase : listLoweringPhases())
    phase.build(manager, cpuTarget);
  DialectRegistry registry;
  manager.getDependentDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

namespace {
struct PlanPipelineOptions : PassPipelineOptions<PlanPipelineOptions> {
  Option<std::string> plan{*this, "plan", llvm::cl::desc("a plan file")};
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("a mesh, NAME=SIZE[,NAME=SIZE]…, instead of a plan; "
                                          "of several parts one for all, or one each by ';'")};
  ListOption<std::string> cuts{*this, "cuts",
                               llvm::cl::desc("values behind which a part of the model ends")};
  Option<std::string> shard{
      *this, "shard", llvm::cl::desc("pins on that mesh, VALUE=[{AXES},…], separated by ';'")};
};
struct TrainPipelineOptions : PassPipelineOptions<TrainPipelineOptions> {
  Option<std::string> training{
      *this, "training", llvm::cl::desc("what to train and how: the text form of plan.Training")};
  Option<std::string> recompute{
      *this, "recompute", llvm::cl::desc("what is computed again: none, selective, full, auto"),
      llvm::cl::init("none")};
};
struct LoweringPipelineOptions : PassPipelineOptions<LoweringPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("for which device: cpu, cuda"),
                             llvm::cl::init(cpuTarget.str())};
};
} // namespace

/// A request that cannot be read is told of by the first pass that has its text.
static void buildTrainPipeline(OpPassManager &manager, const TrainPipelineOptions &options) {
  manager.addPass(createAddLoss(AddLossOptions{options.training}));
  manager.addPass(createSelectParameters(SelectParametersOptions{options.training}));
  manager.addPass(createDifferentiate());
  manager.addPass(createDropStopGradients(DropStopGradientsOptions{/*all=*/true}));
  manager.addPass(createAddOptimizer(AddOptimizerOptions{options.training}));
  addTidying(manager);
  manager.addPass(createRecompute(RecomputeOptions{options.recompute, /*limit=*/0}));
}

void weft::registerPipelines() {
  PassPipelineRegistration<TrainPipelineOptions>(
      "weft-train-pipeline", "from a model to a training step", buildTrainPipeline);
  PassPipelineRegistration<PlanPipelineOptions>(
      "weft-plan-pipeline", "from a model and a plan, or a mesh and pins, to a planned module",
      [](OpPassManager &manager, const PlanPipelineOptions &options) {
        SmallVector<std::string> cuts(options.cuts.begin(), options.cuts.end());
        addPlanPasses(manager, std::make_shared<PlanState>(),
                      {options.plan, options.mesh, cuts, options.shard}, !options.plan.empty());
      });
  for (const LoweringPhase &phase : loweringPhases)
    PassPipelineRegistration<LoweringPipelineOptions>(
        phase.flag, phase.description,
        [build = phase.build](OpPassManager &manager, const LoweringPipelineOptions &options) {
          build(manager, options.target);
        });
}

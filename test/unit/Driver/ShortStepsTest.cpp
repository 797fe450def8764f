//===- ShortStepsTest.cpp - short steps that are kept ---------------------===//

#include "driver/ShortSteps.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Search/StrategyGraph.h"
#include "driver/LoadModel.h"
#include "driver/Training.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static constexpr const char *config = R"({"model_type": "llama", "vocab_size": 256,
  "hidden_size": 64, "num_hidden_layers": 20, "num_attention_heads": 4, "num_key_value_heads": 2,
  "intermediate_size": 96, "rms_norm_eps": 1e-6})";

static mlir::OwningOpRef<mlir::ModuleOp> loadConfig(mlir::MLIRContext &context) {
  fs::path path = fs::temp_directory_path() / ("weft-short-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << config;
  ModelOptions options;
  options.dims = {"batch=8", "seq=32"};
  auto module = loadModel(context, path.string(), options);
  fs::remove(path);
  return module.failed() ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(*module);
}

/// A plan for a training step of the model, or for the model itself.
static plan::Plan makePlan(mlir::ModuleOp module, const char *mesh, int64_t microbatches,
                           plan::Training::Recompute recompute) {
  std::string problem;
  plan::Plan plan = *startPlan(mesh, {}, {}, problem);
  plan.set_cluster("dgx-h100:1");
  TrainingOptions options;
  options.optimizer = "adamw";
  options.accumulate = microbatches;
  *plan.mutable_training() = *readTrainingOptions(*module.getContext(), options);
  plan.mutable_training()->set_recompute(recompute);
  REQUIRE_FALSE(completeLoss(module, *plan.mutable_training(), /*fromFile=*/false).failed());
  return plan;
}

/// All that a search is told of the steps that a plan asks for, what it finds, and what is lowered.
static std::string describe(ShortModel &model, const plan::Plan &plan) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::shared_ptr<const ShortSteps> made = model.make(plan);
  REQUIRE(made);
  for (auto [number, share] : llvm::enumerate(made->shares)) {
    std::unique_ptr<PlacedStep> step = model.place(plan, number);
    REQUIRE(step);
    stream << share << "\n" << **step->module << "\n";
  }
  const ShardingProblem &problem = made->steps.front()->problem;
  for (const std::vector<double> *numbers : {&problem.counts, &problem.live})
    for (double number : *numbers)
      stream << number << " ";
  std::string none;
  const ClusterModel cluster = makeClusterModel(*resolveCluster(plan.cluster(), none));
  const MeshShape shape = getMeshShape(plan.meshes(0));
  MeshPrices prices(shape, cluster);
  ShardingAnswer answer = searchShardings(problem, prices, {});
  stream << "\n" << answer.seconds << " " << answer.memory << " " << answer.splits.size();
  return text;
}

TEST_CASE("short steps are what they are, whatever was asked for before") {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = loadConfig(context);
  REQUIRE(module);
  const std::vector<plan::Plan> plans = {
      makePlan(*module, "data=8", 2, plan::Training::NONE),
      makePlan(*module, "data=2,model=4", 2, plan::Training::NONE),
      makePlan(*module, "data=8", 4, plan::Training::FULL),
  };
  ShortModel kept(*module);
  REQUIRE(kept.repeats());
  kept.make(plans[0]);
  for (size_t number : {1, 2, 0}) { // of the same training, of another one, of one that was left
    INFO("plan " << number);
    ShortModel fresh(*module);
    CHECK(describe(kept, plans[number]) == describe(fresh, plans[number]));
  }
}

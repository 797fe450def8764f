//===- MemoryProfileTest.cpp - the memory of deep steps from short ones ---===//

#include "driver/MemoryProfile.h"

#include "compiler/Plan/PlanSyntax.h"
#include "driver/LoadModel.h"
#include "driver/Planning.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static mlir::OwningOpRef<mlir::ModuleOp> loadDeep(mlir::MLIRContext &context, int vocabulary,
                                                  int layers) {
  fs::path path = fs::temp_directory_path() / ("weft-memory-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 8,
    "num_key_value_heads": 8, "intermediate_size": 512, "rms_norm_eps": 1e-6, "vocab_size": )"
                      << vocabulary << ", \"num_hidden_layers\": " << layers << "}";
  ModelOptions options;
  options.dims = {"batch=16", "seq=128"};
  options.dtype = "bf16";
  auto module = loadModel(context, path.string(), options);
  fs::remove(path);
  return module.failed() ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(*module);
}

/// A step on eight devices, of which all but the mesh is left open.
static plan::Plan ask(mlir::ModuleOp module, const char *mesh) {
  std::string problem;
  plan::Plan plan = *startPlan(mesh, {}, {}, problem);
  plan.set_cluster("dgx-h100:1");
  TrainingOptions options;
  options.optimizer = "adamw";
  options.recompute = "auto";
  *plan.mutable_training() = *readTrainingOptions(*module.getContext(), options);
  return plan;
}

TEST_CASE("what short programs say of a deep one's memory and time is so") {
  // With few layers most is live where the loss is, with many between the passes.
  for (int vocabulary : {512, 16384})
    for (const char *mesh : {"data=8", "data=2,model=4"}) {
      INFO("vocabulary " << vocabulary << ", mesh " << mesh);
      mlir::MLIRContext context;
      mlir::OwningOpRef<mlir::ModuleOp> module = loadDeep(context, vocabulary, 48);
      REQUIRE(module);
      plan::Plan plan = ask(*module, mesh);
      PlanSearch search;
      REQUIRE_FALSE(trainPlanned(*module, plan, &search).failed());
      const Candidate best = search.getCandidates().front();
      REQUIRE(best.isOpen); // the whole was not looked at
      REQUIRE(best.isSimulated());
      REQUIRE_FALSE(planModule(*module, plan, &search).failed());
      const plan::Prediction &said = best.plan.prediction(), &is = plan.prediction();
      CHECK(said.allocated_bytes() == Approx(is.allocated_bytes()).epsilon(0.03));
      CHECK(said.simulated_seconds() == Approx(is.simulated_seconds()).epsilon(0.03));
    }
}

TEST_CASE("places grow by as much with each layer, and so does the place where most is live") {
  auto ofLayers = [](double layers) {
    constexpr auto kind = static_cast<size_t>(exec::ArenaKind::Activations);
    constexpr auto scheduled = static_cast<size_t>(exec::ArenaKind::Communication);
    MemoryProfile profile;
    MemoryProfile::KindBytes first{}, loss{};
    first[kind] = 3 * layers;
    loss[kind] = 30 + layers;
    profile.places = {{1, {first, first}}, {2, {loss, loss}}};
    profile.peak[kind] = std::max(3 * layers, 30 + layers);
    profile.allocated[kind] = 2 * profile.peak[kind];
    profile.places[1].first[scheduled] = profile.peak[scheduled] = 4 * layers;
    profile.allocated[scheduled] = 4 * layers - 7;
    constexpr auto kept = static_cast<size_t>(exec::ArenaKind::State);
    for (auto &[place, live] : profile.places)
      live.first[kept] = live.second[kept] = 5 * layers;
    profile.peak[kept] = profile.allocated[kept] = 5 * layers;
    return profile;
  };
  std::vector<MemoryProfile> profiles = {ofLayers(7), ofLayers(8)};
  profiles.back().allocated = {}; // of the first alone it is looked at
  CHECK(extendAllocated(profiles, {-2, 3}) == 2 * 40 + (4 * 10 - 7) + 5 * 10);
  CHECK(extendAllocated(profiles, {-92, 93}) == 2 * 300 + (4 * 100 - 7) + 5 * 100);
}

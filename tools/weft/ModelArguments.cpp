#include "tools/weft/ModelArguments.h"

#include "tools/weft/NumberChecks.h"
#include "tools/weft/TrainingArguments.h"

using namespace weft;

void weft::tool::addModelOptions(CLI::App &command, ModelOptions &options) {
  command.add_option("--dim", options.dims, "bind a symbolic dimension: NAME=N (repeatable)")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  auto bind = [&](const char *option, const char *dim, const char *help) {
    command
        .add_option_function<int64_t>(
            option,
            [&options, dim](int64_t size) {
              options.dims.push_back(std::string(dim) + "=" + std::to_string(size));
            },
            help)
        ->type_name("N");
  };
  bind("--global-batch", "batch", "the sequences or images of a step: --dim batch=N");
  bind("--seq", "seq", "the tokens of a sequence: --dim seq=N");
  command
      .add_option("--dtype", options.dtype,
                  "of weights and activations: f32, f16 or bf16 (of a configuration; default: as "
                  "it says)")
      ->type_name("TYPE");
  command
      .add_option("--allow-data-dir", options.allowedDataDirs,
                  "a folder besides the model's own where external data may lie (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      .add_option("--carry", options.carry,
                  "an output that is the next step's input, a state of the input's name: "
                  "OUTPUT=INPUT, or a prefix of each with a trailing * (repeatable)")
      ->type_name("OUTPUT=INPUT")
      ->allow_extra_args(false);
  command
      .add_option("--weights-dir", options.weightsDir,
                  "look up external data here instead of in the model's folder")
      ->type_name("DIR");
  command
      .add_option("--weights", options.weights,
                  "a .safetensors file: arguments of a StableHLO model that it holds become "
                  "parameters, weights of a configuration get their values (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

CLI::Option *weft::tool::addMemoryOption(CLI::App &command, int64_t &bytes, CLI::Option *cluster,
                                         const std::string &otherwise) {
  return command
      .add_option("--memory", bytes,
                  "what a device may hold, as 16GiB (default: " + otherwise + ")")
      ->transform(asSize())
      ->type_name("SIZE")
      ->needs(cluster);
}

void weft::tool::addPlanOptions(CLI::App &command, PlanOptions &options, bool withPlan) {
  auto *mesh = command
                   .add_option("--mesh", options.mesh,
                               "the devices: NAME=SIZE[,NAME=SIZE]…; of a model in parts one mesh "
                               "for all, or one each: 'data=2;model=2'")
                   ->type_name("MESH");
  auto *cluster = command
                      .add_option("--cluster", options.cluster,
                                  "search for the split that takes the least time on this cluster, "
                                  "a preset (weft cluster list) or a description: over --mesh, or "
                                  "over the best mesh of all its devices")
                      ->type_name("CLUSTER");
  auto *memory = addMemoryOption(command, options.memory, cluster, "the cluster's");
  auto *cut = command
                  .add_option("--cut", options.cuts,
                              "end a part of the model behind a value; parts run on devices one "
                              "after another (repeatable)")
                  ->type_name("VALUE")
                  ->allow_extra_args(false);
  auto *shard = command
                    .add_option("--shard", options.shard,
                                "pin a value or weight: 'VALUE=[{data},{}]', or on one of several "
                                "meshes 'VALUE=@mesh1[{data},{}]'; a * in a name stands for any "
                                "characters (repeatable)")
                    ->type_name("PIN")
                    ->allow_extra_args(false);
  auto *pin = command
                  .add_option("--pin", options.pins,
                              "pin degrees of axes, data=8,model=4, of the mesh that the search is "
                              "left to find, how many stages the model is cut into, stage=4 or "
                              "stage=auto, and "
                              "choices of training: microbatches=8, schedule=gpipe, slices=4, "
                              "recompute=full (repeatable)")
                  ->type_name("NAME=VALUE,…")
                  ->allow_extra_args(false);
  CLI::Option *plan = nullptr;
  if (withPlan)
    plan = command.add_option("--plan", options.plan, "a plan to obey (-: the standard input)")
               ->type_name("PLAN")
               ->excludes(mesh)
               ->excludes(cluster)
               ->excludes(memory)
               ->excludes(cut)
               ->excludes(shard)
               ->excludes(pin);
  addTrainingOptions(command, options.training, plan);
}

void weft::tool::addDeviceOption(CLI::App &command, std::string &device) {
  command
      .add_option("--device", device, "what runs the program: a host's cores (cpu) or GPUs (cuda)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("DEVICE")
      ->capture_default_str();
}

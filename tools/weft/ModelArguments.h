//===- ModelArguments.h - options of commands that take a model -*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MODELARGUMENTS_H
#define WEFT_TOOLS_WEFT_MODELARGUMENTS_H

#include "driver/Planning.h"
#include "tools/weft/Command.h"

namespace weft::tool {

/// What a model may be, for the help of commands that take one.
inline constexpr const char *modelKinds =
    "a model: ONNX (.onnx), torch.export (.pt2), StableHLO (.mlir), a module that weft import "
    "wrote (.mlir), or a transformer's configuration (config.json)";

/// Adds --dim, --allow-data-dir, --weights-dir and --weights.
void addModelOptions(CLI::App &command, ModelOptions &options);

/// Adds --memory: bytes, with a unit or without, that a device of --cluster may hold; `otherwise`
/// says what holds without it.
CLI::Option *addMemoryOption(CLI::App &command, int64_t &bytes, CLI::Option *cluster,
                             const std::string &otherwise);

/// Adds --mesh, --cut, --shard and the options of training, and --plan for commands that obey one.
void addPlanOptions(CLI::App &command, PlanOptions &options, bool withPlan);

/// Adds --device: a target that programs run on.
void addDeviceOption(CLI::App &command, std::string &device);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_MODELARGUMENTS_H

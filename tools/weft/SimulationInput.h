//===- SimulationInput.h - what can be simulated ----------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_SIMULATIONINPUT_H
#define WEFT_TOOLS_WEFT_SIMULATIONINPUT_H

#include "driver/Simulation.h"
#include "tools/weft/Command.h"

namespace weft::tool {

/// Simulates an executable, or a plan of the model at `model` (empty: where the plan says).
Result<Simulation> simulatePath(mlir::MLIRContext &context, const std::string &path,
                                const std::string &model, const cluster::Cluster &cluster);

void addClusterOption(CLI::App &command, std::string &cluster);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SIMULATIONINPUT_H

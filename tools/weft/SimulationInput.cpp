//===- SimulationInput.cpp - what can be simulated ------------------------===//

#include "tools/weft/SimulationInput.h"

#include "driver/Planning.h"
#include "runtime/Program/Executable.h"

using namespace weft;

Result<Simulation> weft::tool::simulatePath(mlir::MLIRContext &context, const std::string &path,
                                            const std::string &model,
                                            const cluster::Cluster &cluster) {
  if (!isPlan(path))
    return simulateExecutable(runtime::loadExecutable(path).proto, cluster);
  Result<PlannedModel> planned = readPlanned(context, path, model);
  if (planned.failed())
    return planned.getOutcome();
  Result<SimulatedProgram> program = simulatePlanned(*planned->module, cluster);
  if (program.failed())
    return program.getOutcome();
  return std::move(program->simulation);
}

void weft::tool::addClusterOption(CLI::App &command, std::string &cluster) {
  command
      .add_option("--cluster", cluster,
                  "NAME:N, A:N+B:M or a description (default: this host, a rank a core)")
      ->type_name("CLUSTER");
}

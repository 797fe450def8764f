//===- Module.cpp - transports loaded on demand ---------------------------===//

#include "runtime/Collective/Module.h"

#include "runtime/Support/LoadModule.h"

#include <algorithm>
#include <cstdlib>

namespace weft::runtime {

std::unique_ptr<Transport> openMpiTransport() {
  // Global: Open MPI's own modules look for its symbols in the program.
  ModuleFile module{"weft-transport-mpi.so", "the mpi transport", "use --transport local", true};
  auto *make = reinterpret_cast<Transport *(*)()>(loadModule(module, "weft_make_mpi_transport"));
  return std::unique_ptr<Transport>(make());
}

int64_t getNumLaunched() {
  // In the order of trust: Open MPI, PMI launchers, steps of Slurm.
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char *value = std::getenv(name))
      return std::max(1, std::atoi(value));
  return 1;
}

} // namespace weft::runtime

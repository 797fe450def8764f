//===- Module.cpp - transports loaded on demand ---------------------------===//

#include "runtime/Collective/Module.h"

#include "runtime/Support/Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace weft::runtime {

namespace {
namespace fs = std::filesystem;
constexpr const char *mpiModule = "weft-transport-mpi.so";
} // namespace

std::unique_ptr<Transport> openMpiTransport() {
  std::vector<fs::path> folders;
  if (const char *given = std::getenv("WEFT_MODULE_DIR"))
    folders.push_back(given);
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (fs::path up : {program.parent_path(), program.parent_path().parent_path()}) {
    folders.push_back(up / "lib" / "weft");
    folders.push_back(up / "lib");
  }
  std::string sought;
  for (const fs::path &folder : folders) {
    fs::path path = folder / mpiModule;
    sought += fmt::format("{}'{}'", sought.empty() ? "" : ", ", path.string());
    if (!fs::exists(path))
      continue;
    // Global: Open MPI's own modules look for its symbols in the program.
    void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!module)
      throwBadInput("cannot load the mpi transport: {}; install MPI or use --transport local",
                    dlerror());
    auto *make = reinterpret_cast<Transport *(*)()>(dlsym(module, "weft_make_mpi_transport"));
    if (!make)
      throwBadInput("'{}' is not a transport of this version", path.string());
    return std::unique_ptr<Transport>(make());
  }
  throwBadInput("the mpi transport is not installed, sought {}; set WEFT_MODULE_DIR or use "
                "--transport local",
                sought);
}

int64_t getNumLaunched() {
  // In the order of trust: Open MPI, PMI launchers, steps of Slurm.
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char *value = std::getenv(name))
      return std::max(1, std::atoi(value));
  return 1;
}

} // namespace weft::runtime

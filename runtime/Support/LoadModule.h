//===- LoadModule.h - parts that are loaded on demand -----------*- C++ -*-===//
//
// Transports and devices that need what is not installed everywhere (MPI, CUDA) are shared objects
// of their own. They lie in the folder that WEFT_MODULE_DIR names, else beside the program:
// ../lib/weft, ../lib.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SUPPORT_LOADMODULE_H
#define WEFT_RUNTIME_SUPPORT_LOADMODULE_H

#include <string>

namespace weft::runtime {

struct ModuleFile {
  std::string file;    ///< "weft-transport-mpi.so"
  std::string what;    ///< "the mpi transport", for messages
  std::string instead; ///< what the user may do without it: "use --transport local"
  bool global = false; ///< whether others look for its symbols
};

/// Loads a module, which stays until the process ends, and returns the address of its `symbol`. An
/// Error of kind BadInput tells where it was sought and what is missing.
void *loadModule(const ModuleFile &module, const char *symbol);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_LOADMODULE_H

//===- Module.h - transports loaded on demand -------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVE_MODULE_H
#define WEFT_RUNTIME_COLLECTIVE_MODULE_H

#include "runtime/Collective/Transport.h"

namespace weft::runtime {

/// Loads the mpi transport's module and starts MPI. The module lies in the folder named by
/// WEFT_MODULE_DIR, else beside this program (../lib/weft, ../lib); an Error of kind BadInput tells
/// where it was sought and what is missing.
std::unique_ptr<Transport> openMpiTransport();

/// Processes that a launcher (mpirun, srun) started together with this one, by its environment; 1
/// without one.
int64_t getNumLaunched();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_MODULE_H

//===- PricedProgram.h - an executable's program with prices ----*- C++ -*-===//
//
// Walks the instruction lists of an executable into what the simulator runs. A rank class stays one
// class, a segment one segment, an execution of the schedule one entry, whose instance is its
// microbatch. Each instruction of computation becomes work on the compute stream; communication
// goes to a stream of its own, between two events:
//
//   all_reduce, begun with token 3     compute     record 0
//                                      collective  wait 0, transfer, record 1
//   wait for token 3                   compute     wait 1
//
// What is not begun beside others is waited for at once. A message is sent by one class and
// received by another. Prices are those of compiler/Cost, on the cluster as the program's ranks
// share it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_PRICEDPROGRAM_H
#define WEFT_DRIVER_PRICEDPROGRAM_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Constants.h"
#include "compiler/Simulate/Program.h"
#include "runtime/Program/executable.pb.h"

namespace weft {

/// The program of an executable that has passed its checks, on `cluster` as it is described. Owners
/// of memory are the kinds of arenas, in their order (program::ArenaKind). Throws a runtime::Error
/// of kind Infeasible where the cluster has too few devices.
sim::Program priceProgram(const program::Executable &executable, const ClusterModel &cluster,
                          const CostConstants &constants);

} // namespace weft

#endif // WEFT_DRIVER_PRICEDPROGRAM_H

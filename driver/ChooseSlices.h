//===- ChooseSlices.h - in which slices sequences go ------------*- C++ -*-===//
//
// What the lowered program of a step says of the slices of its sequences (--pin slices=auto): what
// its stages take of each, and from that the lengths with which a pipeline is done the soonest
// (compiler/Search/Slice/TokenSlices.h). A slice behind others takes longer, since its attention
// reads them: the best lengths fall along the sequence.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_CHOOSESLICES_H
#define WEFT_DRIVER_CHOOSESLICES_H

#include "compiler/Search/SliceCurve.h"
#include "driver/Simulation.h"

namespace weft {

/// What the slowest stage computes of each slice of a microbatch, forward and backward, by the
/// program of a step in slices of those lengths.
std::vector<SliceTime> measureSlices(const SimulatedProgram &program,
                                     llvm::ArrayRef<int64_t> lengths);

/// The lengths of slices, by what some took, with which a pipeline of so many stages and
/// microbatches is done the soonest; empty where sequences go whole, or nothing can be told: slices
/// of one length do not tell what a token takes and what launching does.
std::vector<int64_t> chooseSliceLengths(llvm::ArrayRef<SliceTime> seen, int64_t tokens,
                                        int64_t stages, int64_t microbatches);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSESLICES_H

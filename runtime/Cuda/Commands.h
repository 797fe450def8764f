//===- Commands.h - instructions as commands of a GPU -----------*- C++ -*-===//
//
// Commands take streams of CudaStream alone and hold on to the context, which outlives them. Those
// of convolutions and collectives are in Conv.h and NcclCommunicator.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_COMMANDS_H
#define WEFT_RUNTIME_CUDA_COMMANDS_H

#include "runtime/Cuda/CudaContext.h"

#include <memory>

namespace weft::runtime {

/// A generated kernel (Launch.cpp tells how it is called).
std::unique_ptr<Command> makeLaunchCommand(CudaContext &context, LaunchCall call);
std::unique_ptr<Command> makeGemmCommand(CudaContext &context, GemmCall call);
std::unique_ptr<Command> makeCopyCommand(CudaContext &context, CopyCall call);
std::unique_ptr<Command> makeFillCommand(CudaContext &context, FillCall call);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_COMMANDS_H

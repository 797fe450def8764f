//===- Conv.h - convolutions by cuDNN ---------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CUDA_CONV_H
#define WEFT_RUNTIME_CUDA_CONV_H

#include "runtime/Cuda/CudaContext.h"

#include <memory>

namespace weft::runtime {

/// A convolution of floats, or the gradient of its kernel, of up to three spatial dimensions; an
/// epilogue follows as a kernel of its own. Its engine is chosen here, and its workspace reserved.
/// Errors: BadInput where operands do not fit each other, and where no engine can compute it.
std::unique_ptr<Command> makeConvCommand(CudaContext &context, ConvCall call);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_CONV_H

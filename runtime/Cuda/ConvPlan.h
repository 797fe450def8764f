//===- ConvPlan.h - a convolution as a graph of cuDNN -----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CUDA_CONVPLAN_H
#define WEFT_RUNTIME_CUDA_CONVPLAN_H

#include "runtime/Cuda/Cudnn.h"

#include <array>
#include <map>
#include <optional>

namespace weft::runtime {

/// How an operand lies: extents and strides in elements, one a dimension.
struct ConvTensor {
  std::vector<int64_t> shape, strides;
  int64_t alignment = 1; ///< bytes that its address is a multiple of

  /// Row-major, aligned as memory is.
  static ConvTensor makePacked(std::vector<int64_t> shape);
};

/// Input [n, c, spatial…], kernel [o, c/groups, window…], output [n, o, spatial'…] of two or three
/// spatial dimensions, strides of at least 1 and no extent 0; one entry a spatial dimension in each
/// list, pads of at least 0. Of a kernel's gradient the output is read and the kernel written.
struct ConvProblem {
  DType dtype = program::DTYPE_UNKNOWN;
  bool kernelGradient = false;
  ConvTensor input, kernel, output;
  std::vector<int64_t> strides, low, high, dilations;
};

/// The engine of cuDNN that computes a problem, ready to be enqueued.
class ConvPlan {
public:
  /// Takes the first engine of the library's list that keeps the element type's precision: no
  /// tensor floats for f32, sums of f16 and bf16 in f32. None where no engine can do it; `reason`
  /// is then what the last one said.
  static std::optional<ConvPlan> make(const CudaContext &context, const ConvProblem &problem,
                                      std::string &reason);

  int64_t getWorkspaceBytes() const { return workspaceBytes; }

  /// Addresses of input, kernel and output as they lie on the device, and the workspace's.
  using Addresses = std::array<CUdeviceptr, 4>;
  void enqueue(const Addresses &addresses, CUstream stream);

private:
  ConvPlan(std::shared_ptr<CudnnHandle> handle, std::vector<CudnnDescriptor> parts,
           CudnnDescriptor plan, int64_t workspaceBytes)
      : handle(std::move(handle)), parts(std::move(parts)), plan(std::move(plan)),
        workspaceBytes(workspaceBytes) {}

  std::shared_ptr<CudnnHandle> handle; ///< ends last
  std::vector<CudnnDescriptor> parts;  ///< that the plan was made of: it may name them
  CudnnDescriptor plan;
  int64_t workspaceBytes;
  std::map<Addresses, CudnnDescriptor> packs; ///< a few: arenas have few frames
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_CONVPLAN_H

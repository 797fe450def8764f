//===- CudaContext.h - what a rank's commands share -------------*- C++ -*-===//
//
// The primary context of the GPU that a rank runs on, and what its commands share in it: loaded
// kernels, the handle of cuBLASLt, memory of libraries, words in which kernels report. Ranks that
// are threads of one process share the primary context of a GPU, and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_CUDACONTEXT_H
#define WEFT_RUNTIME_CUDA_CUDACONTEXT_H

#include "runtime/Cuda/CheckSlots.h"
#include "runtime/Cuda/Driver.h"

#include <cublasLt.h>
#include <cuda.h>
#include <map>
#include <string>
#include <vector>

namespace weft::runtime {

class CudaContext {
public:
  /// Takes GPU `rankOnHost` modulo their number and makes its context current. An Error of kind
  /// BadInput where there is no driver or no GPU.
  explicit CudaContext(const DeviceOptions &options);
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  /// Makes the context the calling thread's. It is on the rank's thread from the constructor on:
  /// needed on other threads, and after a library has changed it.
  void makeCurrent() const;

  const DeviceOptions &getOptions() const { return options; }
  CUcontext get() const { return context; }
  CUdevice getDevice() const { return device; }
  int getOrdinal() const { return ordinal; } ///< the GPU's number on this host, from 0
  std::string getGpuName() const;
  int getChip() const { return chip; } ///< 80 of sm_80
  /// Blocks to launch of a kernel that goes on in steps of its grid, for the work of `blocks`: no
  /// more than keep the GPU busy.
  unsigned getGrid(int64_t blocks) const;
  /// How many ranks of this host run on this GPU; at least 1.
  int64_t getNumSharingRanks() const;

  /// Loads the folder's cuda.ptx, compiled for this GPU by the driver. Errors: BadInput, with what
  /// the driver's compiler says.
  void loadKernels(const std::string &folder);
  /// A kernel of the program by its content key. Errors: BadInput.
  CUfunction findKernel(const std::string &name) const;
  /// A kernel of DeviceFunctions.cpp, which are loaded when the first is asked for.
  CUfunction findOwnFunction(const std::string &name);

  /// Made when first asked for.
  cublasLtHandle_t getBlas();

  /// Says, when a command is made, that it will ask for so much of CudaStream::getWorkspace:
  /// counted as not available from then on, and allocated when a stream first uses it.
  void reserveWorkspace(int64_t bytes);
  int64_t getReservedWorkspace() const { return reservedWorkspace; }
  /// Memory that is freed with the context, after communicators have ended: freeing waits for what
  /// runs on the GPU.
  CUdeviceptr allocateWorkspace(int64_t bytes);
  /// Bytes that are reserved and not allocated.
  int64_t getMissingWorkspace() const;

  CheckSlots &getCheckSlots() { return checkSlots; }

  CopiedBytes copied; ///< by the streams

private:
  void growHeap() const;
  CUmodule loadModule(const std::string &text, const std::string &what) const;

  DeviceOptions options;
  int numGpus = 0;
  int ordinal = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  int chip = 0;
  int numMultiprocessors = 1;
  std::string kernelPath;
  CUmodule kernels = nullptr;
  CUmodule ownFunctions = nullptr;
  std::map<std::string, CUfunction> functions; ///< of it, that were asked for
  cublasLtHandle_t blas = nullptr;
  int64_t reservedWorkspace = 0;
  int64_t allocatedWorkspace = 0;
  std::vector<CUdeviceptr> workspaces;
  CheckSlots checkSlots;
};

/// Throws an Error of kind Failure that names the call, as `what`, unless `status` says success.
void check(cublasStatus_t status, const char *what);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_CUDACONTEXT_H

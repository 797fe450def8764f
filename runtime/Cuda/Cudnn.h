//===- Cudnn.h - cuDNN's descriptors ----------------------------*- C++ -*-===//
//
// cuDNN's backend is spoken to in descriptors: objects of many kinds whose attributes are set one
// by one, and which are finalised before others may name them. Here they end by themselves and
// attributes have C++'s types.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_CUDNN_H
#define WEFT_RUNTIME_CUDA_CUDNN_H

#include "runtime/Cuda/CudaContext.h"

#include <cudnn_graph.h>
#include <memory>
#include <string>
#include <vector>

namespace weft::runtime {

/// Throws an Error of kind Failure that names the call, as `what`, and says what cuDNN does, unless
/// `status` is CUDNN_STATUS_SUCCESS.
void check(cudnnStatus_t status, const char *what);

/// "CUDNN_STATUS_NOT_SUPPORTED, …": the status's name and the library's last message of this
/// thread.
std::string describe(cudnnStatus_t status);

/// cuDNN's own state in a context: kernels that it has loaded.
class CudnnHandle {
public:
  /// In the current context.
  CudnnHandle();
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle &) = delete;
  CudnnHandle &operator=(const CudnnHandle &) = delete;

  cudnnHandle_t get() const { return handle; }

private:
  cudnnHandle_t handle = nullptr;
};

/// The handle that the calling thread's commands share in a context, made for the first of them and
/// ended with the last.
std::shared_ptr<CudnnHandle> getCudnn(const CudaContext &context);

class CudnnDescriptor {
public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor &&other) noexcept
      : descriptor(std::exchange(other.descriptor, nullptr)) {}
  CudnnDescriptor &operator=(CudnnDescriptor &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }

  cudnnBackendDescriptor_t get() const { return descriptor; }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
           const void *values);
  template <typename T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T &value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, int64_t value) { set(name, CUDNN_TYPE_INT64, value); }
  void set(cudnnBackendAttributeName_t name, const std::vector<int64_t> &values) {
    set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  /// `other` is finalised, and outlives this.
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor &other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.descriptor);
  }

  void finalise();
  /// For what may turn out not to be possible.
  cudnnStatus_t tryToFinalise() { return cudnnBackendFinalize(descriptor); }

  int64_t getInteger(cudnnBackendAttributeName_t name) const;
  /// Reads up to `most` values; returns how many there are.
  int64_t read(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t most,
               void *values) const;

private:
  cudnnBackendDescriptor_t descriptor = nullptr;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_CUDNN_H

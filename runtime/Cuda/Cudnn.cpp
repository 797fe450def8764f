//===- Cudnn.cpp - cuDNN's descriptors ------------------------------------===//

#include "runtime/Cuda/Cudnn.h"

#include "runtime/Support/Error.h"

#include <map>

namespace weft::runtime {

std::string describe(cudnnStatus_t status) {
  char message[512] = "";
  cudnnGetLastErrorString(message, sizeof(message));
  std::string text = cudnnGetErrorString(status);
  return message[0] == '\0' ? text : text + ", " + message;
}

void check(cudnnStatus_t status, const char *what) {
  if (status != CUDNN_STATUS_SUCCESS)
    throwFailure("{}: {}", what, describe(status));
}

CudnnHandle::CudnnHandle() { check(cudnnCreate(&handle), "cudnnCreate"); }

CudnnHandle::~CudnnHandle() { cudnnDestroy(handle); }

std::shared_ptr<CudnnHandle> getCudnn(const CudaContext &context) {
  thread_local std::map<CUcontext, std::weak_ptr<CudnnHandle>> handles;
  std::weak_ptr<CudnnHandle> &known = handles[context.get()];
  std::shared_ptr<CudnnHandle> handle = known.lock();
  if (!handle) {
    context.makeCurrent();
    known = handle = std::make_shared<CudnnHandle>();
  }
  return handle;
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check(cudnnBackendCreateDescriptor(type, &descriptor), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor)
    cudnnBackendDestroyDescriptor(descriptor);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          int64_t count, const void *values) {
  check(cudnnBackendSetAttribute(descriptor, name, type, count, values),
        "cudnnBackendSetAttribute");
}

void CudnnDescriptor::finalise() { check(tryToFinalise(), "cudnnBackendFinalize"); }

int64_t CudnnDescriptor::getInteger(cudnnBackendAttributeName_t name) const {
  int64_t value = 0;
  read(name, CUDNN_TYPE_INT64, 1, &value);
  return value;
}

int64_t CudnnDescriptor::read(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                              int64_t most, void *values) const {
  int64_t count = 0;
  check(cudnnBackendGetAttribute(descriptor, name, type, most, &count, values),
        "cudnnBackendGetAttribute");
  return count;
}

} // namespace weft::runtime

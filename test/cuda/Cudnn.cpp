//===- Cudnn.cpp - a stand-in for libcudnn.so.9 ---------------------------===//
//
// The part of cuDNN's backend that the device calls, on the CPU. Attributes are checked against the
// documented types and counts; descriptors must be finalised, and alive, where they are named. What
// is wrong is printed, and has the status that cuDNN has for it.
//
// Three engines are listed, in this order, so that a test sees which is taken:
//
//   0  notes tensor cores; multiplies f32 as bf16, and so is wrong where it is not to be taken
//   1  notes that it does not repeat; takes any problem of 2
//   2  takes row-major and channels-last operands with pads that are the same on both sides, but no
//      gradients of kernels in groups
//
// All write over their workspace.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/CudnnDescriptors.h"
#include "test/cuda/StandIn.h"

#include <cstring>
#include <list>
#include <memory>

namespace weft::test::cudnn {

namespace {

/// One execution of a plan.
struct Execution {
  Convolution convolution;
  int64_t engine;
  std::byte *workspace;
  int64_t workspaceBytes;
};

/// Executions that are enqueued. Those of streams that have failed stay until the process ends.
class Executions {
public:
  Execution *add(Execution execution) {
    std::lock_guard guard(lock);
    return &executions.emplace_back(std::move(execution));
  }
  Execution take(Execution *execution) {
    std::lock_guard guard(lock);
    auto at = std::find_if(executions.begin(), executions.end(),
                           [&](const Execution &each) { return &each == execution; });
    Execution taken = std::move(*at);
    executions.erase(at);
    return taken;
  }

private:
  std::mutex lock;
  std::list<Execution> executions;
};

Executions &getExecutions() {
  static auto *executions = new Executions;
  return *executions;
}

void execute(void *data) {
  Execution execution = getExecutions().take(static_cast<Execution *>(data));
  for (const Tensor *tensor :
       {&execution.convolution.input, &execution.convolution.kernel, &execution.convolution.output})
    standInCheck(tensor->data, tensor->getBytes(), "a tensor of cuDNN");
  if (execution.workspaceBytes > 0) {
    standInCheck(execution.workspace, execution.workspaceBytes, "cuDNN's workspace");
    std::memset(execution.workspace, 0xa5, execution.workspaceBytes);
  }
  compute(execution.convolution, /*asBfloat=*/execution.engine == 0);
}

} // namespace

} // namespace weft::test::cudnn

using namespace weft::test::cudnn;

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

extern "C" {

const char *cudnnGetErrorString(cudnnStatus_t status) {
  switch (CUDNN_STATUS_CATEGORY(status)) {
  case CUDNN_STATUS_SUCCESS:
    return "CUDNN_STATUS_SUCCESS";
  case CUDNN_STATUS_BAD_PARAM:
    return "CUDNN_STATUS_BAD_PARAM";
  case CUDNN_STATUS_NOT_SUPPORTED:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  default:
    return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

void cudnnGetLastErrorString(char *message, size_t size) {
  if (size == 0)
    return;
  std::strncpy(message, getLastMessage().c_str(), size - 1);
  message[size - 1] = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor) {
  *descriptor = createDescriptor(type);
  if (!*descriptor)
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "no descriptor of type {}", int(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return destroyDescriptor(descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *values) {
  Descriptor *found = findDescriptor(descriptor);
  if (!found)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "attribute {} of no descriptor", int(name));
  return found->set(name, type, count, values);
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most,
                                       int64_t *count, void *values) {
  Descriptor *found = findDescriptor(descriptor);
  if (!found)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "attribute {} of no descriptor", int(name));
  return found->get(name, type, most, count, values);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  Descriptor *found = findDescriptor(descriptor);
  if (!found)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no descriptor is finalised");
  return found->finalise();
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack) {
  const Descriptor *plan = findDescriptor(executionPlan), *pack = findDescriptor(variantPack);
  if (!plan || !pack || !plan->isFinalised() || !pack->isFinalised())
    return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a plan or pack that is not finalised");
  if (!handle->stream)
    return fail(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH, "work on the default stream");
  Execution execution{};
  if (cudnnStatus_t status = plan->describe(*pack, execution.convolution, execution.engine);
      status != CUDNN_STATUS_SUCCESS)
    return status;
  execution.workspaceBytes = getWorkspaceBytes(execution.engine);
  execution.workspace =
      static_cast<std::byte *>(pack->getPointer(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
  if (execution.workspaceBytes > 0 && !execution.workspace)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a plan without its workspace");
  standInEnqueue(handle->stream, execute, getExecutions().add(std::move(execution)));
  return CUDNN_STATUS_SUCCESS;
}

} // extern "C"

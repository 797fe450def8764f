//===- CudnnDescriptors.h - descriptors of cuDNN's backend ------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_CUDNNDESCRIPTORS_H
#define WEFT_TEST_CUDA_CUDNNDESCRIPTORS_H

#pragma GCC visibility push(default)
#include <cudnn_graph.h>
#pragma GCC visibility pop

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace weft::test::cudnn {

/// What the calling thread's last failed call said.
std::string &getLastMessage();

/// Keeps the message and prints it; returns the status.
template <typename... Args>
cudnnStatus_t fail(cudnnStatus_t status, fmt::format_string<Args...> format, Args &&...args) {
  getLastMessage() = fmt::format(format, std::forward<Args>(args)...);
  // What engines do not take is looked for; everything else is a mistake of the caller's.
  if (CUDNN_STATUS_CATEGORY(status) != CUDNN_STATUS_NOT_SUPPORTED)
    fmt::print(stderr, "stand-in for cuDNN: {}\n", getLastMessage());
  return status;
}

/// An operand: extents and strides in elements.
struct Tensor {
  cudnnDataType_t dtype;
  std::vector<int64_t> shape, strides;
  int64_t alignment, id;
  void *data = nullptr;

  int64_t getBytes() const;
};

struct Convolution {
  Tensor input, kernel, output;
  std::vector<int64_t> strides, low, high, dilations;
  bool kernelGradient;
};

/// Computes it by definition: sums in float, of doubles in double.
void compute(const Convolution &convolution, bool asBfloat);

int64_t getElementBytes(cudnnDataType_t dtype);
int64_t getWorkspaceBytes(int64_t engine);

class Descriptor {
public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) : type(type) {}

  bool isFinalised() const { return finalised; }

  cudnnStatus_t set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    int64_t count, const void *values);
  cudnnStatus_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    int64_t most, int64_t *count, void *values) const;
  cudnnStatus_t finalise();

  /// Of a plan: what it computes with the pack's addresses, and by which engine.
  cudnnStatus_t describe(const Descriptor &pack, Convolution &convolution, int64_t &engine) const;
  void *getPointer(cudnnBackendAttributeName_t name) const { return getValues<void *>(name)[0]; }

private:
  struct Value {
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<std::byte> bytes;
  };

  template <typename T> std::vector<T> getValues(cudnnBackendAttributeName_t name) const;
  int64_t getInteger(cudnnBackendAttributeName_t name) const { return getValues<int64_t>(name)[0]; }
  /// Null where it is not alive any more.
  const Descriptor *getNamed(cudnnBackendAttributeName_t name) const;
  bool makeConvolution(Convolution &convolution) const;
  Tensor makeTensor() const;
  cudnnStatus_t checkTensor() const;
  cudnnStatus_t checkConvolution() const;
  cudnnStatus_t checkOperation() const;
  cudnnStatus_t checkPlan() const;
  cudnnStatus_t checkPack() const;

  cudnnBackendDescriptorType_t type;
  bool finalised = false;
  std::map<cudnnBackendAttributeName_t, Value> values;
  int64_t engine = -1; ///< of a configuration or an engine
};

/// Null where there is none of that type, or it is not alive.
cudnnBackendDescriptor_t createDescriptor(cudnnBackendDescriptorType_t type);
cudnnStatus_t destroyDescriptor(cudnnBackendDescriptor_t descriptor);
Descriptor *findDescriptor(cudnnBackendDescriptor_t descriptor);

} // namespace weft::test::cudnn

#endif // WEFT_TEST_CUDA_CUDNNDESCRIPTORS_H

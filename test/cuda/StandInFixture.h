//===- StandInFixture.h - runs kernels on the stand-in ----------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_STANDINFIXTURE_H
#define WEFT_TEST_CUDA_STANDINFIXTURE_H

#include <cuda.h>

#include <string>
#include <vector>

namespace weft::test {

/// Devices there are: a test that makes one fail takes one of its own.
inline constexpr int deviceCount = 8;

/// Fails the test unless the call succeeds.
void succeed(CUresult code);

/// Makes the device's context current.
void useDevice(int device);

class LoadedModule {
public:
  explicit LoadedModule(CUmodule module) : module(module) {}
  ~LoadedModule() { cuModuleUnload(module); }
  LoadedModule(const LoadedModule &) = delete;
  operator CUmodule() const & { return module; }
  operator CUmodule() const && = delete; ///< it would be unloaded at once

private:
  CUmodule module;
};

/// A module of these kernels, whose text lacks the head. Fails the test with its log.
LoadedModule loadModule(const std::string &kernels);
/// What the log says of a text that cannot be loaded.
std::string getLoadError(const std::string &kernels);

/// Memory of the device that holds values.
template <class T> class DeviceArray {
public:
  explicit DeviceArray(const std::vector<T> &values) : count(values.size()) {
    succeed(cuMemAlloc(&address, count * sizeof(T)));
    succeed(cuMemcpyHtoD(address, values.data(), count * sizeof(T)));
  }
  ~DeviceArray() { cuMemFree(address); }
  DeviceArray(const DeviceArray &) = delete;

  std::vector<T> read() const {
    std::vector<T> values(count);
    succeed(cuMemcpyDtoH(values.data(), address, count * sizeof(T)));
    return values;
  }

  CUdeviceptr address = 0;
  size_t count;
};

/// On the default stream; waits and returns what became of it.
CUresult launch(CUmodule module, const char *kernel, unsigned blocks, unsigned threads,
                std::vector<void *> params, unsigned sharedBytes = 0);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_STANDINFIXTURE_H

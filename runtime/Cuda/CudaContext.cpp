//===- CudaContext.cpp - what a rank's commands share ---------------------===//

#include "runtime/Cuda/CudaContext.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace weft::runtime {

namespace {

constexpr int oldestChip = 80;                 // of the kernels of DeviceFunctions.cpp
constexpr int64_t blocksOfMultiprocessor = 16; // of which 8, of 256 threads, run at once
constexpr size_t jitLogBytes = 16 << 10;
constexpr size_t heapBytes = size_t(512) << 20; // of kernels that sort: some hundreds of long rows

/// The text of DeviceFunctions.cpp in PTX.
constexpr char ownFunctionText[] = {
#include "runtime/Cuda/DeviceFunctions.inc"
    0};

constexpr const char *wayOut = "run where a GPU is, or compile with --device cpu";

/// The number of GPUs, at least 1.
int countGpus() {
  if (CUresult result = cuInit(0); result != CUDA_SUCCESS)
    throwBadInput("no CUDA GPU was found ({}); {}", describe(result), wayOut);
  int version = 0, count = 0;
  check(cuDriverGetVersion(&version), "cuDriverGetVersion");
  if (version / 1000 < CUDA_VERSION / 1000)
    throwBadInput(
        "the GPU's driver knows CUDA {}.{}, this build needs {}.{}; update the driver, or "
        "compile with --device cpu",
        version / 1000, version % 1000 / 10, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  check(cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0)
    throwBadInput("no CUDA GPU was found (the driver sees none); {}", wayOut);
  return count;
}

int getAttribute(CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  check(cuDeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute");
  return value;
}

std::string readText(const std::string &path) {
  File file = File::open(path);
  std::string text(file.getSize(), '\0');
  file.readAt(0, text.data(), text.size());
  return text;
}

} // namespace

void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throwFailure("{}: {}", what, cublasLtGetStatusString(status));
}

CudaContext::CudaContext(const DeviceOptions &options) : options(options), numGpus(countGpus()) {
  ordinal = static_cast<int>(options.rankOnHost % numGpus);
  check(cuDeviceGet(&device, ordinal), "cuDeviceGet");
  chip = 10 * getAttribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
         getAttribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (chip < oldestChip)
    throwBadInput("GPU {}, {}, is of sm_{}, the device 'cuda' needs sm_{} or later; compile with "
                  "--device cpu",
                  ordinal, getGpuName(), chip, oldestChip);
  numMultiprocessors = getAttribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  makeCurrent();
}

CudaContext::~CudaContext() {
  // The order in which things end on a rank that failed, too: what does not end well is left.
  cuCtxSetCurrent(context);
  if (blas)
    cublasLtDestroy(blas);
  for (CUdeviceptr workspace : workspaces)
    cuMemFree(workspace);
  checkSlots.freePages();
  for (CUmodule module : {kernels, ownFunctions})
    if (module)
      cuModuleUnload(module);
  cuCtxSetCurrent(nullptr);
  cuDevicePrimaryCtxRelease(device);
}

void CudaContext::makeCurrent() const { check(cuCtxSetCurrent(context), "cuCtxSetCurrent"); }

std::string CudaContext::getGpuName() const {
  std::array<char, 256> name = {};
  check(cuDeviceGetName(name.data(), static_cast<int>(name.size() - 1), device), "cuDeviceGetName");
  return name.data();
}

unsigned CudaContext::getGrid(int64_t blocks) const {
  return static_cast<unsigned>(std::min(blocks, blocksOfMultiprocessor * numMultiprocessors));
}

int64_t CudaContext::getNumSharingRanks() const {
  int64_t ranks = std::max<int64_t>(options.ranksOnHost, 1);
  return std::max<int64_t>(1, (ranks - ordinal + numGpus - 1) / numGpus);
}

CUmodule CudaContext::loadModule(const std::string &text, const std::string &what) const {
  std::string errors(jitLogBytes, '\0'), infos(jitLogBytes, '\0');
  std::array<CUjit_option, 4> names = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                       CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  auto size = reinterpret_cast<void *>(jitLogBytes);
  std::array<void *, 4> values = {errors.data(), size, infos.data(), size};
  CUmodule module = nullptr;
  makeCurrent();
  CUresult result =
      cuModuleLoadDataEx(&module, text.c_str(), names.size(), names.data(), values.data());
  if (result == CUDA_SUCCESS)
    return module;
  std::string log;
  for (const std::string *part : {&errors, &infos})
    if (std::string said = part->c_str(); !said.empty())
      log += "\n" + said;
  throwBadInput("cannot load {} for GPU {}, {}, of sm_{}: {}{}{}", what, ordinal, getGpuName(),
                chip, describe(result), log.empty() ? "" : "; its compiler says:", log);
}

/// Kernels that sort long rows take memory from a heap, which a context has one of, and whose size
/// stands once such kernels are loaded.
void CudaContext::growHeap() const {
  static std::mutex lock; // ranks share a GPU's context
  std::lock_guard guard(lock);
  size_t bytes = 0;
  check(cuCtxGetLimit(&bytes, CU_LIMIT_MALLOC_HEAP_SIZE), "cuCtxGetLimit");
  if (bytes < heapBytes)
    check(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, heapBytes), "cuCtxSetLimit");
}

void CudaContext::loadKernels(const std::string &folder) {
  kernelPath = folder + "/cuda.ptx";
  std::string text = readText(kernelPath);
  makeCurrent();
  if (text.find("malloc") != std::string::npos)
    growHeap();
  kernels = loadModule(text, fmt::format("the kernels of '{}'", kernelPath));
}

CUfunction CudaContext::findKernel(const std::string &name) const {
  CUfunction function = nullptr;
  CUresult result =
      kernels ? cuModuleGetFunction(&function, kernels, name.c_str()) : CUDA_ERROR_NOT_FOUND;
  if (result == CUDA_ERROR_NOT_FOUND)
    throwBadInput("there is no kernel '{}' in '{}'; compile again", name, kernelPath);
  check(result, "cuModuleGetFunction");
  return function;
}

CUfunction CudaContext::findOwnFunction(const std::string &name) {
  if (!ownFunctions)
    ownFunctions = loadModule(ownFunctionText, "the device's own kernels");
  CUfunction &function = functions[name];
  if (!function)
    check(cuModuleGetFunction(&function, ownFunctions, name.c_str()), "cuModuleGetFunction");
  return function;
}

cublasLtHandle_t CudaContext::getBlas() {
  if (!blas) {
    makeCurrent();
    check(cublasLtCreate(&blas), "cublasLtCreate");
  }
  return blas;
}

void CudaContext::reserveWorkspace(int64_t bytes) {
  reservedWorkspace = std::max(reservedWorkspace, bytes);
}

CUdeviceptr CudaContext::allocateWorkspace(int64_t bytes) {
  CUdeviceptr address = 0;
  CUresult result = cuMemAlloc(&address, static_cast<size_t>(bytes));
  if (result != CUDA_SUCCESS)
    throwFailure("no memory for {} bytes on GPU {} that libraries work in: {}", bytes, ordinal,
                 describe(result));
  workspaces.push_back(address);
  allocatedWorkspace += bytes;
  return address;
}

int64_t CudaContext::getMissingWorkspace() const {
  return std::max<int64_t>(0, reservedWorkspace - allocatedWorkspace);
}

} // namespace weft::runtime

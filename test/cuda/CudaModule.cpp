//===- CudaModule.cpp - modules and launches of cuda.h --------------------===//

#include "test/cuda/Grid.h"
#include "test/cuda/Module.h"

#include <algorithm>
#include <cstring>

using namespace weft::test;

namespace {

constexpr uint64_t mostShared = 227 << 10; // bytes
constexpr uint32_t dynamicAlign = 128;     // bytes

/// The buffer for messages that the options of a load give, if any.
class Log {
public:
  Log(unsigned count, CUjit_option *options, void **values, CUjit_option buffer,
      CUjit_option size) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == buffer)
        data = static_cast<char *>(values[i]);
      if (options[i] == size)
        bytes = &values[i];
    }
  }

  /// The size becomes what is written.
  void write(const std::string &text) {
    if (!bytes)
      return;
    size_t room = reinterpret_cast<size_t>(*bytes), taken = 0;
    if (data && room) {
      taken = std::min(text.size(), room - 1);
      std::memcpy(data, text.data(), taken);
      data[taken++] = 0;
    }
    *bytes = reinterpret_cast<void *>(taken);
  }

private:
  char *data = nullptr;
  void **bytes = nullptr;
};

std::string getText(const void *image) {
  const char *text = static_cast<const char *>(image);
  if (!text || std::strncmp(text, "\177ELF", 4) == 0 || static_cast<unsigned char>(text[0]) >= 0x80)
    throw Failure{CUDA_ERROR_NO_BINARY_FOR_GPU, "the stand-in runs PTX alone"};
  return text;
}

template <class Size>
void checkSize(const Size &size, const uint64_t (&most)[3], const char *what) {
  for (int i = 0; i < 3; ++i)
    require(size[i] && size[i] <= most[i], what);
}

void checkLaunch(const CUfunc_st &function, const Launch &launch) {
  checkSize(launch.grid, {0x7fffffff, 65535, 65535}, "a grid within the device's limits");
  checkSize(launch.block, {1024, 1024, 64}, "a block within the device's limits");
  uint64_t threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t most = function.info.maxThreads ? function.info.maxThreads : 1024;
  require(threads <= std::min<uint64_t>(most, 1024),
          "no more threads of a block than the kernel or device allows");
  require(launch.dynamicShared <= function.mostDynamicShared,
          "no more dynamic shared memory than the function allows");
}

CUmod_st &getModule(CUmodule module) {
  for (CUctx_st *context : getContexts()) {
    std::lock_guard guard(context->lock);
    if (context->modules.count(module))
      return *module;
  }
  throw Failure{CUDA_ERROR_INVALID_HANDLE, "what is given for a module is none"};
}

std::vector<uint8_t> packParams(const CUfunc_st &function, void **params, void **extra) {
  std::vector<uint8_t> packed(function.info.paramBytes, rubbish);
  if (extra) {
    void *buffer = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
      if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = extra[1];
      else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = *static_cast<size_t *>(extra[1]);
    require(!params && bytes == packed.size(), "parameters of the kernel's size");
    std::memcpy(packed.data(), buffer, bytes);
    return packed;
  }
  require(params || packed.empty(), "the kernel's parameters");
  for (size_t i = 0; i < function.info.params.size(); ++i)
    std::memcpy(packed.data() + function.info.params[i].offset, params[i],
                function.info.params[i].bytes);
  return packed;
}

Launch makeLaunch(const CUfunc_st &function) {
  Launch launch;
  launch.name = function.info.name;
  launch.kernel = function.kernel;
  launch.waits = function.info.waits;
  launch.localBytes = function.info.localBytes;
  launch.staticShared = function.info.sharedBytes;
  launch.variables = function.module.variables.data();
  launch.context = &function.module.context;
  return launch;
}

} // namespace

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
  Log errors(count, options, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  Log infos(count, options, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
  return guarded([&] {
    infos.write("");
    try {
      CUctx_st &context = getContext();
      *module = new CUmod_st(context, getText(image));
      std::lock_guard guard(context.lock);
      context.modules.insert(*module);
      errors.write("");
    } catch (const Failure &failure) {
      errors.write("CUDA stand-in: " + failure.message + "\n");
      throw;
    }
  });
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

/// Its kernels may be running.
CUresult cuModuleUnload(CUmodule module) {
  return guarded([&] {
    CUctx_st &context = getModule(module).context;
    context.synchronize();
    {
      std::lock_guard guard(context.lock);
      context.modules.erase(module);
    }
    delete module;
    context.check();
  });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return guarded([&] {
    getContext();
    *function = getModule(module).find(name);
    if (!*function)
      throw Failure{CUDA_ERROR_NOT_FOUND, std::string("no kernel of the module: ") + name};
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  return guarded([&] {
    getContext();
    const CUmod_st &found = getModule(module);
    for (size_t i = 0; i < found.variables.size(); ++i)
      if (found.translation.variables[i].name == name) {
        if (address)
          *address = found.variables[i];
        if (bytes)
          *bytes = found.translation.variables[i].bytes;
        return;
      }
    throw Failure{CUDA_ERROR_NOT_FOUND, std::string("no variable of the module: ") + name};
  });
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  return guarded([&] {
    getContext();
    const auto &info = function->info;
    const std::map<int, uint64_t> values = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, info.maxThreads ? info.maxThreads : 1024},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, info.sharedBytes},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 0},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, info.localBytes},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, 32},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, 80},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function->mostDynamicShared}};
    auto found = values.find(attribute);
    require(found != values.end(), "an attribute that the stand-in knows");
    *value = static_cast<int>(found->second);
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return guarded([&] {
    getContext();
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      return;
    require(attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            "an attribute that can be set");
    require(value >= 0 && value + function->info.sharedBytes <= mostShared,
            "at most 227 KiB of shared memory");
    function->mostDynamicShared = value;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                        unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                        unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                        void **params, void **extra) {
  return guarded([&] {
    CUstream_st &found = getStream(stream);
    if (&found.context != &function->module.context)
      throw Failure{CUDA_ERROR_INVALID_HANDLE, "a kernel and a stream of different contexts"};
    Launch launch = makeLaunch(*function);
    const uint32_t grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
    std::copy_n(grid, 3, launch.grid);
    std::copy_n(block, 3, launch.block);
    launch.dynamicShared = sharedBytes;
    if (sharedBytes)
      launch.staticShared = (launch.staticShared + dynamicAlign - 1) / dynamicAlign * dynamicAlign;
    checkLaunch(*function, launch);
    launch.params = packParams(*function, params, extra);
    enqueue(found, [launch = std::move(launch)] { runGrid(launch); });
  });
}

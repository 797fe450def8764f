#include "test/cuda/Module.h"

#include "test/cuda/Compile.h"
#include "test/cuda/PtxBody.h"

#include <cstring>
#include <dlfcn.h>

using namespace weft::test;
using namespace weft::test::ptx;

namespace {

constexpr uint32_t mostStaticShared = 48 << 10; // bytes

Failure invalid(const std::string &message) { return {CUDA_ERROR_INVALID_PTX, message}; }

} // namespace

CUmod_st::CUmod_st(CUctx_st &context, const std::string &text) : context(context) {
  std::string path;
  try {
    translation = translate(parsePtx(text));
    path = compileShared(translation.source);
  } catch (const std::exception &error) {
    throw invalid(error.what());
  }
  for (const KernelInfo &kernel : translation.kernels)
    if (kernel.sharedBytes > mostStaticShared)
      throw invalid("kernel " + kernel.name + " has more than 48 KiB of shared variables");
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw invalid(dlerror());
  for (const KernelInfo &kernel : translation.kernels) {
    auto *symbol = reinterpret_cast<Kernel>(dlsym(library, kernel.symbol.c_str()));
    auto most = static_cast<uint32_t>(mostStaticShared - kernel.sharedBytes);
    functions.emplace(kernel.name, CUfunc_st{*this, kernel, symbol, most});
  }
  fillVariables();
}

CUmod_st::~CUmod_st() {
  for (uint64_t address : variables)
    context.memory.free(address);
  dlclose(library);
}

CUfunc_st *CUmod_st::find(const std::string &name) {
  auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

uint64_t CUmod_st::findAddress(const std::string &symbol) const {
  for (size_t i = 0; i < variables.size(); ++i)
    if (translation.variables[i].name == symbol)
      return variables[i];
  if (void *function = dlsym(library, ("F_" + mangle(symbol)).c_str()))
    return reinterpret_cast<uint64_t>(function);
  throw invalid("an initial value with the address of what is not known: " + symbol);
}

void CUmod_st::fillVariables() {
  for (const VariableInfo &info : translation.variables)
    variables.push_back(context.memory.allocate(std::max<uint64_t>(info.bytes, 1)));
  for (size_t i = 0; i < variables.size(); ++i) {
    const VariableInfo &info = translation.variables[i];
    auto *data = reinterpret_cast<uint8_t *>(variables[i]);
    std::memset(data, 0, info.bytes);
    std::copy(info.values.begin(), info.values.end(), data);
    for (const Relocation &relocation : info.relocations) {
      uint64_t address = (findAddress(relocation.symbol) + relocation.addend) >> relocation.shift;
      std::memcpy(data + relocation.offset, &address, relocation.bytes);
    }
  }
}

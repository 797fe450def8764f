//===- Module.h - PTX, loaded -----------------------------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MODULE_H
#define WEFT_TEST_CUDA_MODULE_H

#include "test/cuda/Objects.h"
#include "test/cuda/PtxTranslate.h"

struct CUfunc_st {
  CUmod_st &module;
  const weft::test::ptx::KernelInfo &info;
  weft::test::ptx::Kernel kernel;
  uint32_t mostDynamicShared; ///< bytes
};

struct CUmod_st {
  /// Throws Failure; what is wrong with the text is its message.
  CUmod_st(CUctx_st &context, const std::string &text);
  ~CUmod_st();

  CUfunc_st *find(const std::string &name);

  CUctx_st &context;
  weft::test::ptx::Translation translation;
  std::vector<uint64_t> variables; ///< addresses

private:
  void fillVariables();
  uint64_t findAddress(const std::string &symbol) const;

  void *library = nullptr;
  std::map<std::string, CUfunc_st> functions;
};

#endif // WEFT_TEST_CUDA_MODULE_H

//===- Grid.h - runs a translated kernel ------------------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_GRID_H
#define WEFT_TEST_CUDA_GRID_H

#include "test/cuda/Objects.h"
#include "test/cuda/PtxAbi.h"

#include <string>
#include <vector>

namespace weft::test {

struct Launch {
  std::string name;
  ptx::Kernel kernel = nullptr;
  bool waits = false; ///< threads for each other
  uint64_t localBytes = 0;
  uint32_t grid[3], block[3];
  std::vector<uint8_t> params;
  uint32_t staticShared = 0, dynamicShared = 0; ///< bytes
  const uint64_t *variables = nullptr;
  CUctx_st *context = nullptr;
};

/// On the calling thread and, where there is much to do, others. Throws Failure.
void runGrid(const Launch &launch);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_GRID_H

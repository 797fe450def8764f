//===- CheckSlots.cpp - words in which kernels report ---------------------===//

#include "runtime/Cuda/CheckSlots.h"

#include "runtime/Cuda/Driver.h"

#include <cstring>

namespace weft::runtime {

namespace {
constexpr size_t slotsOfPage = 2048; // 64 KiB
}

CheckSlot CheckSlots::take() {
  if (unused.empty())
    addPage();
  CheckSlot slot = unused.back();
  unused.pop_back();
  *slot.report = {};
  return slot;
}

void CheckSlots::addPage() {
  constexpr size_t bytes = slotsOfPage * sizeof(CheckReport);
  void *page = nullptr;
  check(cuMemHostAlloc(&page, bytes, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
        "cuMemHostAlloc");
  pages.push_back(page);
  std::memset(page, 0, bytes);
  CUdeviceptr address = 0;
  check(cuMemHostGetDevicePointer(&address, page, 0), "cuMemHostGetDevicePointer");
  auto *reports = static_cast<CheckReport *>(page);
  for (size_t i = slotsOfPage; i-- > 0;) // the lowest is taken first: a program's lie in its order
    unused.push_back({reports + i, address + i * sizeof(CheckReport)});
}

void CheckSlots::freePages() {
  for (void *page : pages)
    cuMemFreeHost(page);
  pages.clear();
  unused.clear();
}

} // namespace weft::runtime

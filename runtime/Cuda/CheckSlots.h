//===- CheckSlots.h - words in which kernels report -------------*- C++ -*-===//
//
// A kernel whose check fails reports in pinned host memory that is mapped into the GPU's address
// space. Every launch command has a slot of its own, so that a report tells which it is of.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_CHECKSLOTS_H
#define WEFT_RUNTIME_CUDA_CHECKSLOTS_H

#include <cstdint>
#include <cuda.h>
#include <vector>

namespace weft::runtime {

/// What a kernel writes: the first thread whose check fails changes `state` from 0 by an atomic
/// exchange, then writes the others. Read by the host when the launch is done.
struct CheckReport {
  int64_t state;
  int64_t number; ///< of the check; -1: no memory for `value` bytes
  int64_t value;
  int64_t position;
};

struct CheckSlot {
  CheckReport *report = nullptr; ///< for the host
  CUdeviceptr address = 0;       ///< the same for kernels
};

/// Slots out of pages of mapped memory, which live as long as this does.
class CheckSlots {
public:
  CheckSlots() = default;
  ~CheckSlots() { freePages(); }
  CheckSlots(const CheckSlots &) = delete;
  CheckSlots &operator=(const CheckSlots &) = delete;

  /// A slot whose state is 0. In the current context.
  CheckSlot take();
  void giveBack(CheckSlot slot) { unused.push_back(slot); }
  /// Ends the pages, in the context in which they were made.
  void freePages();

private:
  void addPage();

  std::vector<void *> pages;
  std::vector<CheckSlot> unused;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_CHECKSLOTS_H

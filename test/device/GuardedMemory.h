//===- GuardedMemory.h - memory that the host cannot reach ------*- C++ -*-===//
//
// Each block has two ranges of addresses: the one that is handed out, where nothing may be read or
// written, and the one that the device's streams work on, which nobody else is told.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_DEVICE_GUARDEDMEMORY_H
#define WEFT_TEST_DEVICE_GUARDEDMEMORY_H

#include "runtime/Cpu/HostMachine.h"
#include "runtime/Device/Address.h"

#include <cstddef>

namespace weft::test {

class GuardedMemory {
public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  runtime::DeviceAddress allocate(int64_t bytes);
  void free(runtime::DeviceAddress address);

  /// Where the device finds what lies at `address`; an Error where the bytes do not lie in one
  /// block.
  std::byte *translate(runtime::DeviceAddress address, int64_t bytes) const;

private:
  struct Block {
    size_t bytes;
    std::byte *content;
  };
  std::map<uint64_t, Block> blocks; ///< by the address that is handed out
  runtime::HostBlocks contents;
};

} // namespace weft::test

#endif // WEFT_TEST_DEVICE_GUARDEDMEMORY_H

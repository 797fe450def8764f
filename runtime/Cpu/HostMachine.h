//===- HostMachine.h - the host's memory and features -----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_HOSTMACHINE_H
#define WEFT_RUNTIME_CPU_HOSTMACHINE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace weft::runtime {

/// Blocks of host memory that hold zeros and take space only where they are used; large ones lie on
/// huge pages where the system has them.
class HostBlocks {
public:
  HostBlocks() = default;
  ~HostBlocks();
  HostBlocks(const HostBlocks &) = delete;
  HostBlocks &operator=(const HostBlocks &) = delete;

  /// Aligned to pages; an Error of kind Failure where there is no memory.
  std::byte *allocate(int64_t bytes);
  void free(std::byte *block);

private:
  struct Mapping {
    void *address;
    size_t bytes;
  };
  std::map<std::byte *, Mapping> mappings; ///< by block
};

/// Bytes that this machine can still give.
int64_t getAvailableHostMemory();

/// An Error of kind BadInput that names what of `features` (as in /proc/cpuinfo) the CPU lacks.
void checkCpuFeatures(std::span<const std::string> features);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_HOSTMACHINE_H

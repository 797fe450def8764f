#include "test/device/GuardedMemory.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace weft::test {

using namespace weft::runtime;

GuardedMemory::~GuardedMemory() {
  for (const auto &[address, block] : blocks)
    munmap(reinterpret_cast<void *>(address), block.bytes);
}

DeviceAddress GuardedMemory::allocate(int64_t wanted) {
  size_t bytes = std::max<size_t>((static_cast<size_t>(wanted) + 4095) / 4096 * 4096, 4096);
  std::byte *content = contents.allocate(wanted);
  void *guard = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (guard == MAP_FAILED) {
    contents.free(content);
    throwFailure("no addresses for {} bytes: {}", wanted, std::strerror(errno));
  }
  auto address = reinterpret_cast<uintptr_t>(guard);
  blocks[address] = {bytes, content};
  return DeviceAddress(address);
}

void GuardedMemory::free(DeviceAddress address) {
  auto found = blocks.find(address.getValue());
  if (found == blocks.end())
    return;
  munmap(reinterpret_cast<void *>(found->first), found->second.bytes);
  contents.free(found->second.content);
  blocks.erase(found);
}

std::byte *GuardedMemory::translate(DeviceAddress address, int64_t bytes) const {
  uint64_t value = address.getValue();
  auto next = blocks.upper_bound(value);
  if (next != blocks.begin()) {
    const auto &[begin, block] = *std::prev(next);
    if (value - begin <= block.bytes &&
        static_cast<uint64_t>(bytes) <= block.bytes - (value - begin))
      return block.content + (value - begin);
  }
  throwFailure("no block of this device holds the {} bytes at {:#x}", bytes, value);
}

} // namespace weft::test

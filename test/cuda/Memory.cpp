#include "test/cuda/Memory.h"

#include <cstring>
#include <iterator>
#include <new>
#include <sys/mman.h>

namespace weft::test {

namespace {

constexpr uint64_t rangeBytes = 64ull << 30; // of addresses

uint64_t roundUp(uint64_t bytes) {
  return (bytes + ptx::granule - 1) / ptx::granule * ptx::granule;
}

void *reserve(uint64_t bytes, int protection) {
  void *at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::bad_alloc();
  return at;
}

} // namespace

MemoryRange::MemoryRange() {
  uint64_t at = reinterpret_cast<uint64_t>(reserve(rangeBytes + ptx::granule, PROT_NONE));
  window.base = roundUp(at);
  window.size = rangeBytes;
  uint64_t entries = rangeBytes / ptx::granule;
  valid = static_cast<uint32_t *>(reserve(entries * sizeof(uint32_t), PROT_READ | PROT_WRITE));
  window.valid = valid;
  cursor = window.base;
}

uint64_t MemoryRange::findRoom(uint64_t bytes) {
  for (uint64_t from : {cursor, window.base}) {
    auto next = live.lower_bound(from);
    if (next != live.begin()) {
      auto before = std::prev(next);
      from = std::max(from, before->first + roundUp(before->second) + ptx::granule);
    }
    for (; next != live.end() && next->first < from + bytes; ++next)
      from = next->first + roundUp(next->second) + ptx::granule;
    if (from + bytes <= window.base + window.size)
      return from;
  }
  return 0;
}

void MemoryRange::mark(uint64_t address, uint64_t bytes, bool isValid) {
  for (uint64_t done = 0; done < bytes; done += ptx::granule)
    valid[(address - window.base + done) / ptx::granule] =
        isValid ? static_cast<uint32_t>(std::min(ptx::granule, bytes - done)) : 0;
}

uint64_t MemoryRange::allocate(uint64_t bytes) {
  std::lock_guard guard(lock);
  uint64_t rounded = roundUp(bytes) + ptx::granule;
  uint64_t at = bytes < window.size ? findRoom(rounded) : 0;
  if (!at)
    return 0;
  auto *data = reinterpret_cast<void *>(at);
  if (mprotect(data, roundUp(bytes), PROT_READ | PROT_WRITE))
    return 0;
  std::memset(data, rubbish, bytes);
  live.emplace(at, bytes);
  mark(at, bytes, true);
  cursor = at + rounded;
  allocated += bytes;
  return at;
}

bool MemoryRange::free(uint64_t address) {
  std::lock_guard guard(lock);
  auto found = live.find(address);
  if (found == live.end())
    return false;
  mark(address, found->second, false);
  auto *data = reinterpret_cast<void *>(address);
  madvise(data, roundUp(found->second), MADV_DONTNEED);
  mprotect(data, roundUp(found->second), PROT_NONE);
  allocated -= found->second;
  live.erase(found);
  return true;
}

bool MemoryRange::contains(uint64_t address, uint64_t bytes) {
  std::lock_guard guard(lock);
  auto next = live.upper_bound(address);
  if (next == live.begin())
    return false;
  auto &[begin, size] = *std::prev(next);
  return bytes <= size && address - begin <= size - bytes;
}

uint64_t MemoryRange::getSize(uint64_t address) {
  std::lock_guard guard(lock);
  auto found = live.find(address);
  return found == live.end() ? 0 : found->second;
}

uint64_t MemoryRange::getAllocated() {
  std::lock_guard guard(lock);
  return allocated;
}

size_t MemoryRange::getCount() {
  std::lock_guard guard(lock);
  return live.size();
}

MemoryRange &getHostMemory() {
  static auto *memory = new MemoryRange; // outlives the streams' threads
  return *memory;
}

} // namespace weft::test

//===- PtxSupport.h - what translated kernels include -----------*- C++ -*-===//
//
// Memory, barriers and shuffles. Every access is checked; see Memory.h for how that is cheap.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXSUPPORT_H
#define WEFT_TEST_CUDA_PTXSUPPORT_H

#include "test/cuda/PtxAbi.h"
#include "test/cuda/PtxArithmetic.h"

namespace weft::test::ptx {

//===----------------------------------------------------------------------===//
// Addresses: where `bytes` lie that a thread reads or writes
//===----------------------------------------------------------------------===//

inline bool isAligned(u64 address, u32 bytes) { return !(address & (bytes - 1)); }

template <Space space> inline u8 *at(Thread &t, u64 address, u32 bytes) {
  const Window &device = t.block->device;
  u64 offset = address - device.base;
  if (__builtin_expect(offset < device.size && isAligned(address, bytes) &&
                           offset % granule + bytes <= device.valid[offset / granule],
                       1))
    return reinterpret_cast<u8 *>(address);
  return t.block->host->resolve(t, address, bytes, space);
}
template <> inline u8 *at<Space::Local>(Thread &t, u64 address, u32 bytes) {
  if (__builtin_expect(address >= t.stackLow && address < t.stackHigh && isAligned(address, bytes),
                       1))
    return reinterpret_cast<u8 *>(address);
  return t.block->host->resolve(t, address, bytes, Space::Local);
}
inline u8 *atShared(Thread &t, u64 offset, u32 bytes) {
  const Block &block = *t.block;
  if (__builtin_expect(offset < block.sharedBytes && bytes <= block.sharedBytes - offset &&
                           isAligned(offset, bytes),
                       1))
    return block.shared + offset;
  return block.host->resolve(t, reinterpret_cast<u64>(block.shared) + offset, bytes,
                             Space::Generic);
}

inline u64 sharedToGeneric(Thread &t, u64 offset) {
  return reinterpret_cast<u64>(t.block->shared) + offset;
}
inline u64 genericToShared(Thread &t, u64 address) {
  return address - reinterpret_cast<u64>(t.block->shared);
}
inline bool isShared(Thread &t, u64 address) {
  return address - reinterpret_cast<u64>(t.block->shared) < t.block->sharedBytes;
}
inline bool isLocal(Thread &t, u64 address) {
  return address >= t.stackLow && address < t.stackHigh;
}
inline bool isParam(Thread &t, u64 address) {
  return address - reinterpret_cast<u64>(t.block->params) < t.block->paramBytes;
}
inline bool isGlobal(Thread &t, u64 address) {
  return !isShared(t, address) && !isLocal(t, address) && !isParam(t, address);
}

template <class T> inline T load(const u8 *from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(T));
  return value;
}
template <class T> inline void store(u8 *to, T value) { __builtin_memcpy(to, &value, sizeof(T)); }

/// Accesses that other threads may see: volatile, relaxed, acquire, release.
template <class T> inline T loadStrong(const u8 *from) {
  return as<T>(
      __atomic_load_n(reinterpret_cast<const decltype(bitsOf(T())) *>(from), __ATOMIC_SEQ_CST));
}
template <class T> inline void storeStrong(u8 *to, T value) {
  __atomic_store_n(reinterpret_cast<decltype(bitsOf(T())) *>(to), bitsOf(value), __ATOMIC_SEQ_CST);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

template <class T, class F> inline T atomicUpdate(u8 *at, F update) {
  auto *place = reinterpret_cast<decltype(bitsOf(T())) *>(at);
  auto old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(place, &old, bitsOf(update(as<T>(old))), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return as<T>(old);
}
template <class T> inline T increment(T old, T limit) { return old >= limit ? 0 : old + 1; }
template <class T> inline T decrement(T old, T limit) {
  return old == 0 || old > limit ? limit : old - 1;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

inline const u64 *exchange(Thread &t, u32 mask, u64 value, u32 site) {
  return t.block->host->exchange(t, mask, value, site);
}

enum class Shuffle { Up, Down, Bfly, Idx };

/// Of the PTX manual's description of shfl.sync; what a lane outside of the mask has is rubbish.
inline u32 shuffle(Thread &t, Shuffle mode, u32 value, u32 b, u32 c, u32 mask, u32 site,
                   bool &valid) {
  const u64 *values = exchange(t, mask, value, site);
  s32 lane = t.lane, by = b & 31, segment = c >> 8 & 31;
  s32 highest = (lane & segment) | (s32(c & 31) & ~segment), lowest = lane & segment, from = 0;
  switch (mode) {
  case Shuffle::Up:
    from = lane - by;
    valid = from >= highest;
    break;
  case Shuffle::Down:
    from = lane + by;
    valid = from <= highest;
    break;
  case Shuffle::Bfly:
    from = lane ^ by;
    valid = from <= highest;
    break;
  case Shuffle::Idx:
    from = lowest | (by & ~segment);
    valid = from <= highest;
    break;
  }
  if (!valid)
    from = lane;
  return mask >> from & 1 ? static_cast<u32>(values[from]) : 0xa5a5a5a5u;
}

/// The lanes of the mask that gave something other than 0.
inline u32 ballot(Thread &t, u32 mask, bool value, u32 site) {
  const u64 *values = exchange(t, mask, value, site);
  u32 result = 0;
  for (u32 i = 0; i < 32; ++i)
    if (mask >> i & 1 && values[i])
      result |= 1u << i;
  return result;
}

inline u32 matchAny(Thread &t, u32 mask, u64 value, u32 site) {
  const u64 *values = exchange(t, mask, value, site);
  u32 result = 0;
  for (u32 i = 0; i < 32; ++i)
    if (mask >> i & 1 && values[i] == value)
      result |= 1u << i;
  return result;
}
inline u32 matchAll(Thread &t, u32 mask, u64 value, u32 site, bool &all) {
  all = matchAny(t, mask, value, site) == mask;
  return all ? mask : 0;
}

template <class T, class F> inline T redux(Thread &t, u32 mask, T value, u32 site, F combine) {
  const u64 *values = exchange(t, mask, static_cast<u64>(value), site);
  bool first = true;
  T result = 0;
  for (u32 i = 0; i < 32; ++i)
    if (mask >> i & 1) {
      result = first ? static_cast<T>(values[i]) : combine(result, static_cast<T>(values[i]));
      first = false;
    }
  return result;
}

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXSUPPORT_H

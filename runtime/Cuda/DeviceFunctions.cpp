//===- DeviceFunctions.cpp - kernels of the device's own ------------------===//
//
// Code of the GPU: compiled to PTX when Weft is built and embedded in the module, which has the
// driver compile it for the GPU it finds. Threads of neighbouring numbers write neighbouring words;
// the grid may be smaller than the work, which its threads go through in steps of the grid.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/DeviceFunctions.h"

namespace weft::runtime {

namespace {

using U8 = unsigned char;
using U16 = unsigned short;
using U32 = unsigned;
using U64 = unsigned long long;

struct alignas(16) U128 {
  U64 low, high;
};

/// Global memory, which is read and written faster where the compiler knows.
template <typename T> using Global = T __attribute__((address_space(1)));

template <typename T> Global<T> *toGlobal(T *pointer) { return (Global<T> *)pointer; }

U64 getFirst() {
  return U64(__nvvm_read_ptx_sreg_ctaid_x()) * threadsOfBlock + __nvvm_read_ptx_sreg_tid_x();
}

U64 getStep() { return U64(__nvvm_read_ptx_sreg_nctaid_x()) * threadsOfBlock; }

struct Offsets {
  Int64 from = 0, to = 0;
};

/// Where element `index` lies on both sides. Number is of 32 bits where it suffices: division is by
/// far the most of the work.
template <typename Number> Offsets find(const KernelLoops &loops, Number index) {
  Offsets at;
#pragma unroll
  for (int dim = maxKernelDims - 1; dim > 0; --dim) {
    if (maxKernelDims - dim >= loops.numDims)
      break; // the outermost, or unused ones
    auto extent = Number(loops.extents[dim]);
    Number rest = index / extent;
    auto place = Int64(index - rest * extent);
    at.from += place * loops.from[dim];
    at.to += place * loops.to[dim];
    index = rest;
  }
#pragma unroll
  for (int dim = 0; dim < maxKernelDims; ++dim)
    if (maxKernelDims - dim == loops.numDims) {
      at.from += Int64(index) * loops.from[dim];
      at.to += Int64(index) * loops.to[dim];
    }
  return at;
}

template <typename Body> void forEach(const KernelLoops &loops, Body body) {
  U64 count = loops.count;
  if (count <= 0x7fffffffu)
    for (U64 i = getFirst(); i < count; i += getStep())
      body(find(loops, U32(i)));
  else
    for (U64 i = getFirst(); i < count; i += getStep())
      body(find(loops, i));
}

template <typename T> void copy(T *to, const T *from, const KernelLoops &loops) {
  forEach(loops, [&](Offsets at) { toGlobal(to)[at.to] = toGlobal(from)[at.from]; });
}

template <typename T> void fill(T *to, T value, const KernelLoops &loops) {
  forEach(loops, [&](Offsets at) { toGlobal(to)[at.to] = value; });
}

/// Modulo 2^bits, so that signs make no difference.
template <typename T> void multiply(const KernelProduct &product) {
  auto *a = toGlobal(static_cast<const T *>(product.a));
  auto *b = toGlobal(static_cast<const T *>(product.b));
  auto *c = toGlobal(static_cast<T *>(product.c));
  U64 count = U64(product.batches) * product.rows * product.columns;
  for (U64 i = getFirst(); i < count; i += getStep()) {
    Int64 column = i % product.columns, rest = i / product.columns;
    Int64 row = rest % product.rows, batch = rest / product.rows;
    auto *left = a + batch * product.batchA + row * product.rowA;
    auto *right = b + batch * product.batchB + column * product.columnB;
    auto *result = c + batch * product.batchC + row * product.rowC + column * product.columnC;
    U64 sum = product.accumulate ? U64(*result) : 0;
    for (Int64 k = 0; k < product.depth; ++k)
      sum += U64(left[k * product.depthA]) * U64(right[k * product.depthB]);
    *result = T(sum);
  }
}

} // namespace

#define WEFT_KERNEL extern "C" __attribute__((nvptx_kernel)) void

WEFT_KERNEL weft_copy1(U8 *to, const U8 *from, KernelLoops loops) { copy(to, from, loops); }
WEFT_KERNEL weft_copy2(U16 *to, const U16 *from, KernelLoops loops) { copy(to, from, loops); }
WEFT_KERNEL weft_copy4(U32 *to, const U32 *from, KernelLoops loops) { copy(to, from, loops); }
WEFT_KERNEL weft_copy8(U64 *to, const U64 *from, KernelLoops loops) { copy(to, from, loops); }
WEFT_KERNEL weft_copy16(U128 *to, const U128 *from, KernelLoops loops) { copy(to, from, loops); }

WEFT_KERNEL weft_fill1(U8 *to, FillWord word, KernelLoops loops) { fill(to, U8(word.low), loops); }
WEFT_KERNEL weft_fill2(U16 *to, FillWord word, KernelLoops loops) {
  fill(to, U16(word.low), loops);
}
WEFT_KERNEL weft_fill4(U32 *to, FillWord word, KernelLoops loops) {
  fill(to, U32(word.low), loops);
}
WEFT_KERNEL weft_fill8(U64 *to, FillWord word, KernelLoops loops) { fill(to, word.low, loops); }
WEFT_KERNEL weft_fill16(FillWord *to, FillWord word, KernelLoops loops) { fill(to, word, loops); }

WEFT_KERNEL weft_multiply1(KernelProduct product) { multiply<U8>(product); }
WEFT_KERNEL weft_multiply2(KernelProduct product) { multiply<U16>(product); }
WEFT_KERNEL weft_multiply4(KernelProduct product) { multiply<U32>(product); }
WEFT_KERNEL weft_multiply8(KernelProduct product) { multiply<U64>(product); }

} // namespace weft::runtime

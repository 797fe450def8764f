//===- PanelProduct.h - products by matrices in panels, AVX2 ----*- C++ -*-===//
//
// Sums of six rows by sixteen columns fill the registers of AVX2. They want the right factor as
// panels of sixteen columns, one behind the other, each row by row:
//
//   b [depth, columns]  =  panels [columns / 16, depth, 16]
//
// What is multiplied often, by rows too few to hide a library's packing, is kept that way, and the
// left factor read where it lies. Of anything else some rows of the left factor are packed, and one
// panel at a time is put into a core's first cache, while the next one is fetched from memory: how
// far apart rows lie does not matter then. Libraries read many rows into a cache at once, which
// holds few of those that lie a power of two apart.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_PANELPRODUCT_H
#define WEFT_RUNTIME_CPU_PANELPRODUCT_H

#include "runtime/Cpu/FewRows.h"
#include "runtime/Cpu/Gemm.h"

#include <cstdint>

namespace weft::runtime {

constexpr int64_t panelColumns = 16;

/// Rows `pitch` elements apart.
template <typename T> struct Rows {
  T *data;
  int64_t pitch;
};

/// Extents of c = a·b; columns are a multiple of panelColumns.
struct ProductExtents {
  int64_t rows, columns, depth;
};

/// Whether the CPU has AVX2.
bool hasPanelProducts();

/// c = a·b, or c += a·b, on the calling thread; `panels` are all of b.
void multiplyPanels(Rows<const float> a, const float *panels, Rows<float> c, ProductExtents extents,
                    bool accumulate = false);

/// Whether multiplyByPanels() computes c = a·b, and sooner than a library: of f32, with a unit
/// stride along rows of b and c, along rows or columns of a, and rows of b that are all in the same
/// few sets of a cache, on a CPU with AVX2 whose widest vectors are those (not `areWide`).
bool isOfPanels(const Matrix &a, const Matrix &b, const Matrix &c, bool areWide = hasWideVectors());

/// c = a·b, or c += a·b, on the calling thread; any number of columns.
void multiplyByPanels(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_PANELPRODUCT_H

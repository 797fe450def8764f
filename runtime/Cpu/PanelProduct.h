//===- PanelProduct.h - products by matrices in panels, AVX2 ----*- C++ -*-===//
//
// Sums of six rows by sixteen columns fill the registers of AVX2. They want the right factor as
// panels of sixteen columns, one behind the other, each row by row; the left one is read where it
// lies:
//
//   b [depth, columns]  =  panels [columns / 16, depth, 16]
//
// What is multiplied often, by rows too few to hide a library's packing, is kept that way.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_PANELPRODUCT_H
#define WEFT_RUNTIME_CPU_PANELPRODUCT_H

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

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_PANELPRODUCT_H

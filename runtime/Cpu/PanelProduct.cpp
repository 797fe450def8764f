//===- PanelProduct.cpp - products by matrices in panels, AVX2 ------------===//

#include "runtime/Cpu/PanelProduct.h"

#include <algorithm>

namespace weft::runtime {

namespace {

using Vector __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(32)));
constexpr int64_t lanes = sizeof(Vector) / sizeof(float);
static_assert(panelColumns == 2 * lanes);

constexpr int64_t mostRows = 6;       ///< whose sums registers hold
constexpr int64_t depthOfBlock = 384; ///< a panel of it stays in a core's first cache
constexpr int64_t rowsOfBlock = 96;   ///< of the left factor: they stay in its second cache

/// Sums of `count` rows by a panel's columns.
template <int64_t count>
__attribute__((target("arch=x86-64-v3"))) void
addPanel(Rows<const float> a, const float *panel, Rows<float> c, int64_t depth, bool accumulate) {
  Vector sums[count][2] = {};
  if (accumulate)
    for (int64_t r = 0; r < count; ++r)
      for (int64_t half = 0; half < 2; ++half)
        sums[r][half] = *reinterpret_cast<const Vector *>(c.data + r * c.pitch + half * lanes);
  for (int64_t k = 0; k < depth; ++k) {
    const auto *row = reinterpret_cast<const Vector *>(panel + k * panelColumns);
    Vector first = row[0], second = row[1];
    for (int64_t r = 0; r < count; ++r) {
      float factor = a.data[r * a.pitch + k];
      sums[r][0] += factor * first;
      sums[r][1] += factor * second;
    }
  }
  for (int64_t r = 0; r < count; ++r)
    for (int64_t half = 0; half < 2; ++half)
      *reinterpret_cast<Vector *>(c.data + r * c.pitch + half * lanes) = sums[r][half];
}

using AddPanel = void (*)(Rows<const float>, const float *, Rows<float>, int64_t, bool);

constexpr AddPanel addPanelToRows[mostRows] = {addPanel<1>, addPanel<2>, addPanel<3>,
                                               addPanel<4>, addPanel<5>, addPanel<6>};

} // namespace

bool hasPanelProducts() {
  static const bool has = __builtin_cpu_supports("x86-64-v3");
  return has;
}

void multiplyPanels(Rows<const float> a, const float *panels, Rows<float> c, ProductExtents extents,
                    bool accumulate) {
  const auto &[rows, columns, depth] = extents;
  for (int64_t k = 0; k < depth; k += depthOfBlock) {
    int64_t deep = std::min(depthOfBlock, depth - k);
    for (int64_t begin = 0; begin < rows; begin += rowsOfBlock)
      for (int64_t column = 0; column < columns; column += panelColumns)
        for (int64_t row = begin; row < std::min(begin + rowsOfBlock, rows); row += mostRows)
          addPanelToRows[std::min(mostRows, rows - row) - 1](
              {a.data + row * a.pitch + k, a.pitch}, panels + column * depth + k * panelColumns,
              {c.data + row * c.pitch + column, c.pitch}, deep, accumulate || k > 0);
  }
}

} // namespace weft::runtime

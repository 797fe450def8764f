//===- PanelProduct.cpp - products by matrices in panels, AVX2 ------------===//

#include "runtime/Cpu/PanelProduct.h"

#include "runtime/Cpu/MatrixLayout.h"

#include <algorithm>
#include <vector>

#define WEFT_AVX2 __attribute__((target("arch=x86-64-v3")))

namespace weft::runtime {

namespace {

using Vector __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(32)));
constexpr int64_t lanes = sizeof(Vector) / sizeof(float);
static_assert(panelColumns == 2 * lanes);

constexpr int64_t mostRows = 6;       ///< whose sums registers hold
constexpr int64_t depthOfBlock = 256; ///< a panel of it stays in a core's first cache
constexpr int64_t rowsOfBlock = 96;   ///< of the left factor: they stay in its second cache

/// The most of them for which panels are made: as many as hide that.
constexpr int64_t rowsOfMadePanels = 264;

/// Sums of `count` rows by a panel's columns: each begins at zero, also where it is added to what
/// is there, which a sum over all of a great depth would lose digits to. Of rows that are `packed`,
/// elements of a column lie one behind the other, and columns do.
template <int64_t count, bool packed>
WEFT_AVX2 void addPanel(Rows<const float> a, const float *panel, Rows<float> c, int64_t depth,
                        bool accumulate) {
  Vector sums[count][2] = {};
  for (int64_t r = 0; r < count; ++r)
    __builtin_prefetch(c.data + r * c.pitch, /*rw=*/1);
  for (int64_t k = 0; k < depth; ++k) {
    const auto *row = reinterpret_cast<const Vector *>(panel + k * panelColumns);
    Vector first = row[0], second = row[1];
    for (int64_t r = 0; r < count; ++r) {
      float factor = packed ? a.data[k * count + r] : a.data[r * a.pitch + k];
      sums[r][0] += factor * first;
      sums[r][1] += factor * second;
    }
  }
  for (int64_t r = 0; r < count; ++r)
    for (int64_t half = 0; half < 2; ++half) {
      auto *to = reinterpret_cast<Vector *>(c.data + r * c.pitch + half * lanes);
      *to = accumulate ? *to + sums[r][half] : sums[r][half];
    }
}

using AddPanel = void (*)(Rows<const float>, const float *, Rows<float>, int64_t, bool);

template <bool packed>
constexpr AddPanel addPanelToRows[mostRows] = {addPanel<1, packed>, addPanel<2, packed>,
                                               addPanel<3, packed>, addPanel<4, packed>,
                                               addPanel<5, packed>, addPanel<6, packed>};

/// The same of packed rows for the first columns of a panel alone.
void addNarrowPanel(const float *a, const float *panel, Rows<float> c, ProductExtents extents,
                    bool accumulate) {
  float sums[mostRows * panelColumns];
  addPanelToRows<true>[extents.rows - 1]({a, 1}, panel, {sums, panelColumns}, extents.depth,
                                         /*accumulate=*/false);
  for (int64_t r = 0; r < extents.rows; ++r)
    for (int64_t j = 0; j < extents.columns; ++j) {
      float &to = c.data[r * c.pitch + j];
      to = sums[r * panelColumns + j] + (accumulate ? to : 0.0f);
    }
}

//===----------------------------------------------------------------------===//
// Panels that are made as they are needed
//===----------------------------------------------------------------------===//

/// A panel of `depth` rows of so many columns, zeros behind them.
WEFT_AVX2 void makePanel(Rows<const float> from, int64_t depth, int64_t columns, float *panel) {
  for (int64_t k = 0; k < depth; ++k, panel += panelColumns) {
    const float *row = from.data + k * from.pitch;
    if (columns < panelColumns) {
      std::fill(std::copy(row, row + columns, panel), panel + panelColumns, 0.0f);
      continue;
    }
    for (int64_t half = 0; half < panelColumns; half += lanes)
      *reinterpret_cast<Vector *>(panel + half) = *reinterpret_cast<const Vector *>(row + half);
  }
}

/// Asks for rows [begin, end) of the panel that is made next.
void fetch(Rows<const float> from, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k)
    __builtin_prefetch(from.data + k * from.pitch, 0, 2);
}

/// Eight elements of each of six rows, column by column, and two floats behind them; the last two
/// rows are any.
WEFT_AVX2 void packLines(const float *const rows[lanes], float *packed) {
  Vector quads[2][4]; // [rows / 4, element % 4]: elements `element` and `element + 4`
  for (int64_t part = 0; part < 2; ++part) {
    Vector pairs[2][2]; // [rows / 2, elements 0 and 1 of four, or 2 and 3]
    for (int64_t i = 0; i < 2; ++i) {
      Vector a = *reinterpret_cast<const Vector *>(rows[part * 4 + i * 2]);
      Vector b = *reinterpret_cast<const Vector *>(rows[part * 4 + i * 2 + 1]);
      pairs[i][0] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
      pairs[i][1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int64_t i = 0; i < 2; ++i) {
      Vector a = pairs[0][i], b = pairs[1][i];
      quads[part][2 * i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      quads[part][2 * i + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  // Each column takes the place of the last two elements of the one before, which are no row's.
  for (int64_t i = 0; i < 4; ++i)
    *reinterpret_cast<Vector *>(packed + i * mostRows) =
        __builtin_shufflevector(quads[0][i], quads[1][i], 0, 1, 2, 3, 8, 9, 10, 11);
  for (int64_t i = 0; i < 4; ++i)
    *reinterpret_cast<Vector *>(packed + (i + 4) * mostRows) =
        __builtin_shufflevector(quads[0][i], quads[1][i], 4, 5, 6, 7, 12, 13, 14, 15);
}

/// Elements behind packed rows that are written, too.
constexpr int64_t packingSlack = lanes - mostRows;

/// Packs rows of the left factor, six by six: `columns` of each from a column on.
void packRows(const Matrix &a, int64_t row, int64_t rows, int64_t column, int64_t columns,
              float *packed) {
  const float *from =
      reinterpret_cast<const float *>(a.data) + row * a.rowStride + column * a.columnStride;
  for (int64_t begin = 0; begin < rows; begin += mostRows) {
    int64_t count = std::min(mostRows, rows - begin), done = 0;
    const float *tile = from + begin * a.rowStride;
    for (; count == mostRows && a.columnStride == 1 && done + lanes <= columns; done += lanes) {
      const float *lines[lanes];
      for (int64_t r = 0; r < lanes; ++r)
        lines[r] = tile + std::min(r, mostRows - 1) * a.rowStride + done;
      packLines(lines, packed + done * mostRows);
    }
    for (; done < columns; ++done)
      for (int64_t r = 0; r < count; ++r)
        packed[done * count + r] = tile[r * a.rowStride + done * a.columnStride];
    packed += count * columns;
  }
}

/// The extent of each of as few even parts as have at most `most`, in multiples of `multiple`.
int64_t divideEvenly(int64_t extent, int64_t most, int64_t multiple) {
  int64_t parts = (extent + most - 1) / most, part = (extent + parts - 1) / parts;
  return (part + multiple - 1) / multiple * multiple;
}

/// One panel by a block of packed rows, while what comes `next` is fetched.
void addMadePanel(const float *a, const float *panel, Rows<float> c, ProductExtents extents,
                  bool accumulate, Rows<const float> next) {
  const auto &[rows, columns, depth] = extents;
  int64_t tiles = (rows + mostRows - 1) / mostRows, share = (depth + tiles - 1) / tiles;
  for (int64_t row = 0, fetched = 0; row < rows; row += mostRows, fetched += share) {
    fetch(next, fetched, std::min(fetched + share, depth));
    int64_t count = std::min(mostRows, rows - row);
    Rows<float> to{c.data + row * c.pitch, c.pitch};
    if (columns == panelColumns)
      addPanelToRows<true>[count - 1]({a + row * depth, 1}, panel, to, depth, accumulate);
    else
      addNarrowPanel(a + row * depth, panel, to, {count, columns, depth}, accumulate);
  }
}

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
          addPanelToRows<false>[std::min(mostRows, rows - row) - 1](
              {a.data + row * a.pitch + k, a.pitch}, panels + column * depth + k * panelColumns,
              {c.data + row * c.pitch + column, c.pitch}, deep, accumulate || k > 0);
  }
}

bool isOfPanels(const Matrix &a, const Matrix &b, const Matrix &c, bool areWide) {
  // Libraries lose a third of their speed and more where rows lie so many bytes apart, and nearly a
  // tenth where it is half of that.
  constexpr int64_t bytesOfFewSets = 2048, leastRowsOfFewSets = 24, leastRows = 64;
  constexpr int64_t leastColumns = 64, leastDepth = 32;
  bool isOfFloats = a.dtype == program::F32 && b.dtype == program::F32 && c.dtype == program::F32;
  bool fits = isOfFloats && hasPanelProducts() && !areWide && c.columnStride == 1 &&
              b.columnStride == 1 && getLayout(a).fits && getLayout(b).fits;
  if (!fits || c.columns < leastColumns || a.columns < leastDepth)
    return false;
  int64_t pitch = b.rowStride * static_cast<int64_t>(sizeof(float));
  if (pitch % bytesOfFewSets == 0)
    return c.rows >= leastRowsOfFewSets;
  return pitch % (bytesOfFewSets / 2) == 0 && c.rows >= leastRows && a.columnStride == 1;
}

void multiplyByPanels(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  thread_local std::vector<float> packed(rowsOfMadePanels * depthOfBlock + packingSlack);
  alignas(64) float panel[depthOfBlock * panelColumns];
  const auto *right = reinterpret_cast<const float *>(b.data);
  auto *result = reinterpret_cast<float *>(c.data);
  int64_t step = divideEvenly(a.columns, depthOfBlock, lanes);
  int64_t rowStep = divideEvenly(c.rows, rowsOfMadePanels, mostRows);
  for (int64_t k = 0; k < a.columns; k += step) {
    int64_t deep = std::min(step, a.columns - k);
    for (int64_t row = 0; row < c.rows; row += rowStep) {
      int64_t rows = std::min(rowStep, c.rows - row);
      packRows(a, row, rows, k, deep, packed.data());
      for (int64_t column = 0; column < c.columns; column += panelColumns) {
        int64_t columns = std::min(panelColumns, c.columns - column);
        bool isLast = column + panelColumns >= c.columns;
        Rows<const float> from{right + k * b.rowStride + column, b.rowStride};
        Rows<const float> next{from.data + (isLast ? -column : panelColumns), b.rowStride};
        makePanel(from, deep, columns, panel);
        addMadePanel(packed.data(), panel, {result + row * c.rowStride + column, c.rowStride},
                     {rows, columns, deep}, accumulate || k > 0, next);
      }
    }
  }
}

} // namespace weft::runtime

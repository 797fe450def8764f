//===- ColumnProduct.cpp - products by a matrix stored by columns ---------===//

#include "runtime/Cpu/ColumnProduct.h"

#include "runtime/Cpu/MatrixLayout.h"
#include "runtime/Cpu/Vectors.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t lineFloats = 64 / sizeof(float); ///< of the memory's lines

/// Of more rows a library's packing is hidden; of columns that lie so many bytes apart, in the same
/// few sets of a cache, of twice as many.
constexpr int64_t mostRows = 144, bytesOfFewSets = 2048;
constexpr int64_t leastDepth = 256, leastColumns = 256;

constexpr int64_t depthOfSum = 512; ///< of what is summed without a pause (sumTile)

/// Floats of all panels: they stay in a core's second cache.
constexpr int64_t panelFloats = 96 << 10;

/// What is read and written at a time: `count` columns of b, `pitch` floats apart, and one panel.
struct TileData {
  const float *columns;
  int64_t pitch;
  const float *panel;
  int64_t depth;
  const float *next; ///< the columns that come next, which are fetched; null: none are
  float *sums;       ///< [count, rows of the panel]
};

/// Sums over parts of the depth, each from zero on: one over all of a great depth would lose
/// digits.
template <int64_t count, int64_t vectors>
__attribute__((always_inline)) inline void sumTile(const TileData &tile) {
  for (int64_t begin = 0; begin < tile.depth; begin += depthOfSum) {
    int64_t end = std::min(begin + depthOfSum, tile.depth);
    Vector sums[count][vectors] = {};
    for (int64_t k = begin; k < end; ++k) {
      const auto *line = reinterpret_cast<const Vector *>(tile.panel + k * vectors * lanes);
      Vector rows[vectors];
      for (int64_t v = 0; v < vectors; ++v)
        rows[v] = line[v];
      if (tile.next && k % lineFloats == 0)
        for (int64_t j = 0; j < count; ++j)
          __builtin_prefetch(tile.next + j * tile.pitch + k, 0, 2);
      for (int64_t j = 0; j < count; ++j) {
        float factor = tile.columns[j * tile.pitch + k];
        for (int64_t v = 0; v < vectors; ++v)
          sums[j][v] += factor * rows[v];
      }
    }
    for (int64_t j = 0; j < count; ++j)
      for (int64_t v = 0; v < vectors; ++v) {
        auto *to = reinterpret_cast<Vector *>(tile.sums) + j * vectors + v;
        *to = begin > 0 ? *to + sums[j][v] : sums[j][v];
      }
  }
}

template <int64_t count, int64_t vectors> WEFT_AVX512 void sumTileWide(const TileData &tile) {
  sumTile<count, vectors>(tile);
}
template <int64_t count, int64_t vectors> WEFT_AVX2 void sumTileNarrow(const TileData &tile) {
  sumTile<count, vectors>(tile);
}

} // namespace

/// How large tiles are, and the functions for them, by vectors of a panel: of all columns of a
/// tile, and of one.
struct TileKind {
  int64_t columns, vectors;
  void (*whole[3])(const TileData &);
  void (*single[3])(const TileData &);
};

namespace {

constexpr TileKind wideTiles = {8,
                                3,
                                {sumTileWide<8, 1>, sumTileWide<8, 2>, sumTileWide<8, 3>},
                                {sumTileWide<1, 1>, sumTileWide<1, 2>, sumTileWide<1, 3>}};
constexpr TileKind narrowTiles = {
    6, 1, {sumTileNarrow<6, 1>, nullptr, nullptr}, {sumTileNarrow<1, 1>, nullptr, nullptr}};
constexpr int64_t mostColumns = 8, mostVectors = 3;

using Quad __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(16)));
constexpr int64_t quad = sizeof(Quad) / sizeof(float);

/// Four elements of each of four rows, `pitch` floats apart, as four rows of `width`.
void transposeQuads(const float *from, int64_t pitch, float *to, int64_t width) {
  Quad rows[quad], pairs[quad];
  for (int64_t r = 0; r < quad; ++r)
    rows[r] = *reinterpret_cast<const Quad *>(from + r * pitch);
  for (int64_t half = 0; half < 2; ++half) {
    pairs[half] = __builtin_shufflevector(rows[half], rows[half + 2], 0, 4, 1, 5);
    pairs[half + 2] = __builtin_shufflevector(rows[half], rows[half + 2], 2, 6, 3, 7);
  }
  for (int64_t half = 0; half < 2; ++half) {
    auto *line = reinterpret_cast<Quad *>(to + 2 * half * width);
    auto *next = reinterpret_cast<Quad *>(to + (2 * half + 1) * width);
    *line = __builtin_shufflevector(pairs[2 * half], pairs[2 * half + 1], 0, 4, 1, 5);
    *next = __builtin_shufflevector(pairs[2 * half], pairs[2 * half + 1], 2, 6, 3, 7);
  }
}

/// Rows of a as a panel of `width`, a multiple of lanes; rows that are not there are zero.
void makePanel(const Matrix &a, int64_t width, float *panel) {
  const auto *from = reinterpret_cast<const float *>(a.data);
  int64_t whole = a.columnStride == 1 ? a.rows / quad * quad : 0, k = 0;
  for (; k + quad <= a.columns && whole > 0; k += quad)
    for (int64_t r = 0; r < whole; r += quad)
      transposeQuads(from + r * a.rowStride + k, a.rowStride, panel + k * width + r, width);
  int64_t transposed = k;
  for (k = 0; k < a.columns; ++k) {
    float *to = panel + k * width;
    for (int64_t r = k < transposed ? whole : 0; r < a.rows; ++r)
      to[r] = from[r * a.rowStride + k * a.columnStride];
    std::fill(to + a.rows, to + width, 0.0f);
  }
}

/// Sums of `columns` columns by a panel of `width` rows, as rows of c.
void writeTile(const float *sums, int64_t columns, int64_t width, const Matrix &c,
               bool accumulate) {
  for (int64_t r = 0; r < c.rows; ++r) {
    float *to = reinterpret_cast<float *>(c.data) + r * c.rowStride;
    for (int64_t j = 0; j < columns; ++j)
      to[j] = sums[j * width + r] + (accumulate ? to[j] : 0.0f);
  }
}

/// Rows [begin, end) of a matrix.
Matrix takeRows(Matrix m, int64_t begin, int64_t end) {
  m.data += begin * m.rowStride * static_cast<int64_t>(sizeof(float));
  m.rows = end - begin;
  return m;
}

/// The same of columns.
Matrix takeColumns(const Matrix &m, int64_t begin, int64_t end) {
  return takeRows(m.transposed(), begin, end).transposed();
}

/// One panel by one tile's columns of b.
void multiplyTile(const TileKind &kind, TileData tile, int64_t columns, int64_t width,
                  const Matrix &c, bool accumulate) {
  alignas(64) float sums[mostColumns * mostVectors * lanes];
  tile.sums = sums;
  int64_t number = width / lanes - 1;
  if (columns == kind.columns) {
    kind.whole[number](tile);
  } else {
    tile.next = nullptr;
    for (int64_t j = 0; j < columns; ++j, tile.columns += tile.pitch, tile.sums += width)
      kind.single[number](tile);
  }
  writeTile(sums, columns, width, c, accumulate);
}

/// The first line of memory that begins there or behind it.
float *alignToLine(float *memory) {
  constexpr uintptr_t bytes = lineFloats * sizeof(float);
  auto address = reinterpret_cast<uintptr_t>(memory);
  return memory + (bytes - address % bytes) % bytes / sizeof(float);
}

int64_t roundToLanes(int64_t rows) { return (rows + lanes - 1) / lanes * lanes; }

} // namespace

bool isOfColumns(const Matrix &a, const Matrix &b, const Matrix &c) {
  static const bool hasVectors = __builtin_cpu_supports("x86-64-v3");
  bool isOfFloats = a.dtype == program::F32 && b.dtype == program::F32 && c.dtype == program::F32;
  int64_t pitch = b.columnStride * static_cast<int64_t>(sizeof(float));
  int64_t most = pitch % bytesOfFewSets == 0 ? 2 * mostRows : mostRows;
  return isOfFloats && hasVectors && b.rowStride == 1 && b.columnStride > 1 &&
         c.columnStride == 1 && getLayout(b).fits && c.rows <= most && c.columns >= leastColumns &&
         a.columns >= leastDepth;
}

RowPanels::RowPanels(const Matrix &a, bool areWide)
    : a(a), kind(areWide ? &wideTiles : &narrowTiles) {
  thread_local std::vector<float> memory;
  int64_t most = kind->vectors * lanes;
  count = (a.rows + most - 1) / most;
  int64_t rows = std::max(roundToLanes(a.rows), lanes); // there may be none
  step = std::max(panelFloats / rows / lanes * lanes, lanes);
  memory.resize(roundToLanes(a.rows) * a.columns + lanes);
  panels = alignToLine(memory.data());
}

int64_t RowPanels::getRows(int64_t number) const {
  int64_t most = kind->vectors * lanes;
  return std::min(most, a.rows - number * most);
}

/// Of the part of the depth that begins there.
float *RowPanels::getPanel(int64_t number, int64_t begin, int64_t depth) const {
  return panels + begin * roundToLanes(a.rows) + number * kind->vectors * lanes * depth;
}

void RowPanels::make(int64_t number) {
  int64_t row = number * kind->vectors * lanes, rows = getRows(number);
  Matrix some = takeRows(a, row, row + rows);
  for (int64_t k = 0; k < a.columns; k += step) {
    int64_t depth = std::min(step, a.columns - k);
    makePanel(takeColumns(some, k, k + depth), roundToLanes(rows), getPanel(number, k, depth));
  }
}

void RowPanels::multiplyPart(int64_t begin, int64_t depth, const Matrix &b, const Matrix &c,
                             bool accumulate) const {
  const auto *right = reinterpret_cast<const float *>(b.data) + begin;
  for (int64_t column = 0; column < b.columns; column += kind->columns) {
    int64_t width = std::min(kind->columns, b.columns - column);
    bool hasNext = column + 2 * kind->columns <= b.columns;
    const float *columns = right + column * b.columnStride;
    for (int64_t number = 0; number < count; ++number) {
      const float *next = hasNext && number == 0 ? columns + width * b.columnStride : nullptr;
      int64_t row = number * kind->vectors * lanes, rows = getRows(number);
      Matrix to = takeColumns(takeRows(c, row, row + rows), column, column + width);
      const float *panel = getPanel(number, begin, depth);
      multiplyTile(*kind, {columns, b.columnStride, panel, depth, next, nullptr}, width,
                   roundToLanes(rows), to, accumulate);
    }
  }
}

void RowPanels::multiply(const Matrix &b, const Matrix &c, bool accumulate) const {
  for (int64_t k = 0; k < a.columns; k += step)
    multiplyPart(k, std::min(step, a.columns - k), b, c, accumulate || k > 0);
}

void multiplyByColumns(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate,
                       bool areWide) {
  RowPanels panels(a, areWide);
  for (int64_t number = 0; number < panels.getCount(); ++number)
    panels.make(number);
  panels.multiply(b, c, accumulate);
}

} // namespace weft::runtime

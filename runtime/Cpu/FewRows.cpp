#include "runtime/Cpu/FewRows.h"

#include <algorithm>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t mostRows = 16; ///< of more, arithmetic takes as long as reading the matrix
constexpr int64_t mostRowsOfDots = 12;
constexpr int64_t leastDepth = 32;    ///< of less, sums are loaded and stored for too little
constexpr int64_t stripFloats = 4096; ///< sums that a core's first cache holds beside the matrix

using Vector __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(64)));
constexpr int64_t lanes = sizeof(Vector) / sizeof(float);

/// What is computed at a time: so many rows of the result, from so many lines of b (its rows, or
/// its columns), while the next of b are asked for. One row has so little arithmetic that what
/// counts is how many lines are on their way.
template <int64_t rows, int64_t lines> struct Tile {
  static constexpr int64_t rowStep = rows, lineStep = lines;
  static constexpr int64_t fetchAhead = 8; ///< rows of b, by which these are asked for
};
using TileOfOne = Tile<1, 8>;
using TileOfSome = Tile<4, 4>;

/// What the tile's rows of b are multiplied by, for each of its sums.
template <typename T> using Factors = float[T::rowStep][T::lineStep];

/// sums[r, j] += Σ_k factors[r, k] · b[k, j] for whole vectors of columns; fetches every
/// `fetchStep`-th of the rows of b that come next, from `fetchFrom` on.
template <typename T>
__attribute__((target("arch=x86-64-v4"))) void
addProducts(const Factors<T> &factors, const float *b, int64_t pitch, int64_t columns, float *sums,
            int64_t sumPitch, int64_t fetchFrom, int64_t fetchStep) {
  for (int64_t j = 0; j + lanes <= columns; j += lanes) {
    for (int64_t k = fetchFrom; k < T::lineStep; k += fetchStep)
      __builtin_prefetch(b + (T::fetchAhead + k) * pitch + j, 0, 2);
    Vector rows[T::lineStep];
    for (int64_t k = 0; k < T::lineStep; ++k)
      rows[k] = *reinterpret_cast<const Vector *>(b + k * pitch + j);
    for (int64_t r = 0; r < T::rowStep; ++r) {
      auto *to = reinterpret_cast<Vector *>(sums + r * sumPitch + j);
      Vector sum = *to;
      for (int64_t k = 0; k < T::lineStep; ++k)
        sum += factors[r][k] * rows[k];
      *to = sum;
    }
  }
}

float *getFloats(const Matrix &m, int64_t row, int64_t column) {
  return reinterpret_cast<float *>(m.data) + row * m.rowStride + column * m.columnStride;
}

//===----------------------------------------------------------------------===//
// Rows of b in one piece
//===----------------------------------------------------------------------===//

/// A strip of columns of the result.
template <typename T> class Strip {
public:
  Strip(const Matrix &a, const Matrix &b, const Matrix &c, int64_t column, int64_t columns,
        std::vector<float> &memory)
      : a(a), b(b), c(c), column(column), columns(columns),
        groups((c.rows + T::rowStep - 1) / T::rowStep) {
    memory.assign(groups * T::rowStep * columns, 0.0f); // rows that c does not have cost nothing
    sums = memory.data();
  }

  void run(bool accumulate) {
    int64_t depth = a.columns / T::lineStep * T::lineStep, whole = columns / lanes * lanes;
    for (int64_t k = 0; k < depth; k += T::lineStep) {
      bool fetches = k + T::fetchAhead + T::lineStep <= a.columns;
      for (int64_t group = 0; group < groups; ++group)
        add(group * T::rowStep, k, fetches ? group : T::lineStep);
    }
    addPlainly(0, depth, whole, columns);
    addPlainly(depth, a.columns, 0, columns);
    for (int64_t row = 0; row < c.rows; ++row) {
      float *to = getFloats(c, row, column);
      const float *from = sums + row * columns;
      for (int64_t j = 0; j < columns; ++j)
        to[j] = accumulate ? to[j] + from[j] : from[j];
    }
  }

private:
  void add(int64_t row, int64_t k, int64_t fetchFrom) {
    Factors<T> factors = {};
    for (int64_t r = 0; r < std::min(T::rowStep, c.rows - row); ++r)
      for (int64_t i = 0; i < T::lineStep; ++i)
        factors[r][i] = *getFloats(a, row + r, k + i);
    addProducts<T>(factors, getFloats(b, k, column), b.rowStride, columns, sums + row * columns,
                   columns, fetchFrom, groups);
  }

  /// What does not fill vectors, or a tile's rows of b.
  void addPlainly(int64_t fromDepth, int64_t toDepth, int64_t fromColumn, int64_t toColumn) {
    if (fromColumn == toColumn)
      return;
    for (int64_t row = 0; row < c.rows; ++row)
      for (int64_t k = fromDepth; k < toDepth; ++k) {
        float factor = *getFloats(a, row, k);
        const float *from = getFloats(b, k, column);
        for (int64_t j = fromColumn; j < toColumn; ++j)
          sums[row * columns + j] += factor * from[j];
      }
  }

  const Matrix &a, &b, &c;
  int64_t column, columns;
  int64_t groups; ///< of rows
  float *sums;
};

template <typename T>
void multiplyRowMajor(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  thread_local std::vector<float> sums;
  int64_t rows = (c.rows + T::rowStep - 1) / T::rowStep * T::rowStep;
  int64_t most = stripFloats / rows / lanes * lanes;
  for (int64_t column = 0; column < c.columns; column += most)
    Strip<T>(a, b, c, column, std::min(most, c.columns - column), sums).run(accumulate);
}

//===----------------------------------------------------------------------===//
// Columns of b in one piece
//===----------------------------------------------------------------------===//

using Half = float __attribute__((vector_size(32)));
using Quarter = float __attribute__((vector_size(16)));

__attribute__((always_inline)) inline float addUp(const Vector &v) {
  Half half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
              __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  Quarter quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                    __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/// Sums of the tile's rows of a by its columns of b.
template <typename T> using Sums = float[T::rowStep][T::lineStep];

/// Adds up the first `depth` products, whole vectors of them; fetches every `fetchStep`-th of the
/// columns that lie `fetchPitch` behind, from `fetchFrom` on.
template <typename T>
__attribute__((target("arch=x86-64-v4"))) void
addDots(const float *const (&rows)[T::rowStep], const float *const (&columns)[T::lineStep],
        int64_t depth, int64_t fetchPitch, int64_t fetchFrom, int64_t fetchStep, Sums<T> &sums) {
  Vector parts[T::rowStep][T::lineStep] = {};
  for (int64_t k = 0; k + lanes <= depth; k += lanes) {
    Vector right[T::lineStep];
    for (int64_t j = 0; j < T::lineStep; ++j)
      right[j] = *reinterpret_cast<const Vector *>(columns[j] + k);
    for (int64_t j = fetchFrom; j < T::lineStep; j += fetchStep)
      __builtin_prefetch(columns[j] + fetchPitch + k, 0, 2);
    for (int64_t r = 0; r < T::rowStep; ++r) {
      Vector left = *reinterpret_cast<const Vector *>(rows[r] + k);
      for (int64_t j = 0; j < T::lineStep; ++j)
        parts[r][j] += left * right[j];
    }
  }
  for (int64_t r = 0; r < T::rowStep; ++r)
    for (int64_t j = 0; j < T::lineStep; ++j)
      sums[r][j] = addUp(parts[r][j]);
}

/// A tile of the result, or as much as there is: other rows and columns are computed again.
template <typename T>
void multiplyDots(const Matrix &a, const Matrix &b, const Matrix &c, int64_t row, int64_t column,
                  bool accumulate) {
  const float *rows[T::rowStep], *columns[T::lineStep];
  for (int64_t r = 0; r < T::rowStep; ++r)
    rows[r] = getFloats(a, std::min(row + r, c.rows - 1), 0);
  for (int64_t j = 0; j < T::lineStep; ++j)
    columns[j] = getFloats(b, 0, std::min(column + j, c.columns - 1));
  // Each group of rows fetches its share of what is next: memory is never left waiting.
  bool fetches = column + 2 * T::lineStep <= c.columns;
  Sums<T> sums;
  addDots<T>(rows, columns, a.columns, T::lineStep * b.columnStride,
             fetches ? row / T::rowStep : T::lineStep, (c.rows + T::rowStep - 1) / T::rowStep,
             sums);
  for (int64_t r = 0; r < std::min(T::rowStep, c.rows - row); ++r)
    for (int64_t j = 0; j < std::min(T::lineStep, c.columns - column); ++j) {
      for (int64_t k = a.columns / lanes * lanes; k < a.columns; ++k)
        sums[r][j] += rows[r][k] * columns[j][k];
      float &to = *getFloats(c, row + r, column + j);
      to = accumulate ? to + sums[r][j] : sums[r][j];
    }
}

template <typename T>
void multiplyColumnMajor(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  for (int64_t column = 0; column < c.columns; column += T::lineStep)
    for (int64_t row = 0; row < c.rows; row += T::rowStep)
      multiplyDots<T>(a, b, c, row, column, accumulate);
}

template <typename T>
void multiplyBy(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  if (b.columnStride == 1)
    return multiplyRowMajor<T>(a, b, c, accumulate);
  multiplyColumnMajor<T>(a, b, c, accumulate);
}

} // namespace

bool isOfFewRows(const Matrix &a, const Matrix &b, const Matrix &c) {
  static const bool hasWideVectors = __builtin_cpu_supports("x86-64-v4");
  bool areFloats = a.dtype == program::F32 && b.dtype == program::F32 && c.dtype == program::F32;
  if (!hasWideVectors || !areFloats || c.rows > mostRows || a.columns < leastDepth ||
      c.columnStride != 1 || c.columns < lanes)
    return false;
  return b.columnStride == 1 ||
         (b.rowStride == 1 && a.columnStride == 1 && c.rows <= mostRowsOfDots);
}

void multiplyFewRows(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  if (c.rows == 1)
    return multiplyBy<TileOfOne>(a, b, c, accumulate);
  multiplyBy<TileOfSome>(a, b, c, accumulate);
}

} // namespace weft::runtime

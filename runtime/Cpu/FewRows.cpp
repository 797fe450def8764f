#include "runtime/Cpu/FewRows.h"

#include <algorithm>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t mostRows = 16; ///< of more, arithmetic takes as long as reading the matrix
constexpr int64_t mostRowsOfDots = 12;
constexpr int64_t leastRows = 2;      ///< of one, libraries read the matrix as it lies too
constexpr int64_t leastDepth = 32;    ///< of less, sums are loaded and stored for too little
constexpr int64_t stripFloats = 4096; ///< sums that a core's first cache holds beside the matrix
constexpr int64_t depthStep = 4, rowStep = 4, columnStep = 4;
constexpr int64_t fetchAhead = 8; ///< rows of b, by which these are asked for

using Vector __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(64)));
constexpr int64_t lanes = sizeof(Vector) / sizeof(float);

/// What four rows of b are multiplied by, for four sums.
using Factors = float[rowStep][depthStep];

/// sums[r, j] += Σ_k factors[r, k] · b[k, j] for whole vectors of columns; fetches every
/// `fetchStep`-th of the four rows of b that come next, from `fetchFrom` on.
__attribute__((target_clones("arch=x86-64-v4", "default"))) void
addProducts(const Factors &factors, const float *b, int64_t pitch, int64_t columns, float *sums,
            int64_t sumPitch, int64_t fetchFrom, int64_t fetchStep) {
  for (int64_t j = 0; j + lanes <= columns; j += lanes) {
    for (int64_t k = fetchFrom; k < depthStep; k += fetchStep)
      __builtin_prefetch(b + (fetchAhead + k) * pitch + j, 0, 2);
    Vector rows[depthStep];
    for (int64_t k = 0; k < depthStep; ++k)
      rows[k] = *reinterpret_cast<const Vector *>(b + k * pitch + j);
    for (int64_t r = 0; r < rowStep; ++r) {
      auto *to = reinterpret_cast<Vector *>(sums + r * sumPitch + j);
      Vector sum = *to;
      for (int64_t k = 0; k < depthStep; ++k)
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
class Strip {
public:
  Strip(const Matrix &a, const Matrix &b, const Matrix &c, int64_t column, int64_t columns,
        std::vector<float> &memory)
      : a(a), b(b), c(c), column(column), columns(columns),
        groups((c.rows + rowStep - 1) / rowStep) {
    memory.assign(groups * rowStep * columns, 0.0f); // rows that c does not have cost nothing
    sums = memory.data();
  }

  void run(bool accumulate) {
    int64_t depth = a.columns / depthStep * depthStep, whole = columns / lanes * lanes;
    for (int64_t k = 0; k < depth; k += depthStep)
      for (int64_t group = 0; group < groups; ++group)
        add(group * rowStep, k, k + fetchAhead + depthStep <= a.columns ? group : depthStep);
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
    Factors factors = {};
    for (int64_t r = 0; r < std::min(rowStep, c.rows - row); ++r)
      for (int64_t i = 0; i < depthStep; ++i)
        factors[r][i] = *getFloats(a, row + r, k + i);
    addProducts(factors, getFloats(b, k, column), b.rowStride, columns, sums + row * columns,
                columns, fetchFrom, groups);
  }

  /// What does not fill vectors, or four rows of b.
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

void multiplyRowMajor(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  thread_local std::vector<float> sums;
  int64_t rows = (c.rows + rowStep - 1) / rowStep * rowStep;
  int64_t most = stripFloats / rows / lanes * lanes;
  for (int64_t column = 0; column < c.columns; column += most)
    Strip(a, b, c, column, std::min(most, c.columns - column), sums).run(accumulate);
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

/// Sums of four rows of a by four columns of b.
using Sums = float[rowStep][columnStep];

/// Adds up the first `depth` products, whole vectors of them; fetches every `fetchStep`-th of the
/// columns that lie `fetchPitch` behind, from `fetchFrom` on.
__attribute__((target_clones("arch=x86-64-v4", "default"))) void
addDots(const float *const (&rows)[rowStep], const float *const (&columns)[columnStep],
        int64_t depth, int64_t fetchPitch, int64_t fetchFrom, int64_t fetchStep, Sums &sums) {
  Vector parts[rowStep][columnStep] = {};
  for (int64_t k = 0; k + lanes <= depth; k += lanes) {
    Vector right[columnStep];
    for (int64_t j = 0; j < columnStep; ++j)
      right[j] = *reinterpret_cast<const Vector *>(columns[j] + k);
    for (int64_t j = fetchFrom; j < columnStep; j += fetchStep)
      __builtin_prefetch(columns[j] + fetchPitch + k, 0, 2);
    for (int64_t r = 0; r < rowStep; ++r) {
      Vector left = *reinterpret_cast<const Vector *>(rows[r] + k);
      for (int64_t j = 0; j < columnStep; ++j)
        parts[r][j] += left * right[j];
    }
  }
  for (int64_t r = 0; r < rowStep; ++r)
    for (int64_t j = 0; j < columnStep; ++j)
      sums[r][j] = addUp(parts[r][j]);
}

/// Four rows and columns of the result, or as many as there are: others are computed again.
void multiplyDots(const Matrix &a, const Matrix &b, const Matrix &c, int64_t row, int64_t column,
                  bool accumulate) {
  const float *rows[rowStep], *columns[columnStep];
  for (int64_t r = 0; r < rowStep; ++r)
    rows[r] = getFloats(a, std::min(row + r, c.rows - 1), 0);
  for (int64_t j = 0; j < columnStep; ++j)
    columns[j] = getFloats(b, 0, std::min(column + j, c.columns - 1));
  // Each group of rows fetches its share of what is next: memory is never left waiting.
  bool fetches = column + 2 * columnStep <= c.columns;
  Sums sums;
  addDots(rows, columns, a.columns, columnStep * b.columnStride,
          fetches ? row / rowStep : columnStep, (c.rows + rowStep - 1) / rowStep, sums);
  for (int64_t r = 0; r < std::min(rowStep, c.rows - row); ++r)
    for (int64_t j = 0; j < std::min(columnStep, c.columns - column); ++j) {
      for (int64_t k = a.columns / lanes * lanes; k < a.columns; ++k)
        sums[r][j] += rows[r][k] * columns[j][k];
      float &to = *getFloats(c, row + r, column + j);
      to = accumulate ? to + sums[r][j] : sums[r][j];
    }
}

void multiplyColumnMajor(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  for (int64_t column = 0; column < c.columns; column += columnStep)
    for (int64_t row = 0; row < c.rows; row += rowStep)
      multiplyDots(a, b, c, row, column, accumulate);
}

} // namespace

bool isOfFewRows(const Matrix &a, const Matrix &b, const Matrix &c) {
  static const bool hasWideVectors = __builtin_cpu_supports("x86-64-v4");
  bool areFloats = a.dtype == program::F32 && b.dtype == program::F32 && c.dtype == program::F32;
  if (!hasWideVectors || !areFloats || c.rows < leastRows || c.rows > mostRows ||
      a.columns < leastDepth || c.columnStride != 1 || c.columns < lanes)
    return false;
  return b.columnStride == 1 ||
         (b.rowStride == 1 && a.columnStride == 1 && c.rows <= mostRowsOfDots);
}

void multiplyFewRows(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  if (b.columnStride == 1)
    return multiplyRowMajor(a, b, c, accumulate);
  multiplyColumnMajor(a, b, c, accumulate);
}

} // namespace weft::runtime

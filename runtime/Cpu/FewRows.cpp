#include "runtime/Cpu/FewRows.h"

#include "runtime/Cpu/Vectors.h"

#include <algorithm>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t mostRows = 16; ///< of more, arithmetic takes as long as reading the matrix
constexpr int64_t mostRowsOfDots = 12;
constexpr int64_t leastDepth = 32;    ///< of less, sums are loaded and stored for too little
constexpr int64_t stripFloats = 4096; ///< sums that a core's first cache holds beside the matrix

// Elements of b, which are widened as they are read.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

using HalfVector __attribute__((aligned(2), may_alias)) = _Float16 __attribute__((vector_size(32)));
using BitsVector __attribute__((aligned(2), may_alias)) = uint16_t __attribute__((vector_size(32)));
using WideBits = uint32_t __attribute__((vector_size(64)));

__attribute__((always_inline)) inline void load(const float *from, Vector &to) {
  to = *reinterpret_cast<const Vector *>(from);
}
__attribute__((always_inline)) inline void load(const Half *from, Vector &to) {
  to = __builtin_convertvector(*reinterpret_cast<const HalfVector *>(from), Vector);
}
__attribute__((always_inline)) inline void load(const Bfloat *from, Vector &to) {
  WideBits bits = __builtin_convertvector(*reinterpret_cast<const BitsVector *>(from), WideBits)
                  << 16;
  __builtin_memcpy(&to, &bits, sizeof(to));
}

/// Asks for the line of memory that begins at element `j`, where one begins there.
template <typename E> __attribute__((always_inline)) inline void fetch(const E *line, int64_t j) {
  constexpr int64_t elements = 64 / sizeof(E);
  if (j % elements == 0)
    __builtin_prefetch(line + j, 0, 2);
}

float toFloat(float element) { return element; }
float toFloat(Half element) { return halfToFloat(element.bits); }
float toFloat(Bfloat element) { return bfloatToFloat(element.bits); }

/// What is computed at a time: so many rows of the result, from so many lines of b (its rows, or
/// its columns), whose elements are E, while the next of b are asked for. `isWide`: by AVX-512;
/// else by AVX2, two of whose vectors are one here.
template <int64_t rows, int64_t lines, typename E, bool isWide> struct Tile {
  using Element = E;
  static constexpr bool isOfWideVectors = isWide;
  static constexpr int64_t rowStep = rows, lineStep = lines;
  static constexpr int64_t fetchAhead =
      std::max<int64_t>(lines, 8); ///< rows of b, by which these are asked for
};

/// What the tile's rows of b are multiplied by, for each of its sums.
template <typename T> using Factors = float[T::rowStep][T::lineStep];

/// sums[r, j] += Σ_k factors[r, k] · b[k, j] for whole vectors of columns; fetches every
/// `fetchStep`-th of the rows of b that come next, from `fetchFrom` on.
template <typename T>
WEFT_AVX512 void addProductsWide(const Factors<T> &factors, const typename T::Element *b,
                                 int64_t pitch, int64_t columns, float *sums, int64_t sumPitch,
                                 int64_t fetchFrom, int64_t fetchStep) {
  for (int64_t j = 0; j + lanes <= columns; j += lanes) {
    for (int64_t k = fetchFrom; k < T::lineStep; k += fetchStep)
      fetch(b + (T::fetchAhead + k) * pitch, j);
    Vector rows[T::lineStep];
    for (int64_t k = 0; k < T::lineStep; ++k)
      load(b + k * pitch + j, rows[k]);
    for (int64_t r = 0; r < T::rowStep; ++r) {
      auto *to = reinterpret_cast<Vector *>(sums + r * sumPitch + j);
      Vector sum = *to;
      for (int64_t k = 0; k < T::lineStep; ++k)
        sum += factors[r][k] * rows[k];
      *to = sum;
    }
  }
}

/// The same with half as many registers, half as wide: sums of a few rows stay in them while all
/// rows of b are read, which a core's first cache holds for the next few.
template <typename T>
WEFT_AVX2 void addProductsNarrow(const Factors<T> &factors, const typename T::Element *b,
                                 int64_t pitch, int64_t columns, float *sums, int64_t sumPitch,
                                 int64_t fetchFrom, int64_t fetchStep) {
  constexpr int64_t few = std::min<int64_t>(T::rowStep, 4);
  static_assert(T::rowStep % few == 0);
  for (int64_t j = 0; j + lanes <= columns; j += lanes) {
    for (int64_t k = fetchFrom; k < T::lineStep; k += fetchStep)
      fetch(b + (T::fetchAhead + k) * pitch, j);
    for (int64_t first = 0; first < T::rowStep; first += few) {
      Vector parts[few];
      for (int64_t r = 0; r < few; ++r)
        parts[r] = *reinterpret_cast<Vector *>(sums + (first + r) * sumPitch + j);
      for (int64_t k = 0; k < T::lineStep; ++k) {
        Vector row;
        load(b + k * pitch + j, row);
        for (int64_t r = 0; r < few; ++r)
          parts[r] += factors[first + r][k] * row;
      }
      for (int64_t r = 0; r < few; ++r)
        *reinterpret_cast<Vector *>(sums + (first + r) * sumPitch + j) = parts[r];
    }
  }
}

template <typename E> E *getElements(const Matrix &m, int64_t row, int64_t column) {
  return reinterpret_cast<E *>(m.data) + row * m.rowStride + column * m.columnStride;
}

//===----------------------------------------------------------------------===//
// Rows of b in one piece
//===----------------------------------------------------------------------===//

/// A strip of columns of the result.
template <typename T> class Strip {
  using Element = typename T::Element;

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
      float *to = getElements<float>(c, row, column);
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
        factors[r][i] = *getElements<float>(a, row + r, k + i);
    const Element *from = getElements<Element>(b, k, column);
    float *to = sums + row * columns;
    if constexpr (T::isOfWideVectors)
      addProductsWide<T>(factors, from, b.rowStride, columns, to, columns, fetchFrom, groups);
    else
      addProductsNarrow<T>(factors, from, b.rowStride, columns, to, columns, fetchFrom, groups);
  }

  /// What does not fill vectors, or a tile's rows of b.
  void addPlainly(int64_t fromDepth, int64_t toDepth, int64_t fromColumn, int64_t toColumn) {
    if (fromColumn == toColumn)
      return;
    for (int64_t row = 0; row < c.rows; ++row)
      for (int64_t k = fromDepth; k < toDepth; ++k) {
        float factor = *getElements<float>(a, row, k);
        const Element *from = getElements<Element>(b, k, column);
        for (int64_t j = fromColumn; j < toColumn; ++j)
          sums[row * columns + j] += factor * toFloat(from[j]);
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

using HalfOfVector = float __attribute__((vector_size(32)));
using QuarterOfVector = float __attribute__((vector_size(16)));

__attribute__((always_inline)) inline float addUp(const Vector &v) {
  HalfOfVector half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  QuarterOfVector quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                            __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/// Sums of the tile's rows of a by its columns of b.
template <typename T> using Sums = float[T::rowStep][T::lineStep];

/// Adds up the first `depth` products, whole vectors of them; fetches every `fetchStep`-th of the
/// columns that lie `fetchPitch` behind, from `fetchFrom` on.
template <typename T>
__attribute__((always_inline)) inline void
addDotsHere(const float *const (&rows)[T::rowStep],
            const typename T::Element *const (&columns)[T::lineStep], int64_t depth,
            int64_t fetchPitch, int64_t fetchFrom, int64_t fetchStep, Sums<T> &sums) {
  Vector parts[T::rowStep][T::lineStep] = {};
  for (int64_t k = 0; k + lanes <= depth; k += lanes) {
    Vector right[T::lineStep];
    for (int64_t j = 0; j < T::lineStep; ++j)
      load(columns[j] + k, right[j]);
    for (int64_t j = fetchFrom; j < T::lineStep; j += fetchStep)
      fetch(columns[j] + fetchPitch, k);
    for (int64_t r = 0; r < T::rowStep; ++r) {
      Vector left;
      load(rows[r] + k, left);
      for (int64_t j = 0; j < T::lineStep; ++j)
        parts[r][j] += left * right[j];
    }
  }
  for (int64_t r = 0; r < T::rowStep; ++r)
    for (int64_t j = 0; j < T::lineStep; ++j)
      sums[r][j] = addUp(parts[r][j]);
}

template <typename T, typename... Given>
WEFT_AVX512 void addDotsWide(Sums<T> &sums, const Given &...given) {
  addDotsHere<T>(given..., sums);
}

template <typename T, typename... Given>
WEFT_AVX2 void addDotsNarrow(Sums<T> &sums, const Given &...given) {
  addDotsHere<T>(given..., sums);
}

/// A tile of the result, or as much as there is: other rows and columns are computed again.
template <typename T>
void multiplyDots(const Matrix &a, const Matrix &b, const Matrix &c, int64_t row, int64_t column,
                  bool accumulate) {
  using Element = typename T::Element;
  const float *rows[T::rowStep];
  const Element *columns[T::lineStep];
  for (int64_t r = 0; r < T::rowStep; ++r)
    rows[r] = getElements<float>(a, std::min(row + r, c.rows - 1), 0);
  for (int64_t j = 0; j < T::lineStep; ++j)
    columns[j] = getElements<Element>(b, 0, std::min(column + j, c.columns - 1));
  // Each group of rows fetches its share of what is next: memory is never left waiting.
  bool fetches = column + 2 * T::lineStep <= c.columns;
  int64_t groups = (c.rows + T::rowStep - 1) / T::rowStep, pitch = T::lineStep * b.columnStride;
  int64_t fetchFrom = fetches ? row / T::rowStep : T::lineStep;
  Sums<T> sums;
  if constexpr (T::isOfWideVectors)
    addDotsWide<T>(sums, rows, columns, a.columns, pitch, fetchFrom, groups);
  else
    addDotsNarrow<T>(sums, rows, columns, a.columns, pitch, fetchFrom, groups);
  for (int64_t r = 0; r < std::min(T::rowStep, c.rows - row); ++r)
    for (int64_t j = 0; j < std::min(T::lineStep, c.columns - column); ++j) {
      for (int64_t k = a.columns / lanes * lanes; k < a.columns; ++k)
        sums[r][j] += rows[r][k] * toFloat(columns[j][k]);
      float &to = *getElements<float>(c, row + r, column + j);
      to = accumulate ? to + sums[r][j] : sums[r][j];
    }
}

template <typename T>
void multiplyColumnMajor(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  for (int64_t column = 0; column < c.columns; column += T::lineStep)
    for (int64_t row = 0; row < c.rows; row += T::rowStep)
      multiplyDots<T>(a, b, c, row, column, accumulate);
}

/// One row has so little arithmetic that what counts is how many lines are on their way.
template <typename E>
void multiplyBy(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate, bool areWide) {
  bool hasRows = b.columnStride == 1;
  if (areWide) {
    if (c.rows == 1)
      return hasRows ? multiplyRowMajor<Tile<1, 8, E, true>>(a, b, c, accumulate)
                     : multiplyColumnMajor<Tile<1, 8, E, true>>(a, b, c, accumulate);
    return hasRows ? multiplyRowMajor<Tile<4, 4, E, true>>(a, b, c, accumulate)
                   : multiplyColumnMajor<Tile<4, 4, E, true>>(a, b, c, accumulate);
  }
  if (c.rows == 1)
    return hasRows ? multiplyRowMajor<Tile<1, 8, E, false>>(a, b, c, accumulate)
                   : multiplyColumnMajor<Tile<1, 4, E, false>>(a, b, c, accumulate);
  if (!hasRows)
    return multiplyColumnMajor<Tile<2, 2, E, false>>(a, b, c, accumulate);
  if (c.rows <= 4)
    return multiplyRowMajor<Tile<4, 16, E, false>>(a, b, c, accumulate);
  if (c.rows <= 8)
    return multiplyRowMajor<Tile<8, 16, E, false>>(a, b, c, accumulate);
  if (c.rows <= 12)
    return multiplyRowMajor<Tile<12, 16, E, false>>(a, b, c, accumulate);
  return multiplyRowMajor<Tile<16, 16, E, false>>(a, b, c, accumulate);
}

} // namespace

bool isOfFewRows(const Matrix &a, const Matrix &b, const Matrix &c) {
  static const bool hasVectors = __builtin_cpu_supports("x86-64-v3");
  auto isNarrow = [](const Matrix &m) {
    return m.dtype == program::F16 || m.dtype == program::BF16;
  };
  auto isReal = [&](const Matrix &m) { return m.dtype == program::F32 || isNarrow(m); };
  if (!hasVectors || !isReal(a) || !isReal(b) || !isReal(c) || c.rows > mostRows ||
      a.columns < leastDepth || c.columns < lanes || (c.columnStride != 1 && !isNarrow(c)))
    return false;
  bool hasRows = a.columnStride == 1 || isNarrow(a);
  return b.columnStride == 1 || (b.rowStride == 1 && hasRows && c.rows <= mostRowsOfDots);
}

bool hasWideVectors() {
  static const bool has = __builtin_cpu_supports("x86-64-v4");
  return has;
}

void multiplyFewRows(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate,
                     bool areWide) {
  if (b.dtype == program::F32)
    return multiplyBy<float>(a, b, c, accumulate, areWide);
  if (b.dtype == program::F16)
    return multiplyBy<Half>(a, b, c, accumulate, areWide);
  multiplyBy<Bfloat>(a, b, c, accumulate, areWide);
}

} // namespace weft::runtime

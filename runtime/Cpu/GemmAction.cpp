//===- GemmAction.cpp - batched matrix products over the pool -------------===//
//
// c[batch…, m, n] = Σ_k a[batch…, m, k] · b[batch…, k, n]. Batch dimensions that continue the rows
// are merged into them: a projection of [batch, sequence, features] by one weight is a single tall
// product. What remains is cut into blocks (ProductBlocks.h), each one call of the library.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/ColumnProduct.h"
#include "runtime/Cpu/FewRows.h"
#include "runtime/Cpu/Gemm.h"
#include "runtime/Cpu/MatrixLayout.h"
#include "runtime/Cpu/PanelProduct.h"
#include "runtime/Cpu/ProductBlocks.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t minThreadWork = 1 << 16; // multiplications worth a thread of its own
constexpr int64_t rowsByColumns = 512;     // of a block, to transpose the right factor for

class GemmAction : public Action {
public:
  GemmAction(View left, View right, View result, bool accumulate)
      : a(std::move(left)), b(std::move(right)), c(std::move(result)), accumulate(accumulate) {
    mergeBatchIntoRows();
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    size_t rank = c.shape.size();
    int64_t rows = c.shape[rank - 2], columns = c.shape[rank - 1], depth = a.shape[rank - 1];
    int64_t products = 1;
    for (size_t i = 0; i + 2 < rank; ++i)
      products *= c.shape[i];
    if (products == 0)
      return;
    Matrix left = getMatrix(a, bases, 0), right = getMatrix(b, bases, 0),
           result = getMatrix(c, bases, 0);
    bool isNarrow = c.dtype == program::F16 || c.dtype == program::BF16;
    bool isWidened = isNarrow && !isOfBfloats(left, right, result);
    BlockLimits limits = getLimits(left, right, result);
    if (isWidened) // rows once for all columns; columns that are widened are used for all rows
      limits.minRows = std::max<int64_t>(rows, 1);
    ProductBlocks blocks = chooseBlocks(products, rows, columns, depth, limits);
    int64_t work = std::max<int64_t>(1, blocks.rows * blocks.columns * depth);
    int64_t grain = std::max<int64_t>(1, minThreadWork / work);
    if (products == 1 && isOfColumns(left, right, result))
      return runByColumns(left, right, result, blocks, pool);
    auto run = [&](const Matrix *widened) {
      pool.parallelFor(products * blocks.getCount(), grain, [&](int64_t lo, int64_t hi) {
        for (int64_t task = lo; task < hi; ++task) {
          int64_t product = task / blocks.getCount();
          Matrix factor = widened ? *widened : getMatrix(a, bases, product);
          runBlock(bases, factor, product, blocks, task % blocks.getCount());
        }
      });
    };
    if (!isWidened || products != 1 || blocks.columnBlocks == 1)
      return run(nullptr);
    Matrix widened = widenLeft(left, pool);
    run(&widened);
  }

private:
  /// What the way in which blocks are multiplied wants of them.
  static BlockLimits getLimits(const Matrix &left, const Matrix &right, const Matrix &result) {
    BlockLimits limits;
    // Panels want more rows, and many blocks cost them little: threads are not all as fast.
    if (isOfPanels(left, right, result)) {
      limits.minRows = 128;
      limits.someBlocks = 16;
    }
    // A matrix by columns is transposed, or read, for every block of rows.
    if (right.rowStride == 1 && right.columnStride != 1)
      limits.goodRows = rowsByColumns;
    limits.readsColumns = right.rowStride == 1 && isOfFewRows(left, right, result);
    return limits;
  }

  /// Merges the last batch dimension into the rows while b does not depend on it and rows continue
  /// it.
  void mergeBatchIntoRows() {
    while (c.shape.size() > 2) {
      size_t m = c.shape.size() - 2, batch = m - 1;
      if (c.shape[batch] != 1) {
        bool continues = b.strides[batch] == 0 && c.shape[m] > 0;
        for (const View *view : {&a, &c})
          continues &= view->strides[batch] == view->shape[m] * view->strides[m];
        if (!continues)
          return;
        for (View *view : {&a, &c})
          view->shape[m] *= view->shape[batch];
      }
      for (View *view : {&a, &b, &c}) {
        view->shape.erase(view->shape.begin() + batch);
        view->strides.erase(view->strides.begin() + batch);
      }
    }
  }

  /// The matrix of one product of the batch.
  Matrix getMatrix(const View &view, const Bases &bases, int64_t product) const {
    size_t rank = view.shape.size();
    int64_t offset = 0;
    for (size_t dim = rank - 2; dim-- > 0; product /= c.shape[dim])
      offset += product % c.shape[dim] * view.strides[dim];
    return {view.getAddress(bases) + offset * getElementSize(view.dtype),
            view.shape[rank - 2],
            view.shape[rank - 1],
            view.strides[rank - 2],
            view.strides[rank - 1],
            view.dtype};
  }

  /// A copy of f32, in memory of the calling thread.
  static Matrix widenLeft(const Matrix &left, ThreadPool &pool) {
    thread_local std::vector<float> memory;
    memory.resize(left.rows * left.columns);
    float *to = memory.data();
    int64_t grain = std::max<int64_t>(1, minThreadWork / std::max<int64_t>(left.columns, 1));
    pool.parallelFor(left.rows, grain,
                     [&](int64_t lo, int64_t hi) { widenRows(left, to, lo, hi); });
    return {reinterpret_cast<std::byte *>(to), left.rows, left.columns, left.columns, 1};
  }

  /// Computes one block of one product of the batch, whose left factor is `left`.
  void runBlock(const Bases &bases, Matrix left, int64_t product, const ProductBlocks &blocks,
                int64_t number) const {
    Matrix right = getMatrix(b, bases, product), result = getMatrix(c, bases, product);
    int64_t row = number / blocks.columnBlocks * blocks.rows;
    int64_t column = number % blocks.columnBlocks * blocks.columns;
    left.data += row * left.rowStride * getElementSize(left.dtype);
    right.data += column * right.columnStride * getElementSize(right.dtype);
    result.data +=
        (row * result.rowStride + column * result.columnStride) * getElementSize(result.dtype);
    left.rows = result.rows = std::min(blocks.rows, result.rows - row);
    right.columns = result.columns = std::min(blocks.columns, result.columns - column);
    multiply(left, right, result, accumulate);
  }

  /// One product whose left factor is packed once for all blocks, which are of columns alone.
  void runByColumns(const Matrix &left, const Matrix &right, const Matrix &result,
                    const ProductBlocks &blocks, ThreadPool &pool) const {
    RowPanels panels(left);
    pool.parallelFor(panels.getCount(), 1, [&](int64_t lo, int64_t hi) {
      for (int64_t number = lo; number < hi; ++number)
        panels.make(number);
    });
    pool.parallelFor(blocks.columnBlocks, 1, [&](int64_t lo, int64_t hi) {
      int64_t begin = lo * blocks.columns, end = std::min(hi * blocks.columns, result.columns);
      Matrix some = right, to = result;
      some.data += begin * right.columnStride * getElementSize(right.dtype);
      to.data += begin * result.columnStride * getElementSize(result.dtype);
      some.columns = to.columns = end - begin;
      panels.multiply(some, to, accumulate);
    });
  }

  View a;
  View b;
  View c;
  bool accumulate;
};

} // namespace

std::unique_ptr<Action> makeGemmAction(View a, View b, View c, bool accumulate) {
  size_t rank = c.shape.size();
  bool fits = rank >= 2 && a.shape.size() == rank && b.shape.size() == rank && a.dtype == c.dtype &&
              b.dtype == c.dtype;
  for (size_t i = 0; fits && i + 2 < rank; ++i)
    fits = a.shape[i] == c.shape[i] && b.shape[i] == c.shape[i];
  if (!fits || a.shape[rank - 2] != c.shape[rank - 2] || b.shape[rank - 1] != c.shape[rank - 1] ||
      a.shape[rank - 1] != b.shape[rank - 2])
    throwBadInput("a matrix product of operands that do not fit");
  return std::make_unique<GemmAction>(std::move(a), std::move(b), std::move(c), accumulate);
}

} // namespace weft::runtime

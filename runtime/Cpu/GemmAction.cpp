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
#include "runtime/Device/MatrixProduct.h"

#include <algorithm>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t minThreadWork = 1 << 16; // multiplications worth a thread of its own
constexpr int64_t rowsByColumns = 512;     // of a block, to transpose the right factor for

class GemmAction : public Action {
public:
  explicit GemmAction(GemmCall call)
      : a(std::move(call.a)), b(std::move(call.b)), c(std::move(call.c)),
        accumulate(call.accumulate) {}

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
  GemmCall call{std::move(a), std::move(b), std::move(c), accumulate};
  checkGemm(call);
  mergeBatchIntoRows(call);
  return std::make_unique<GemmAction>(std::move(call));
}

} // namespace weft::runtime

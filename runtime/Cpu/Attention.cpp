//===- Attention.cpp - attention in blocks of queries ---------------------===//
//
// Some queries of one head at a time: their scores are a product by the library, become
// exponentials where they lie, and are multiplied with the values, all while a core's cache holds
// them. No more scores than these are ever held, and what no query of a block sees is not computed.
// The sums of the exponentials divide the result: it has fewer elements than the scores.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/Gemm.h"
#include "runtime/Cpu/Softmax.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t blockScores = 1 << 16; ///< of a block that has rows enough: 256 KiB of a cache
constexpr int64_t leastRows = 64;        ///< of fewer, the library packs keys for too little
constexpr int64_t bandRows = 64;         ///< where a block sees only some of the keys
constexpr int64_t rowMultiple = 8;
constexpr int64_t minThreadWork = 1 << 16; ///< multiplications worth a thread of its own

constexpr float negativeInfinity = -std::numeric_limits<float>::infinity();

/// Of 32 bits or less.
bool isNarrowFloat(DType dtype) { return isFloat(dtype) && getElementSize(dtype) <= 4; }

int64_t divideUp(int64_t extent, int64_t part) { return (extent + part - 1) / part; }

/// Queries of one head that are computed together, and the keys that any of them sees.
struct Block {
  int64_t batch, head, group;
  int64_t firstRow, rows;
  int64_t firstKey, keys;
  int64_t pitch; ///< floats of a row of scores
};

/// Memory of a thread.
struct Scratch {
  std::vector<float> query, scores, result, bias;
};

class AttentionAction : public Action {
public:
  explicit AttentionAction(AttentionCall given) : call(std::move(given)) {
    check();
    queries = call.query.shape[2];
    keys = call.key.shape[2];
    // Distances beyond all positions, which would leave the range of sums with them.
    for (std::optional<int64_t> *bound : {&call.low, &call.high})
      if (*bound)
        *bound = std::clamp(**bound, -queries - keys, queries + keys);
    hidesKeys = call.mask || call.low || call.high;
    // A masked score that is no infinity gives equal weights where all are masked.
    fill = call.maskedRows == program::MASKED_ROWS_UNIFORM ? std::numeric_limits<float>::lowest()
                                                           : negativeInfinity;
    rows = std::max(leastRows, blockScores / std::max<int64_t>(keys, 1));
    if (call.low || call.high)
      rows = std::min(rows, bandRows);
    rows = std::max<int64_t>(1, std::min(queries, divideUp(rows, rowMultiple) * rowMultiple));
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    int64_t blocks = divideUp(queries, rows);
    int64_t count = call.query.shape[0] * call.query.shape[1] * blocks;
    int64_t work = rows * keys * (call.query.shape[3] + call.value.shape[3]);
    int64_t grain = std::max<int64_t>(1, minThreadWork / std::max<int64_t>(1, work));
    pool.parallelFor(count, grain, [&](int64_t lo, int64_t hi) {
      thread_local Scratch scratch;
      for (int64_t number = lo; number < hi; ++number)
        run(bases, makeBlock(number / blocks, number % blocks * rows), scratch);
    });
  }

private:
  static void checkExtents(const View &view, const std::vector<int64_t> &expected) {
    if (view.shape != expected)
      throwBadInput("attention of operands that do not fit");
  }

  void check() const {
    const std::vector<int64_t> &q = call.query.shape, &v = call.value.shape;
    if (q.size() != 4 || v.size() != 4 || v[1] < 1 || q[1] % v[1] != 0)
      throwBadInput("attention of operands that do not fit");
    checkExtents(call.key, {q[0], v[1], v[2], q[3]});
    checkExtents(call.value, {q[0], v[1], v[2], v[3]});
    checkExtents(call.output, {q[0], q[1], q[2], v[3]});
    for (const std::optional<View> *scores : {&call.mask, &call.bias})
      if (*scores)
        checkExtents(**scores, {q[0], q[1], q[2], v[2]});
    if (call.logSums)
      checkExtents(*call.logSums, {q[0], q[1], q[2]});
    DType dtype = call.query.dtype;
    bool fits = call.key.dtype == dtype && call.value.dtype == dtype &&
                call.output.dtype == dtype && (!call.bias || call.bias->dtype == dtype) &&
                (!call.mask || call.mask->dtype == program::I1);
    if (!fits || !isNarrowFloat(dtype) || (call.logSums && !isNarrowFloat(call.logSums->dtype)))
      throwBadInput("attention of {}", getName(dtype));
    if (v[3] > 1 && call.output.strides[3] != 1)
      throwBadInput("attention whose output has gaps in its rows");
  }

  /// The first key that query `row` sees, and the one behind the last.
  std::pair<int64_t, int64_t> getBand(int64_t row) const {
    int64_t first = call.low ? std::clamp<int64_t>(row + *call.low, 0, keys) : 0;
    int64_t end = call.high ? std::clamp<int64_t>(row + *call.high + 1, 0, keys) : keys;
    return {std::min(first, end), end};
  }

  Block makeBlock(int64_t head, int64_t firstRow) const {
    int64_t heads = call.query.shape[1], groups = call.key.shape[1];
    Block block;
    block.batch = head / heads;
    block.head = head % heads;
    block.group = block.head / (heads / groups);
    block.firstRow = firstRow;
    block.rows = std::min(rows, queries - firstRow);
    bool weighsAll = call.maskedRows == program::MASKED_ROWS_UNIFORM; // even what no query sees
    block.firstKey = weighsAll ? 0 : getBand(firstRow).first;
    int64_t end = weighsAll ? keys : getBand(firstRow + block.rows - 1).second;
    block.keys = std::max<int64_t>(0, end - block.firstKey);
    block.pitch = divideUp(block.keys, scoreLanes) * scoreLanes;
    return block;
  }

  /// `count` rows from `first` on of a head of [b, h, s, d].
  static Matrix getMatrix(const View &view, const Bases &bases, int64_t batch, int64_t head,
                          int64_t first, int64_t count) {
    int64_t offset = batch * view.strides[0] + head * view.strides[1] + first * view.strides[2];
    return {view.getAddress(bases) + offset * getElementSize(view.dtype),
            count,
            view.shape[3],
            view.strides[2],
            view.strides[3],
            view.dtype};
  }

  static Matrix getMatrix(std::vector<float> &memory, int64_t rows, int64_t columns,
                          int64_t pitch) {
    memory.resize(rows * pitch);
    return {reinterpret_cast<std::byte *>(memory.data()), rows, columns, pitch, 1};
  }

  void run(const Bases &bases, const Block &block, Scratch &scratch) const {
    Matrix keyPart =
        getMatrix(call.key, bases, block.batch, block.group, block.firstKey, block.keys);
    Matrix valuePart =
        getMatrix(call.value, bases, block.batch, block.group, block.firstKey, block.keys);
    Matrix output =
        getMatrix(call.output, bases, block.batch, block.head, block.firstRow, block.rows);
    Matrix scores = getMatrix(scratch.scores, block.rows, block.keys, block.pitch);
    multiply(scaleQuery(bases, block, scratch), keyPart.transposed(), scores, false);
    Matrix result = output;
    if (output.dtype != program::F32)
      result = getMatrix(scratch.result, block.rows, output.columns, output.columns);
    thread_local std::vector<Exponentials> sums;
    sums.resize(block.rows);
    for (int64_t i = 0; i < block.rows; ++i) {
      float *row = scratch.scores.data() + i * block.pitch;
      hide(bases, block, i, row, scratch.bias);
      sums[i] = exponentiate(row, block.pitch);
    }
    multiply(scores, valuePart, result, false);
    for (int64_t i = 0; i < block.rows; ++i)
      finish(bases, block, i, sums[i], getRow(result, i), getRow(output, i));
  }

  static std::byte *getRow(const Matrix &matrix, int64_t i) {
    return matrix.data + i * matrix.rowStride * getElementSize(matrix.dtype);
  }

  /// The block's queries in f32, scaled.
  Matrix scaleQuery(const Bases &bases, const Block &block, Scratch &scratch) const {
    Matrix from = getMatrix(call.query, bases, block.batch, block.head, block.firstRow, block.rows);
    Matrix to = getMatrix(scratch.query, block.rows, from.columns, from.columns);
    widenRows(from, scratch.query.data(), 0, block.rows);
    auto factor = static_cast<float>(call.scale);
    for (float &element : scratch.query)
      element *= factor;
    return to;
  }

  /// Address of the first of the block's keys in row `i` of what has the extents of the scores.
  static std::byte *getScores(const View &view, const Bases &bases, const Block &block, int64_t i) {
    int64_t offset = block.batch * view.strides[0] + block.head * view.strides[1] +
                     (block.firstRow + i) * view.strides[2] + block.firstKey * view.strides[3];
    return view.getAddress(bases) + offset * getElementSize(view.dtype);
  }

  /// Caps the scores of row `i`, adds the bias, and fills what the query does not see.
  void hide(const Bases &bases, const Block &block, int64_t i, float *row,
            std::vector<float> &bias) const {
    std::fill(row + block.keys, row + block.pitch, negativeInfinity);
    if (call.softcap)
      capScores(row, block.keys, static_cast<float>(*call.softcap));
    if (call.bias)
      addBias(getScores(*call.bias, bases, block, i), block.keys, row, bias);
    if (call.mask) {
      const std::byte *visible = getScores(*call.mask, bases, block, i);
      int64_t stride = call.mask->strides[3];
      for (int64_t j = 0; j < block.keys; ++j)
        row[j] = visible[j * stride] != std::byte(0) ? row[j] : fill;
    }
    auto [first, end] = getBand(block.firstRow + i);
    std::fill(row, row + std::clamp<int64_t>(first - block.firstKey, 0, block.keys), fill);
    std::fill(row + std::clamp<int64_t>(end - block.firstKey, 0, block.keys), row + block.keys,
              fill);
  }

  void addBias(const std::byte *from, int64_t count, float *row, std::vector<float> &bias) const {
    int64_t stride = call.bias->strides[3], size = getElementSize(call.bias->dtype);
    bias.resize(count);
    if (stride == 1)
      widen(call.bias->dtype, from, bias.data(), count);
    else
      for (int64_t j = 0; j < count; ++j)
        widen(call.bias->dtype, from + j * stride * size, &bias[j], 1);
    for (int64_t j = 0; j < count; ++j)
      row[j] += bias[j];
  }

  /// Divides row `i` of the result by its sum, and writes the logarithm of that.
  void finish(const Bases &bases, const Block &block, int64_t i, Exponentials sums,
              std::byte *result, std::byte *output) const {
    auto *row = reinterpret_cast<float *>(result);
    int64_t columns = call.value.shape[3];
    bool clears = call.maskedRows == program::MASKED_ROWS_ZERO && (hidesKeys || call.bias);
    if (sums.sum == 0 && clears) {
      std::fill_n(row, columns, 0.0f);
    } else {
      float factor = 1.0f / sums.sum; // NaN = 0 · infinity where all scores are -inf
      for (int64_t e = 0; e < columns; ++e)
        row[e] *= factor;
    }
    if (result != output)
      narrow(call.output.dtype, row, output, columns);
    if (!call.logSums)
      return;
    const View &view = *call.logSums;
    int64_t offset = block.batch * view.strides[0] + block.head * view.strides[1] +
                     (block.firstRow + i) * view.strides[2];
    bool seesNone = sums.sum == 0 || (hidesKeys && sums.shift == fill);
    float logSum = seesNone ? negativeInfinity : sums.shift + std::log(sums.sum);
    narrow(view.dtype, &logSum, view.getAddress(bases) + offset * getElementSize(view.dtype), 1);
  }

  AttentionCall call;
  int64_t queries, keys;
  int64_t rows; ///< of a block
  bool hidesKeys;
  float fill; ///< the score of a key that a query does not see
};

} // namespace

std::unique_ptr<Action> makeAttentionAction(AttentionCall call) {
  return std::make_unique<AttentionAction>(std::move(call));
}

} // namespace weft::runtime

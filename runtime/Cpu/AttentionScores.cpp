#include "runtime/Cpu/AttentionScores.h"

#include "runtime/Cpu/Softmax.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <limits>

namespace weft::runtime {

namespace {

constexpr int64_t blockScores = 1 << 16; ///< of a block that has rows enough: 256 KiB of a cache
constexpr int64_t leastRows = 64;        ///< of fewer, the library packs keys for too little
constexpr int64_t bandRows = 64;         ///< where a block sees only some of the keys
constexpr int64_t rowMultiple = 8;

/// Of 32 bits or less.
bool isNarrowFloat(DType dtype) { return isFloat(dtype) && getElementSize(dtype) <= 4; }

int64_t divideUp(int64_t extent, int64_t part) { return (extent + part - 1) / part; }

/// `count` rows from `first` on of a head of [b, h, s, d].
Matrix getRows(const View &view, const Bases &bases, int64_t batch, int64_t head, int64_t first,
               int64_t count) {
  int64_t offset = batch * view.strides[0] + head * view.strides[1] + first * view.strides[2];
  return {view.getAddress(bases) + offset * getElementSize(view.dtype),
          count,
          view.shape[3],
          view.strides[2],
          view.strides[3],
          view.dtype};
}

/// Address of the first of the block's keys in row `i` of what has the extents of the scores.
std::byte *getScores(const View &view, const Bases &bases, const QueryBlock &block, int64_t i) {
  int64_t offset = block.batch * view.strides[0] + block.head * view.strides[1] +
                   (block.firstRow + i) * view.strides[2] + block.firstKey * view.strides[3];
  return view.getAddress(bases) + offset * getElementSize(view.dtype);
}

} // namespace

void checkAttentionExtents(const View &view, const std::vector<int64_t> &expected) {
  if (view.shape != expected)
    throwBadInput("attention of operands that do not fit");
}

Matrix makeMatrix(std::vector<float> &memory, int64_t rows, int64_t columns, int64_t pitch) {
  memory.resize(rows * pitch);
  return {reinterpret_cast<std::byte *>(memory.data()), rows, columns, pitch, 1};
}

std::byte *getRow(const Matrix &matrix, int64_t i) {
  return matrix.data + i * matrix.rowStride * getElementSize(matrix.dtype);
}

AttentionScores::AttentionScores(AttentionCall given) : call(std::move(given)) {
  check();
  queries = call.query.shape[2];
  keys = call.key.shape[2];
  // Distances beyond all positions, which would leave the range of sums with them.
  for (std::optional<int64_t> *bound : {&call.low, &call.high})
    if (*bound)
      *bound = std::clamp(**bound, -queries - keys, queries + keys);
  rows = std::max(leastRows, blockScores / std::max<int64_t>(keys, 1));
  if (call.low || call.high)
    rows = std::min(rows, bandRows);
  rows = std::max<int64_t>(1, std::min(queries, divideUp(rows, rowMultiple) * rowMultiple));
}

void AttentionScores::check() const {
  const std::vector<int64_t> &q = call.query.shape, &v = call.value.shape;
  if (q.size() != 4 || v.size() != 4 || v[1] < 1 || q[1] % v[1] != 0)
    throwBadInput("attention of operands that do not fit");
  checkAttentionExtents(call.key, {q[0], v[1], v[2], q[3]});
  checkAttentionExtents(call.value, {q[0], v[1], v[2], v[3]});
  checkAttentionExtents(call.output, {q[0], q[1], q[2], v[3]});
  for (const std::optional<View> *scores : {&call.mask, &call.bias})
    if (*scores)
      checkAttentionExtents(**scores, {q[0], q[1], q[2], v[2]});
  if (call.logSums)
    checkAttentionExtents(*call.logSums, {q[0], q[1], q[2]});
  DType dtype = call.query.dtype;
  bool fits = call.key.dtype == dtype && call.value.dtype == dtype && call.output.dtype == dtype &&
              (!call.bias || call.bias->dtype == dtype) &&
              (!call.mask || call.mask->dtype == program::I1);
  if (!fits || !isNarrowFloat(dtype) || (call.logSums && !isNarrowFloat(call.logSums->dtype)))
    throwBadInput("attention of {}", getName(dtype));
}

int64_t AttentionScores::getBlocksOfHead() const { return divideUp(queries, rows); }

/// The first key that query `row` sees, and the one behind the last.
std::pair<int64_t, int64_t> AttentionScores::getBand(int64_t row) const {
  int64_t first = call.low ? std::clamp<int64_t>(row + *call.low, 0, keys) : 0;
  int64_t end = call.high ? std::clamp<int64_t>(row + *call.high + 1, 0, keys) : keys;
  return {std::min(first, end), end};
}

bool AttentionScores::isVisible(const Bases &bases, const QueryBlock &block, int64_t i,
                                int64_t key) const {
  auto [first, end] = getBand(block.firstRow + i);
  int64_t position = block.firstKey + key;
  if (position < first || position >= end)
    return false;
  return !call.mask ||
         getScores(*call.mask, bases, block, i)[key * call.mask->strides[3]] != std::byte(0);
}

QueryBlock AttentionScores::makeBlock(int64_t batch, int64_t head, int64_t number) const {
  int64_t heads = call.query.shape[1], groups = call.key.shape[1];
  QueryBlock block;
  block.batch = batch;
  block.head = head;
  block.group = head / (heads / groups);
  block.firstRow = number * rows;
  block.rows = std::min(rows, queries - block.firstRow);
  bool weighsAll = call.maskedRows == program::MASKED_ROWS_UNIFORM; // even what no query sees
  block.firstKey = weighsAll ? 0 : getBand(block.firstRow).first;
  int64_t end = weighsAll ? keys : getBand(block.firstRow + block.rows - 1).second;
  block.keys = std::max<int64_t>(0, end - block.firstKey);
  block.pitch = divideUp(block.keys, scoreLanes) * scoreLanes;
  return block;
}

Matrix AttentionScores::getQueries(const View &view, const Bases &bases, const QueryBlock &block) {
  return getRows(view, bases, block.batch, block.head, block.firstRow, block.rows);
}

Matrix AttentionScores::getKeys(const View &view, const Bases &bases, const QueryBlock &block) {
  return getRows(view, bases, block.batch, block.group, block.firstKey, block.keys);
}

std::byte *AttentionScores::getLogSum(const Bases &bases, const QueryBlock &block,
                                      int64_t i) const {
  const View &view = *call.logSums;
  int64_t offset = block.batch * view.strides[0] + block.head * view.strides[1] +
                   (block.firstRow + i) * view.strides[2];
  return view.getAddress(bases) + offset * getElementSize(view.dtype);
}

Matrix AttentionScores::multiplyKeys(const Bases &bases, const QueryBlock &block,
                                     std::vector<float> &query, std::vector<float> &scores) const {
  Matrix from = getQueries(call.query, bases, block);
  Matrix scaled = makeMatrix(query, block.rows, from.columns, from.columns);
  widenRows(from, query.data(), 0, block.rows);
  auto factor = static_cast<float>(call.scale);
  for (float &element : query)
    element *= factor;
  Matrix result = makeMatrix(scores, block.rows, block.keys, block.pitch);
  multiply(scaled, getKeys(call.key, bases, block).transposed(), result, false);
  return result;
}

void AttentionScores::cap(const QueryBlock &block, float *row) const {
  if (call.softcap)
    capScores(row, block.keys, static_cast<float>(*call.softcap));
}

void AttentionScores::hide(const Bases &bases, const QueryBlock &block, int64_t i, float fill,
                           float *row, std::vector<float> &bias) const {
  std::fill(row + block.keys, row + block.pitch, -std::numeric_limits<float>::infinity());
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
  std::fill(row + std::clamp<int64_t>(end - block.firstKey, 0, block.keys), row + block.keys, fill);
}

void AttentionScores::addBias(const std::byte *from, int64_t count, float *row,
                              std::vector<float> &memory) const {
  int64_t stride = call.bias->strides[3], size = getElementSize(call.bias->dtype);
  memory.resize(count);
  if (stride == 1)
    widen(call.bias->dtype, from, memory.data(), count);
  else
    for (int64_t j = 0; j < count; ++j)
      widen(call.bias->dtype, from + j * stride * size, &memory[j], 1);
  for (int64_t j = 0; j < count; ++j)
    row[j] += memory[j];
}

} // namespace weft::runtime

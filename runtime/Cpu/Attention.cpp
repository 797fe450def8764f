//===- Attention.cpp - attention in blocks of queries ---------------------===//
//
// Some queries of one head at a time: their scores are a product by the library, become
// exponentials where they lie, and are multiplied with the values, all while a core's cache holds
// them. No more scores than these are ever held, and what no query of a block sees is not computed.
// The sums of the exponentials divide the result: it has fewer elements than the scores.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/AttentionScores.h"
#include "runtime/Cpu/Softmax.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::runtime {

namespace {

constexpr int64_t minThreadWork = 1 << 16; ///< multiplications worth a thread of its own
constexpr float negativeInfinity = -std::numeric_limits<float>::infinity();

/// Memory of a thread.
struct Scratch {
  std::vector<float> query, scores, result, bias;
  std::vector<Exponentials> sums;
};

class AttentionAction : public Action {
public:
  explicit AttentionAction(AttentionCall given) : scores(std::move(given)) {
    if (call.value.shape[3] > 1 && call.output.strides[3] != 1)
      throwBadInput("attention whose output has gaps in its rows");
    // A masked score that is no infinity gives equal weights where all are masked.
    fill = call.maskedRows == program::MASKED_ROWS_UNIFORM ? std::numeric_limits<float>::lowest()
                                                           : negativeInfinity;
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    int64_t heads = call.query.shape[1], blocks = scores.getBlocksOfHead();
    int64_t count = call.query.shape[0] * heads * blocks;
    int64_t work =
        scores.getBlockRows() * call.key.shape[2] * (call.query.shape[3] + call.value.shape[3]);
    int64_t grain = std::max<int64_t>(1, minThreadWork / std::max<int64_t>(1, work));
    pool.parallelFor(count, grain, [&](int64_t lo, int64_t hi) {
      thread_local Scratch scratch;
      for (int64_t number = lo; number < hi; ++number) {
        int64_t head = number / blocks;
        run(bases, scores.makeBlock(head / heads, head % heads, number % blocks), scratch);
      }
    });
  }

private:
  void run(const Bases &bases, const QueryBlock &block, Scratch &scratch) const {
    Matrix weights = scores.multiplyKeys(bases, block, scratch.query, scratch.scores);
    scratch.sums.resize(block.rows);
    for (int64_t i = 0; i < block.rows; ++i) {
      float *row = scratch.scores.data() + i * block.pitch;
      scores.cap(block, row);
      scores.hide(bases, block, i, fill, row, scratch.bias);
      scratch.sums[i] = exponentiate(row, block.pitch);
    }
    Matrix output = AttentionScores::getQueries(call.output, bases, block), result = output;
    if (output.dtype != program::F32)
      result = makeMatrix(scratch.result, block.rows, output.columns, output.columns);
    multiply(weights, AttentionScores::getKeys(call.value, bases, block), result, false);
    for (int64_t i = 0; i < block.rows; ++i)
      finish(bases, block, i, scratch.sums[i], getRow(result, i), getRow(output, i));
  }

  /// Divides row `i` of the result by its sum, and writes the logarithm of that.
  void finish(const Bases &bases, const QueryBlock &block, int64_t i, Exponentials sums,
              std::byte *result, std::byte *output) const {
    auto *row = reinterpret_cast<float *>(result);
    int64_t columns = call.value.shape[3];
    bool clears = call.maskedRows == program::MASKED_ROWS_ZERO && (scores.hidesKeys() || call.bias);
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
    bool seesNone = sums.sum == 0 || (scores.hidesKeys() && sums.shift == fill);
    float logSum = seesNone ? negativeInfinity : sums.shift + std::log(sums.sum);
    narrow(call.logSums->dtype, &logSum, scores.getLogSum(bases, block, i), 1);
  }

  AttentionScores scores;
  const AttentionCall &call = scores.getCall();
  float fill; ///< the score of a key that a query does not see
};

} // namespace

std::unique_ptr<Action> makeAttentionAction(AttentionCall call) {
  return std::make_unique<AttentionAction>(std::move(call));
}

} // namespace weft::runtime

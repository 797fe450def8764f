//===- AttentionBackward.cpp - gradients of attention in blocks -----------===//
//
// The weights P of some queries of one head are computed again from the logarithms of their sums;
// with the result O and its gradient dO:
//
//   dV += Pᵀ·dO,  dP = dO·Vᵀ,  dS = P ∘ (dP - rowsum(dO ∘ O)),  dQ = scale·dS·K,  dK += scale·dSᵀ·Q
//
// all while a core's cache holds P and dS. The queries of all heads that share a key head follow
// each other on one thread, which sums dK and dV in f32: threads may differ in number, bits may
// not.
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

constexpr float negativeInfinity = -std::numeric_limits<float>::infinity();

/// Memory of a thread.
struct Scratch {
  std::vector<float> query, weights, ofScores, result, gradient, capped, bias;
  std::vector<float> ofQuery, ofKey, ofValue;
  bool seesNone; ///< a query of the group: its weights are those of getWeightOfNone()
};

class AttentionBackwardAction : public Action {
public:
  explicit AttentionBackwardAction(AttentionBackwardCall given)
      : scores(std::move(given.attention)), gradient(std::move(given.gradient)),
        ofQuery(std::move(given.queryGradient)), ofKey(std::move(given.keyGradient)),
        ofValue(std::move(given.valueGradient)) {
    check();
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    int64_t groups = call.key.shape[1];
    pool.parallelFor(call.key.shape[0] * groups, 1, [&](int64_t lo, int64_t hi) {
      thread_local Scratch scratch;
      for (int64_t number = lo; number < hi; ++number)
        runGroup(bases, number / groups, number % groups, scratch);
    });
  }

private:
  void check() const {
    if (!call.logSums)
      throwBadInput("gradients of attention without the logarithms of its sums");
    checkAttentionExtents(gradient, call.output.shape);
    checkAttentionExtents(ofQuery, call.query.shape);
    checkAttentionExtents(ofKey, call.key.shape);
    checkAttentionExtents(ofValue, call.value.shape);
    for (const View *view : {&gradient, &ofQuery, &ofKey, &ofValue})
      if (view->dtype != call.query.dtype)
        throwBadInput("attention's gradients of {}", getName(view->dtype));
    for (const View *view : {&ofQuery, &ofKey, &ofValue})
      if (view->shape[3] > 1 && view->strides[3] != 1)
        throwBadInput("attention whose gradients have gaps in their rows");
  }

  /// All queries of the heads that share a key head.
  void runGroup(const Bases &bases, int64_t batch, int64_t group, Scratch &scratch) const {
    int64_t heads = call.query.shape[1] / call.key.shape[1], keys = call.key.shape[2];
    scratch.ofKey.assign(keys * call.key.shape[3], 0.0f);
    scratch.ofValue.assign(keys * call.value.shape[3], 0.0f);
    scratch.seesNone = false;
    for (int64_t head = group * heads; head < (group + 1) * heads; ++head)
      for (int64_t number = 0; number < scores.getBlocksOfHead(); ++number)
        run(bases, scores.makeBlock(batch, head, number), scratch);
    if (scratch.seesNone && std::isnan(getWeightOfNone())) // of all keys, not the block's alone
      std::fill(scratch.ofValue.begin(), scratch.ofValue.end(), getWeightOfNone());
    QueryBlock all{batch, group * heads, group, 0, 0, 0, keys, 0};
    write(scratch.ofKey, AttentionScores::getKeys(ofKey, bases, all));
    write(scratch.ofValue, AttentionScores::getKeys(ofValue, bases, all));
  }

  void run(const Bases &bases, const QueryBlock &block, Scratch &scratch) const {
    Matrix weights = scores.multiplyKeys(bases, block, scratch.query, scratch.weights);
    Matrix ofResult = widenQueries(gradient, bases, block, scratch.gradient);
    widenQueries(call.output, bases, block, scratch.result);
    Matrix ofScores = makeMatrix(scratch.ofScores, block.rows, block.keys, block.pitch);
    multiply(ofResult, AttentionScores::getKeys(call.value, bases, block).transposed(), ofScores,
             false);
    for (int64_t i = 0; i < block.rows; ++i)
      differentiateRow(bases, block, i, scratch);
    multiply(weights.transposed(), ofResult, getSums(scratch.ofValue, block, ofResult.columns),
             true);
    Matrix scaled = makeMatrix(scratch.query, block.rows, call.query.shape[3], call.query.shape[3]);
    multiply(ofScores.transposed(), scaled, getSums(scratch.ofKey, block, scaled.columns), true);
    Matrix sums = makeMatrix(scratch.ofQuery, block.rows, scaled.columns, scaled.columns);
    multiply(ofScores, AttentionScores::getKeys(call.key, bases, block), sums, false);
    for (float &element : scratch.ofQuery)
      element *= static_cast<float>(call.scale);
    write(scratch.ofQuery, AttentionScores::getQueries(ofQuery, bases, block));
  }

  /// Weights, and the gradients of the scores, of row `i`.
  void differentiateRow(const Bases &bases, const QueryBlock &block, int64_t i,
                        Scratch &scratch) const {
    float *weights = scratch.weights.data() + i * block.pitch;
    float *ofScores = scratch.ofScores.data() + i * block.pitch;
    scores.cap(block, weights);
    if (call.softcap)
      scratch.capped.assign(weights, weights + block.keys);
    scores.hide(bases, block, i, negativeInfinity, weights, scratch.bias);
    float logSum;
    widen(call.logSums->dtype, scores.getLogSum(bases, block, i), &logSum, 1);
    bool seesNone = logSum == negativeInfinity;
    scratch.seesNone |= seesNone;
    if (seesNone)
      std::fill_n(weights, block.keys, getWeightOfNone());
    else
      shiftAndExponentiate(weights, block.pitch, logSum);
    int64_t size = call.value.shape[3];
    const float *result = scratch.result.data() + i * size;
    const float *gradient = scratch.gradient.data() + i * size;
    float along = multiplyAlong(result, gradient, size);
    differentiateSoftmax(weights, along, ofScores, block.keys);
    if (call.softcap)
      differentiateCap(scratch.capped.data(), static_cast<float>(*call.softcap), ofScores,
                       block.keys);
    if (seesNone)
      for (int64_t j = 0; j < block.keys; ++j)
        ofScores[j] = scores.isVisible(bases, block, i, j) ? ofScores[j] : 0;
  }

  /// What each key has of a query that sees none.
  float getWeightOfNone() const {
    if (call.maskedRows == program::MASKED_ROWS_ZERO && (scores.hidesKeys() || call.bias))
      return 0;
    if (call.maskedRows == program::MASKED_ROWS_UNIFORM && scores.hidesKeys())
      return 1.0f / static_cast<float>(call.key.shape[2]);
    return std::numeric_limits<float>::quiet_NaN();
  }

  static Matrix widenQueries(const View &view, const Bases &bases, const QueryBlock &block,
                             std::vector<float> &memory) {
    Matrix result = makeMatrix(memory, block.rows, view.shape[3], view.shape[3]);
    widenRows(AttentionScores::getQueries(view, bases, block), memory.data(), 0, block.rows);
    return result;
  }

  /// The part of sums over queries, a row a key, that belongs to the block's keys.
  static Matrix getSums(std::vector<float> &sums, const QueryBlock &block, int64_t columns) {
    return {reinterpret_cast<std::byte *>(sums.data() + block.firstKey * columns), block.keys,
            columns, columns, 1};
  }

  static void write(const std::vector<float> &from, const Matrix &to) {
    for (int64_t i = 0; i < to.rows; ++i)
      narrow(to.dtype, from.data() + i * to.columns, getRow(to, i), to.columns);
  }

  AttentionScores scores;
  const AttentionCall &call = scores.getCall();
  View gradient, ofQuery, ofKey, ofValue;
};

} // namespace

std::unique_ptr<Action> makeAttentionBackwardAction(AttentionBackwardCall call) {
  return std::make_unique<AttentionBackwardAction>(std::move(call));
}

} // namespace weft::runtime

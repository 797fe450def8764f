#include "test/unit/Runtime/AttentionFixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace weft::runtime::test {

static constexpr double infinity = std::numeric_limits<double>::infinity();

View Arenas::add(DType dtype, const Shape &shape, const Shape &strides) {
  View view{static_cast<uint32_t>(bytes.size()), 0, dtype, shape,
            strides.empty() ? getRowMajorStrides(shape) : strides};
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    last += (shape[i] - 1) * view.strides[i];
  bytes.emplace_back((last + 1) * getElementSize(dtype));
  return view;
}

Bases Arenas::getBases() {
  Bases bases;
  for (auto &arena : bytes)
    bases.push_back(arena.data());
  return bases;
}

std::byte *Arenas::getElement(const View &view, const Shape &at) {
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i)
    offset += at[i] * view.strides[i];
  return bytes[view.arena].data() + offset * getElementSize(view.dtype);
}

double Arenas::get(const View &view, const Shape &at) {
  return view.dtype == program::I1 ? double(*getElement(view, at) != std::byte(0))
                                   : readAsDouble(view.dtype, getElement(view, at), 0);
}

void Arenas::fill(const View &view, uint32_t seed, double share) {
  std::mt19937 random(seed);
  auto &arena = bytes[view.arena];
  for (size_t i = 0; i < arena.size(); i += getElementSize(view.dtype)) {
    float number = 4 * float(random()) / float(random.max()) - 2;
    if (view.dtype == program::I1)
      arena[i] = std::byte(number < 4 * share - 2);
    else
      narrow(view.dtype, &number, &arena[i], 1);
  }
}

/// Scores before they are hidden, and slopes.
static std::vector<double> computeScores(Arenas &arenas, const AttentionCall &call, int64_t b,
                                         int64_t h, int64_t i, Result &result) {
  int64_t group = h / (call.query.shape[1] / call.key.shape[1]), keys = call.key.shape[2];
  std::vector<double> scores(keys);
  result.slopes.assign(keys, 1);
  for (int64_t j = 0; j < keys; ++j) {
    double score = 0;
    for (int64_t d = 0; d < call.query.shape[3]; ++d)
      score += arenas.get(call.query, {b, h, i, d}) * arenas.get(call.key, {b, group, j, d});
    score *= call.scale;
    if (call.softcap) {
      double bounded = std::tanh(score / *call.softcap);
      score = *call.softcap * bounded;
      result.slopes[j] = 1 - bounded * bounded;
    }
    if (call.bias)
      score += arenas.get(*call.bias, {b, h, i, j});
    scores[j] = score;
  }
  return scores;
}

Result computeRow(Arenas &arenas, const AttentionCall &call, int64_t b, int64_t h, int64_t i) {
  Result result;
  std::vector<double> scores = computeScores(arenas, call, b, h, i, result);
  auto keys = static_cast<int64_t>(scores.size());
  double top = -infinity, sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    bool visible = (!call.mask || arenas.get(*call.mask, {b, h, i, j}) != 0) &&
                   (!call.low || j - i >= *call.low) && (!call.high || j - i <= *call.high);
    result.visible.push_back(visible);
    scores[j] = visible ? scores[j] : -infinity;
    top = std::max(top, scores[j]);
  }
  for (double &score : scores)
    sum += score = top == -infinity ? 0 : std::exp(score - top);
  result.logSum = top == -infinity ? -infinity : top + std::log(sum);
  bool uniform = call.maskedRows == program::MASKED_ROWS_UNIFORM;
  bool clears = call.maskedRows == program::MASKED_ROWS_ZERO;
  bool seesNone =
      std::none_of(result.visible.begin(), result.visible.end(), [](bool v) { return v; });
  for (double score : scores)
    result.weights.push_back(top > -infinity       ? score / sum
                             : uniform && seesNone ? 1.0 / double(keys)
                             : clears              ? 0
                                                   : NAN);
  return result;
}

bool isNear(double actual, double expected, double tolerance) {
  if (std::isnan(expected) || std::isinf(expected))
    return std::isnan(expected) ? std::isnan(actual) : actual == expected;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

View addHeads(Arenas &arenas, DType dtype, int64_t batches, int64_t heads, int64_t positions,
              int64_t size) {
  return arenas.add(dtype, {batches, heads, positions, size},
                    {heads * positions * size, size, heads * size, 1});
}

AttentionCall makeCall(Arenas &arenas, DType dtype, const Sizes &n) {
  AttentionCall call;
  call.query = addHeads(arenas, dtype, n.b, n.h, n.s, n.d);
  call.key = addHeads(arenas, dtype, n.b, n.g, n.t, n.d);
  call.value = addHeads(arenas, dtype, n.b, n.g, n.t, n.e);
  call.output = addHeads(arenas, dtype, n.b, n.h, n.s, n.e);
  call.logSums = arenas.add(dtype == program::BF16 ? program::F32 : dtype, {n.b, n.h, n.s});
  call.scale = 0.25;
  arenas.fill(call.query, 1);
  arenas.fill(call.key, 2);
  arenas.fill(call.value, 3);
  return call;
}

static View addMask(Arenas &arenas, const Sizes &n, const Shape &strides, double share) {
  View mask = arenas.add(program::I1, {n.b, n.h, n.s, n.t}, strides);
  arenas.fill(mask, 4, share);
  return mask;
}

void forEachBand(const Check &check) {
  using Band = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  for (auto [low, high] :
       {Band{{}, 0}, Band{{}, 8}, Band{{}, -3}, Band{-4, 0}, Band{-4, 4}, Band{5, 7}, Band{-2, {}},
        Band{60, {}}, Band{{}, -60},
        Band{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}})
    for (program::MaskedRows rows : everyKind) {
      Arenas arenas;
      AttentionCall call = makeCall(arenas, program::F32);
      call.low = low;
      call.high = high;
      call.maskedRows = rows;
      check(arenas, call);
    }
}

void forEachMask(double softcap, const Check &check) {
  Sizes n;
  for (double share : {0.0, 0.1, 0.7})
    for (const Shape &strides : {Shape{}, Shape{45, 0, 0, 1}, Shape{0, 0, 1, 37}})
      for (program::MaskedRows rows : everyKind) {
        Arenas arenas;
        AttentionCall call = makeCall(arenas, program::F32, n);
        call.mask = addMask(arenas, n, strides, share);
        call.bias = arenas.add(program::F32, {n.b, n.h, n.s, n.t}, strides);
        arenas.fill(*call.bias, 6);
        call.softcap = softcap;
        call.maskedRows = rows;
        check(arenas, call);
      }
}

} // namespace weft::runtime::test

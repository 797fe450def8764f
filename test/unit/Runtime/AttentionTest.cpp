//===- AttentionTest.cpp - attention in blocks against its definition -----===//

#include "runtime/Cpu/Action.h"
#include "runtime/Support/Error.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace weft::runtime;
namespace program = weft::program;

namespace {

using Shape = std::vector<int64_t>;

constexpr program::MaskedRows everyKind[] = {program::MASKED_ROWS_UNIFORM,
                                             program::MASKED_ROWS_ZERO, program::MASKED_ROWS_NAN};
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Operands in an arena each.
class Arenas {
public:
  View add(DType dtype, const Shape &shape, const Shape &strides = {}) {
    View view{static_cast<uint32_t>(bytes.size()), 0, dtype, shape,
              strides.empty() ? getRowMajorStrides(shape) : strides};
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      last += (shape[i] - 1) * view.strides[i];
    bytes.emplace_back((last + 1) * getElementSize(dtype));
    return view;
  }

  Bases getBases() {
    Bases bases;
    for (auto &arena : bytes)
      bases.push_back(arena.data());
    return bases;
  }

  std::byte *getElement(const View &view, const Shape &at) {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i)
      offset += at[i] * view.strides[i];
    return bytes[view.arena].data() + offset * getElementSize(view.dtype);
  }

  double get(const View &view, const Shape &at) {
    return view.dtype == program::I1 ? double(*getElement(view, at) != std::byte(0))
                                     : readAsDouble(view.dtype, getElement(view, at), 0);
  }

  /// Numbers within ±2, or truth values of which `share` are true.
  void fill(const View &view, uint32_t seed, double share = 0.7) {
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

  std::vector<std::vector<std::byte>> bytes;
};

struct Result {
  std::vector<double> weights;
  double logSum;
};

/// What the definition says of one row, in f64.
Result computeRow(Arenas &arenas, const AttentionCall &call, int64_t b, int64_t h, int64_t i) {
  int64_t group = h / (call.query.shape[1] / call.key.shape[1]), keys = call.key.shape[2];
  bool uniform = call.maskedRows == program::MASKED_ROWS_UNIFORM;
  std::vector<double> scores(keys);
  double top = -infinity, sum = 0;
  int64_t seen = 0;
  for (int64_t j = 0; j < keys; ++j) {
    double score = 0;
    for (int64_t d = 0; d < call.query.shape[3]; ++d)
      score += arenas.get(call.query, {b, h, i, d}) * arenas.get(call.key, {b, group, j, d});
    score *= call.scale;
    if (call.softcap)
      score = *call.softcap * std::tanh(score / *call.softcap);
    if (call.bias)
      score += arenas.get(*call.bias, {b, h, i, j});
    bool visible = (!call.mask || arenas.get(*call.mask, {b, h, i, j}) != 0) &&
                   (!call.low || j - i >= *call.low) && (!call.high || j - i <= *call.high);
    seen += visible;
    scores[j] = visible ? score : -infinity;
    top = std::max(top, scores[j]);
  }
  for (double &score : scores)
    sum += score = top == -infinity ? 0 : std::exp(score - top);
  double logSum = top == -infinity ? -infinity : top + std::log(sum);
  bool clears = call.maskedRows == program::MASKED_ROWS_ZERO;
  for (double &score : scores)
    score = top > -infinity        ? score / sum
            : uniform && seen == 0 ? 1.0 / double(keys)
            : clears               ? 0
                                   : NAN;
  return {scores, logSum};
}

bool isNear(double actual, double expected, double tolerance) {
  if (std::isnan(expected) || std::isinf(expected))
    return std::isnan(expected) ? std::isnan(actual) : actual == expected;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

void checkRow(Arenas &arenas, const AttentionCall &call, const Shape &at, double tolerance) {
  int64_t b = at[0], h = at[1], group = h / (call.query.shape[1] / call.key.shape[1]);
  Result expected = computeRow(arenas, call, b, h, at[2]);
  for (int64_t e = 0; e < call.value.shape[3]; ++e) {
    double sum = 0;
    for (int64_t j = 0; j < call.key.shape[2]; ++j)
      sum += expected.weights[j] * arenas.get(call.value, {b, group, j, e});
    double actual = arenas.get(call.output, {b, h, at[2], e});
    if (!isNear(actual, sum, tolerance))
      FAIL("output [" << b << ", " << h << ", " << at[2] << ", " << e << "] is " << actual
                      << " instead of " << sum);
  }
  if (!call.logSums)
    return;
  double actual = arenas.get(*call.logSums, at);
  if (!isNear(actual, expected.logSum, tolerance))
    FAIL("log sum " << h << ", " << at[2] << " is " << actual << " instead of " << expected.logSum);
}

/// Runs with several numbers of threads, which must not show, and compares.
void check(Arenas &arenas, const AttentionCall &call) {
  limitLibraryThreads();
  std::vector<std::byte> first;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    makeAttentionAction(call)->execute(arenas.getBases(), pool);
    if (first.empty())
      first = arenas.bytes[call.output.arena];
    CHECK(first == arenas.bytes[call.output.arena]);
  }
  double tolerance = call.query.dtype == program::F32   ? 2e-5
                     : call.query.dtype == program::F16 ? 2e-3
                                                        : 2e-2;
  for (int64_t b = 0; b < call.query.shape[0]; ++b)
    for (int64_t h = 0; h < call.query.shape[1]; ++h)
      for (int64_t i = 0; i < call.query.shape[2]; ++i)
        checkRow(arenas, call, {b, h, i}, tolerance);
}

struct Sizes {
  int64_t b = 2, h = 4, g = 2, s = 37, t = 45, d = 16, e = 24;
};

/// Heads lie side by side in each position of query, keys, values and output, as projections leave
/// and want them.
AttentionCall makeCall(Arenas &arenas, DType dtype, const Sizes &n = {}) {
  auto add = [&](int64_t heads, int64_t positions, int64_t size) {
    return arenas.add(dtype, {n.b, heads, positions, size},
                      {heads * positions * size, size, heads * size, 1});
  };
  AttentionCall call;
  call.query = add(n.h, n.s, n.d);
  call.key = add(n.g, n.t, n.d);
  call.value = add(n.g, n.t, n.e);
  call.output = add(n.h, n.s, n.e);
  call.logSums = arenas.add(dtype == program::BF16 ? program::F32 : dtype, {n.b, n.h, n.s});
  call.scale = 0.25;
  arenas.fill(call.query, 1);
  arenas.fill(call.key, 2);
  arenas.fill(call.value, 3);
  return call;
}

View addMask(Arenas &arenas, const Sizes &n, const Shape &strides, double share) {
  View mask = arenas.add(program::I1, {n.b, n.h, n.s, n.t}, strides);
  arenas.fill(mask, 4, share);
  return mask;
}

} // namespace

TEST_CASE("attention of every type") {
  for (DType dtype : {program::F32, program::F16, program::BF16}) {
    Arenas arenas;
    check(arenas, makeCall(arenas, dtype));
  }
}

TEST_CASE("attention of many queries and keys, in several blocks") {
  Sizes many{1, 2, 1, 300, 700, 8, 8};
  Arenas arenas;
  AttentionCall call = makeCall(arenas, program::F32, many);
  check(arenas, call);
  call.low = -99;
  call.high = 20;
  check(arenas, call);
}

TEST_CASE("keys that lie along their columns") {
  Arenas arenas;
  AttentionCall call = makeCall(arenas, program::F32);
  call.key = arenas.add(program::F32, call.key.shape, {2 * 16 * 45, 16 * 45, 1, 45});
  arenas.fill(call.key, 5);
  check(arenas, call);
}

TEST_CASE("attention within a band") {
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

TEST_CASE("attention with masks, biases and caps") {
  Sizes n;
  for (double share : {0.0, 0.1, 0.7})
    for (const Shape &strides : {Shape{}, Shape{45, 0, 0, 1}, Shape{0, 0, 1, 37}})
      for (program::MaskedRows rows : everyKind) {
        Arenas arenas;
        AttentionCall call = makeCall(arenas, program::F32, n);
        call.mask = addMask(arenas, n, strides, share);
        call.bias = arenas.add(program::F32, {n.b, n.h, n.s, n.t}, strides);
        arenas.fill(*call.bias, 6);
        call.softcap = 0.5;
        call.maskedRows = rows;
        check(arenas, call);
      }
}

TEST_CASE("a bias that hides all keys") {
  for (program::MaskedRows rows : everyKind) {
    Arenas arenas;
    AttentionCall call = makeCall(arenas, program::BF16);
    call.bias = arenas.add(program::BF16, {2, 4, 37, 45}, {0, 0, 1, 0});
    float least = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < 37; i += 2)
      narrow(program::BF16, &least, arenas.getElement(*call.bias, {0, 0, i, 0}), 1);
    call.maskedRows = rows;
    check(arenas, call);
  }
}

TEST_CASE("attention of operands that do not fit is refused") {
  Arenas arenas;
  const AttentionCall call = makeCall(arenas, program::F32);
  auto refuses = [](const AttentionCall &changed, const char *why) {
    CHECK_THROWS_WITH(makeAttentionAction(changed), Catch::Contains(why));
  };
  AttentionCall changed = call;
  changed.query.shape[1] = 3;
  refuses(changed, "do not fit");
  changed = call;
  changed.key.shape[3] = 15;
  refuses(changed, "do not fit");
  changed = call;
  changed.mask = arenas.add(program::I1, {2, 4, 37, 1});
  refuses(changed, "do not fit");
  changed = call;
  changed.value.dtype = program::F16;
  refuses(changed, "attention of f32");
  changed = call;
  changed.output.strides = getRowMajorStrides(changed.output.shape);
  std::swap(changed.output.strides[2], changed.output.strides[3]);
  refuses(changed, "gaps in its rows");
}

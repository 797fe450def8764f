//===- AttentionBackwardTest.cpp - gradients against their definition -----===//
//
// The weights of the definition, in f64, and what their gradients are by the rules of products and
// softmax; attention itself makes the result and the logarithms that are given.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Runtime/AttentionFixture.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace weft::runtime;
using namespace weft::runtime::test;
namespace program = weft::program;

namespace {

/// Sums of products, element by element of [b, h, position, size].
struct Sums {
  explicit Sums(const View &view) : shape(view.shape) {
    numbers.resize(shape[0] * shape[1] * shape[2] * shape[3]);
  }
  double &at(int64_t b, int64_t h, int64_t i, int64_t d) {
    return numbers[((b * shape[1] + h) * shape[2] + i) * shape[3] + d];
  }

  Shape shape;
  std::vector<double> numbers;
};

struct Gradients {
  Sums query, key, value;
};

double multiplyRows(Arenas &arenas, const View &a, const Shape &row, const View &b,
                    const Shape &other) {
  double sum = 0;
  for (int64_t e = 0; e < a.shape[3]; ++e)
    sum += arenas.get(a, {row[0], row[1], row[2], e}) *
           arenas.get(b, {other[0], other[1], other[2], e});
  return sum;
}

/// Adds what one query says of it.
void addRow(Arenas &arenas, const AttentionBackwardCall &call, int64_t b, int64_t h, int64_t i,
            Gradients &gradients) {
  const AttentionCall &attention = call.attention;
  int64_t group = h / (attention.query.shape[1] / attention.key.shape[1]);
  Result row = computeRow(arenas, attention, b, h, i);
  double along = multiplyRows(arenas, call.gradient, {b, h, i}, attention.output, {b, h, i});
  for (int64_t j = 0; j < attention.key.shape[2]; ++j) {
    double weight = row.weights[j];
    for (int64_t e = 0; e < attention.value.shape[3]; ++e)
      gradients.value.at(b, group, j, e) += weight * arenas.get(call.gradient, {b, h, i, e});
    double outer = multiplyRows(arenas, call.gradient, {b, h, i}, attention.value, {b, group, j});
    double ofScore = row.visible[j] ? weight * (outer - along) * row.slopes[j] : 0;
    for (int64_t d = 0; d < attention.query.shape[3]; ++d) {
      gradients.query.at(b, h, i, d) +=
          attention.scale * ofScore * arenas.get(attention.key, {b, group, j, d});
      gradients.key.at(b, group, j, d) +=
          attention.scale * ofScore * arenas.get(attention.query, {b, h, i, d});
    }
  }
}

void compare(Arenas &arenas, const char *name, const View &view, Sums &expected, double tolerance) {
  for (int64_t b = 0; b < view.shape[0]; ++b)
    for (int64_t h = 0; h < view.shape[1]; ++h)
      for (int64_t i = 0; i < view.shape[2]; ++i)
        for (int64_t d = 0; d < view.shape[3]; ++d) {
          double actual = arenas.get(view, {b, h, i, d});
          if (!isNear(actual, expected.at(b, h, i, d), tolerance))
            FAIL(name << " [" << b << ", " << h << ", " << i << ", " << d << "] is " << actual
                      << " instead of " << expected.at(b, h, i, d));
        }
}

AttentionBackwardCall makeBackwardCall(Arenas &arenas, const AttentionCall &attention) {
  auto addLike = [&](const View &view) { return arenas.add(view.dtype, view.shape, view.strides); };
  AttentionBackwardCall call;
  call.attention = attention;
  call.gradient = addLike(attention.output);
  call.queryGradient = addLike(attention.query);
  call.keyGradient = addLike(attention.key);
  call.valueGradient = addLike(attention.value);
  arenas.fill(call.gradient, 7);
  return call;
}

/// Runs attention, then its gradients with several numbers of threads, which must not show.
void check(Arenas &arenas, const AttentionCall &attention) {
  limitLibraryThreads();
  AttentionBackwardCall call = makeBackwardCall(arenas, attention);
  ThreadPool alone(1);
  makeAttentionAction(attention)->execute(arenas.getBases(), alone);
  std::vector<std::vector<std::byte>> first;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    makeAttentionBackwardAction(call)->execute(arenas.getBases(), pool);
    if (first.empty())
      first = arenas.bytes;
    CHECK(first == arenas.bytes);
  }
  Gradients expected{Sums(attention.query), Sums(attention.key), Sums(attention.value)};
  for (int64_t b = 0; b < attention.query.shape[0]; ++b)
    for (int64_t h = 0; h < attention.query.shape[1]; ++h)
      for (int64_t i = 0; i < attention.query.shape[2]; ++i)
        addRow(arenas, call, b, h, i, expected);
  double tolerance = attention.query.dtype == program::F32   ? 1e-4
                     : attention.query.dtype == program::F16 ? 2e-2
                                                             : 1e-1;
  compare(arenas, "the query's gradient", call.queryGradient, expected.query, tolerance);
  compare(arenas, "the key's gradient", call.keyGradient, expected.key, tolerance);
  compare(arenas, "the value's gradient", call.valueGradient, expected.value, tolerance);
}

} // namespace

TEST_CASE("attention's gradients of every type") {
  for (DType dtype : {program::F32, program::F16, program::BF16}) {
    Arenas arenas;
    check(arenas, makeCall(arenas, dtype));
  }
}

TEST_CASE("attention's gradients of many queries and keys, in several blocks") {
  Sizes many{1, 2, 1, 200, 400, 8, 8};
  Arenas arenas;
  AttentionCall call = makeCall(arenas, program::F32, many);
  check(arenas, call);
  call.low = -99;
  call.high = 20;
  check(arenas, call);
}

TEST_CASE("attention's gradients within a band") { forEachBand(check); }

TEST_CASE("attention's gradients with masks, biases and caps") {
  forEachMask(/*softcap=*/2, check);
}

TEST_CASE("the gradients of rows of which a bias hides all keys") {
  for (program::MaskedRows rows : {program::MASKED_ROWS_ZERO, program::MASKED_ROWS_NAN}) {
    Arenas arenas;
    AttentionCall call = makeCall(arenas, program::F32);
    call.bias = arenas.add(program::F32, {2, 4, 37, 45}, {0, 0, 1, 0});
    float least = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < 37; i += 2)
      narrow(program::F32, &least, arenas.getElement(*call.bias, {0, 0, i, 0}), 1);
    call.maskedRows = rows;
    check(arenas, call);
  }
}

TEST_CASE("gradients of attention that do not fit are refused") {
  Arenas arenas;
  const AttentionBackwardCall call = makeBackwardCall(arenas, makeCall(arenas, program::F32));
  auto refuses = [](const AttentionBackwardCall &changed, const char *why) {
    CHECK_THROWS_WITH(makeAttentionBackwardAction(changed), Catch::Contains(why));
  };
  AttentionBackwardCall changed = call;
  changed.attention.logSums.reset();
  refuses(changed, "without the logarithms");
  changed = call;
  changed.keyGradient.shape[2] = 44;
  refuses(changed, "do not fit");
  changed = call;
  changed.gradient.dtype = program::F16;
  refuses(changed, "gradients of f16");
  changed = call;
  std::swap(changed.valueGradient.strides[2], changed.valueGradient.strides[3]);
  refuses(changed, "gaps in their rows");
}

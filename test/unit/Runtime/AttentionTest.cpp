//===- AttentionTest.cpp - attention in blocks against its definition -----===//

#include "runtime/Support/Error.h"
#include "test/unit/Runtime/AttentionFixture.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace weft::runtime;
using namespace weft::runtime::test;
namespace program = weft::program;

namespace {

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

TEST_CASE("attention within a band") { forEachBand(check); }

TEST_CASE("attention with masks, biases and caps") { forEachMask(/*softcap=*/0.5, check); }

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

//===- PublishedTest.cpp - times published with TeraPipe ------------------===//
//
// Li et al. 2021, table 2 and figures 5 to 7: seconds of a step on p3.16xlarge nodes with and
// without slices of tokens. For each model and tensor degree one curve of what a stage takes was
// fitted (floor, seconds a token and sharpness, least greatest error); attention follows from the
// widths. Every published latency of it must come out within 15 %.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Search/Slice/Tables.h"

using namespace weft::slice;

namespace {

struct Published {
  int64_t tokens, stages, batch;                   ///< of one pipeline
  std::vector<std::pair<int64_t, double>> uniform; ///< slices and seconds, 1: without slicing
  double best;                                     ///< s with slicing
  double reduction = 0; ///< s in which gradients are summed, where pipelines are copied
};

/// Attention's 4·h FLOP a token and token before it, beside products' 24·h² a token.
Curve makeCurve(double floor, double token, double sharpness, double hidden) {
  return {floor, token, token * 4 / (24 * hidden), sharpness};
}

void check(const char *name, const Curve &curve, const Published &row) {
  INFO(name << ", " << row.tokens << " tokens");
  SliceTable table = makeTable(curve, row.tokens, row.tokens >= 4096 ? 32 : 16);
  SliceOptions options{row.stages, row.batch};
  for (auto [slices, seconds] : row.uniform) {
    double sum = 0, longest = 0, length = double(row.tokens) / double(slices);
    for (int64_t i = 0; i < slices; ++i) {
      double part = curve.get(length, double(i) * length);
      sum += part;
      longest = std::max(longest, part);
    }
    double latency = double(row.batch) * sum + double(row.stages - 1) * longest + row.reduction;
    INFO(slices << " slices");
    CHECK(latency == Approx(seconds).epsilon(0.15));
  }
  Slicing found = findSlices(table, options);
  CHECK(found.latency + row.reduction == Approx(row.best).epsilon(0.15));
  CHECK(found.latency <= findUniformSlices(table, options).latency * (1 + 1e-12));
}

} // namespace

TEST_CASE("175 billion parameters") {
  Curve four = makeCurve(8.24e-3, 4.78e-5, 1.25, 12288);
  Published row{2048, 96, 2, {}, 1.481};
  row.uniform = {{1, 9.990},  {4, 2.902},  {8, 1.892},  {16, 1.547},
                 {32, 1.593}, {64, 2.227}, {128, 3.252}};
  check("96 stages of tensor degree 4", four, row);
  // Published: slices of 120, 112, 104 tokens and one of 64: longer ones first.
  std::vector<int64_t> lengths = findSlices(makeTable(four, 2048, 8), {96, 2}).slices[0].lengths;
  CHECK(lengths.size() >= 16);
  CHECK(lengths.size() <= 24);
  CHECK(lengths.front() > lengths.back());
  check("48 stages of tensor degree 8", makeCurve(1.78e-2, 5.51e-5, 4, 12288),
        {2048, 48, 2, {{1, 5.822}}, 1.160});
}

TEST_CASE("44 billion parameters") {
  check("48 stages of tensor degree 8", makeCurve(4.84e-3, 2.13e-5, 1, 6144),
        {2048, 48, 8, {{1, 2.662}, {4, 1.241}, {8, 1.255}, {16, 1.241}}, 1.111});
  // 4 copies: 0.92 GB of gradients over a network card that eight GPUs share.
  check("96 stages, copied", makeCurve(2.30e-2, 4.27e-5, 4, 6144),
        {2048, 96, 2, {{1, 13.319}}, 7.103, 4.4});
}

TEST_CASE("13 billion parameters, sequences up to 8192 tokens") {
  Curve curve = makeCurve(7.87e-3, 1.28e-5, 4, 5120);
  check("40 stages of tensor degree 8", curve, {2048, 40, 32, {{1, 1.863}}, 1.328});
  check("40 stages of tensor degree 8", curve, {4096, 40, 8, {{1, 2.526}}, 0.913});
  check("40 stages of tensor degree 8", curve, {6144, 40, 4, {{1, 3.754}}, 0.756});
  check("40 stages of tensor degree 8", curve, {8192, 40, 2, {{1, 4.978}}, 0.636});
}

TEST_CASE("1 billion parameters, where layers are shorter than launching them") {
  check("24 stages, copied", makeCurve(1.17e-2, 1.52e-5, 1.5, 2048),
        {2048, 24, 16, {{1, 1.517}}, 1.254});
  for (auto [stages, batch, seconds] : {std::tuple{12, 36, 1.03}, {24, 72, 0.92}}) {
    double stage = seconds / (batch + stages - 1);
    Curve curve = makeCurve(0.93 * stage, 0.6 * stage / 2048, 3, 2048);
    check("tensor degree 8", curve, {2048, stages, batch, {{1, seconds}}, seconds});
    Slicing found = findSlices(makeTable(curve, 2048, 16), {stages, batch});
    CHECK(found.slices[0].lengths == std::vector<int64_t>{2048});
  }
}

#include "test/unit/Search/Slice/Tables.h"

#include <random>

using namespace weft::slice;

namespace {

/// All ways to write `total` as a sum in order.
std::vector<std::vector<int64_t>> listSums(int64_t total) {
  if (total == 0)
    return {{}};
  std::vector<std::vector<int64_t>> sums;
  for (int64_t first = 1; first <= total; ++first)
    for (std::vector<int64_t> &rest : listSums(total - first)) {
      rest.insert(rest.begin(), first);
      sums.push_back(std::move(rest));
    }
  return sums;
}

/// Latency by the definition, of slices given in tokens.
double getLatency(const SliceTable &table, int64_t stages, const std::vector<BatchSlice> &slices) {
  double sum = 0, forward = 0, backward = 0;
  for (const BatchSlice &slice : slices) {
    const BatchTimes *times = nullptr;
    for (const BatchTimes &entry : table.batches)
      if (entry.batch == slice.batch)
        times = &entry;
    REQUIRE(times);
    int64_t end = 0;
    for (int64_t length : slice.lengths) {
      int64_t context = end;
      end += length / table.granularity;
      size_t index = BatchTimes::getIndex(end, context);
      sum += times->forward[index] + times->backward[index];
      forward = std::max(forward, times->forward[index]);
      backward = std::max(backward, times->backward[index]);
    }
    REQUIRE(end == table.units);
  }
  return sum + static_cast<double>(stages - 1) * (forward + backward);
}

/// The least over every choice, batch slices in ascending order.
double findByForce(const SliceTable &table, int64_t stages, int64_t batch, size_t first,
                   std::vector<BatchSlice> &chosen) {
  if (batch == 0)
    return getLatency(table, stages, chosen);
  double best = 1e300;
  for (size_t i = first; i < table.batches.size(); ++i) {
    if (table.batches[i].batch > batch)
      continue;
    for (std::vector<int64_t> lengths : listSums(table.units)) {
      for (int64_t &length : lengths)
        length *= table.granularity;
      chosen.push_back({table.batches[i].batch, lengths});
      best = std::min(best, findByForce(table, stages, batch - table.batches[i].batch, i, chosen));
      chosen.pop_back();
    }
  }
  return best;
}

double findByForce(const SliceTable &table, int64_t stages, int64_t batch) {
  std::vector<BatchSlice> chosen;
  return findByForce(table, stages, batch, 0, chosen);
}

} // namespace

TEST_CASE("slices are as good as the best of all, whatever the table") {
  std::minstd_rand random(5);
  auto draw = [&] { return double(random() % 100 + 1); };
  for (int i = 0; i < 60; ++i) {
    int64_t units = 1 + int64_t(random() % 6), stages = 1 + int64_t(random() % 20);
    SliceTable table{8, units, {}};
    for (int64_t batch = 1; batch <= 2; ++batch) {
      table.batches.push_back({batch, {}, {}});
      for (int64_t j = 0; j < units * (units + 1) / 2; ++j) {
        table.batches.back().forward.push_back(draw());
        table.batches.back().backward.push_back(draw());
      }
    }
    int64_t batch = 1 + int64_t(random() % 2);
    Slicing found = findSlices(table, {stages, batch});
    INFO(units << " units, " << stages << " stages, batch " << batch);
    CHECK(found.latency == Approx(findByForce(table, stages, batch)));
    CHECK(found.latency == Approx(getLatency(table, stages, found.slices)));
    CHECK(found.latency <= findUniformSlices(table, {stages, batch}).latency * (1 + 1e-12));
    CHECK(found.latency <= getWholeLatency(table, {stages, batch}) * (1 + 1e-12));
  }
}

TEST_CASE("a backward that is slow elsewhere than the forward is not added up") {
  // Cutting in halves: the first is slow forward, the second backward.
  SliceTable table{1, 2, {{1, {5, 9, 1}, {1, 9, 5}}}};
  CHECK(findSlices(table, {3, 1}).latency == 5 + 1 + 1 + 5 + 2 * (5 + 5));
}

TEST_CASE("a pipeline of one stage is not cut where slices cost") {
  SliceTable table = makeTable({1e-3, 1e-6, 0, 1}, 256, 8);
  Slicing whole = findSlices(table, {1, 4});
  REQUIRE(whole.slices.size() == 4);
  CHECK(whole.slices[0].lengths == std::vector<int64_t>{256});
  CHECK(whole.latency == Approx(getWholeLatency(table, {1, 4})));
}

TEST_CASE("sequences go together where the table says that it pays") {
  SliceTable table = makeTable({1e-3, 1e-6, 0, 1}, 64, 8);
  table.batches.push_back(table.batches[0]); // three at the price of one
  table.batches.back().batch = 3;
  Slicing slicing = findSlices(table, {1, 7});
  std::vector<int64_t> batches;
  for (const BatchSlice &slice : slicing.slices)
    batches.push_back(slice.batch);
  CHECK(batches == std::vector<int64_t>{3, 3, 1});
  table.batches.erase(table.batches.begin());
  CHECK_THROWS_WITH(findSlices(table, {1, 7}), "no sum of the table's numbers of sequences is 7");
}

TEST_CASE("long sequences are cut no worse than into equal slices") {
  std::minstd_rand random(5);
  for (auto [tokens, granularity] : {std::pair{2048, 8}, {32768, 64}})
    for (double noise : {0.0, 0.1, 1.0}) { // of measurements; more than there is
      SliceTable table = makeTable({8.2e-3, 4.8e-5, 1e-9, 1.25}, tokens, granularity);
      for (auto *times : {&table.batches[0].forward, &table.batches[0].backward})
        for (double &entry : *times)
          entry *= 1 + noise * double(random() % 1000) / 1000;
      INFO(tokens << " tokens, noise " << noise);
      Slicing slicing = findSlices(table, {96, 2});
      CHECK(slicing.latency <= findUniformSlices(table, {96, 2}).latency);
    }
}

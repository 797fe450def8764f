//===- TrainDataTest.cpp - orders of rows, and logs that are gone on with -===//

#include "runtime/Executor/StepLog.h"
#include "runtime/Executor/Tokens.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

using namespace weft::runtime;
using weft::test::TemporaryFolder;

namespace {

std::vector<int64_t> getEpoch(int64_t rows, uint64_t seed, int64_t epoch) {
  RowOrder order(rows, seed);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < rows; ++i)
    all.push_back(order.get(epoch, i));
  return all;
}

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What a log of these lines becomes when a run goes on from a step.
std::string resume(const std::string &lines, int64_t step) {
  TemporaryFolder folder;
  std::string path = folder / "log.jsonl";
  std::ofstream(path) << lines;
  StepLog log(path, step);
  log.add("{\"step\":99}");
  log.sync();
  return read(path);
}

} // namespace

TEST_CASE("an epoch has every row once") {
  for (int64_t rows : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000}) {
    std::vector<int64_t> all = getEpoch(rows, 7, 0);
    CHECK(std::set<int64_t>(all.begin(), all.end()).size() == all.size());
    CHECK(*std::min_element(all.begin(), all.end()) == 0);
    CHECK(*std::max_element(all.begin(), all.end()) == rows - 1);
  }
}

TEST_CASE("orders differ by seed and epoch, and leave few rows beside their neighbours") {
  std::vector<int64_t> order = getEpoch(1000, 7, 0);
  CHECK(order == getEpoch(1000, 7, 0));
  CHECK(order != getEpoch(1000, 8, 0));
  CHECK(order != getEpoch(1000, 7, 1));
  int neighbours = 0, fixed = 0;
  for (size_t i = 1; i < order.size(); ++i) {
    neighbours += std::abs(order[i] - order[i - 1]) == 1;
    fixed += order[i] == static_cast<int64_t>(i);
  }
  CHECK(neighbours < 20); // two are expected
  CHECK(fixed < 20);      // one is
}

TEST_CASE("a log goes on without gaps, or says where one is") {
  std::string zero = "{\"step\":0,\"loss\":1}\n", one = "{\"step\":1}\n", two = "{\"step\":2}\n",
              added = "{\"step\":99}\n";
  CHECK(resume(zero + one + two, 3) == zero + one + two + added);
  CHECK(resume(zero + one + two, 2) == zero + one + added);
  CHECK(resume(zero + one + two, 0) == added);
  CHECK(resume(zero + one + "{\"step\":2,\"lo", 2) == zero + one + added);
  CHECK(resume(zero + one + "{\"st\n" + two, 3) ==
        zero + one + "{\"resumed_at\":3,\"after\":1}\n" + added);
  CHECK(resume(zero, 3) == zero + "{\"resumed_at\":3,\"after\":0}\n" + added);
  CHECK(resume("", 3) == "{\"resumed_at\":3,\"after\":null}\n" + added);
}

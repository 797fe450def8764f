#include "compiler/Search/CorrectTimes.h"

#include <catch2/catch.hpp>

using namespace weft;

TEST_CASE("two kinds in two groups are told apart") {
  const ExpectedBlock blocks[] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 1}, {1, 0, 1}, {1, 1, 1}};
  const double took[] = {4, 5};
  std::map<uint32_t, double> factors = correctTimes(blocks, took);
  CHECK(factors.at(0) == Approx(2).epsilon(1e-3));
  CHECK(factors.at(1) == Approx(1).epsilon(1e-2));
}

TEST_CASE("what was expected stays, in any unit") {
  const ExpectedBlock blocks[] = {{1, 0, 0}, {3, 1, 0}, {1, 0, 1}, {1, 0, 1}};
  const double took[] = {40, 20};
  for (auto [kind, factor] : correctTimes(blocks, took))
    CHECK(factor == Approx(10));
}

TEST_CASE("kinds that groups do not tell apart are off by as much") {
  const ExpectedBlock blocks[] = {{1, 0, 0}, {3, 1, 0}};
  const double took[] = {8};
  for (auto [kind, factor] : correctTimes(blocks, took))
    CHECK(factor == Approx(2));
}

TEST_CASE("blocks that take nothing, and groups of none") {
  const ExpectedBlock blocks[] = {{0, 0, 0}, {1, 1, 1}};
  const double took[] = {1, 2, 0};
  std::map<uint32_t, double> factors = correctTimes(blocks, took);
  CHECK(factors.at(0) == 1);
  CHECK(factors.at(1) == Approx(2));
}

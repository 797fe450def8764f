//===- LeastTest.cpp - least elements against the standard algorithm ------===//

#include "compiler/Search/Solver/Least.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

using namespace weft::solver;

TEST_CASE("the least of any number of elements, wherever it stands") {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (size_t count = 1; count <= 40; ++count)
    for (size_t place = 0; place < count; ++place) {
      std::vector<float> elements(count);
      std::generate(elements.begin(), elements.end(), [&] { return draw(random); });
      elements[place] = -2;
      CHECK(getLeast(elements.data(), count) == -2);
      elements[place] = std::numeric_limits<float>::infinity();
      CHECK(getLeast(elements.data(), count) ==
            *std::min_element(elements.begin(), elements.end()));
    }
}

TEST_CASE("the least sum of any number of pairs, some of which are infinite") {
  std::mt19937 random(2);
  std::uniform_int_distribution<int> draw(0, 1000);
  for (size_t count = 1; count <= 40; ++count)
    for (int round = 0; round < 8; ++round) {
      std::vector<double> a(count), b(count), sums(count);
      for (size_t i = 0; i < count; ++i) {
        a[i] = draw(random) < 100 ? std::numeric_limits<double>::infinity() : draw(random);
        b[i] = draw(random);
        sums[i] = a[i] + b[i];
      }
      CHECK(getLeastSum(a.data(), b.data(), count) == *std::min_element(sums.begin(), sums.end()));
    }
}

TEST_CASE("the least sums of costs and columns, of any number of rows") {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> draw(0, 1000);
  for (int rows = 1; rows <= 12; ++rows)
    for (int width : {1, 7, 8, 24}) {
      std::vector<float> cost(rows), table(size_t(rows) * width), out(width), expected(width);
      for (std::vector<float> *each : {&cost, &table})
        std::generate(each->begin(), each->end(), [&] { return float(draw(random)); });
      for (int j = 0; j < width; ++j) {
        expected[j] = std::numeric_limits<float>::infinity();
        for (int i = 0; i < rows; ++i)
          expected[j] = std::min(expected[j], cost[i] + table[size_t(i) * width + j]);
      }
      minPlus(cost.data(), table.data(), rows, width, out.data());
      CHECK(out == expected);
    }
}

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

#include "compiler/Graph/Repeats.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

using namespace weft;

static std::vector<Repeat> find(const std::string &text) {
  return findRepeats(std::vector<uint64_t>(text.begin(), text.end()));
}

/// By trying every stretch.
static std::vector<Repeat> findSlowly(const std::vector<uint64_t> &sequence) {
  std::vector<Repeat> repeats;
  auto size = static_cast<uint32_t>(sequence.size());
  auto holds = [&](uint32_t begin, uint32_t end, uint32_t period) {
    for (uint32_t i = begin; i + period < end; ++i)
      if (sequence[i] != sequence[i + period])
        return false;
    return true;
  };
  for (uint32_t period = 1; 2 * period <= size; ++period)
    for (uint32_t begin = 0; begin < size; ++begin)
      for (uint32_t end = begin + 2 * period; end <= size; ++end) {
        bool longest = (begin == 0 || !holds(begin - 1, end, period)) &&
                       (end == size || !holds(begin, end + 1, period));
        bool least = true;
        for (uint32_t shorter = 1; shorter < period; ++shorter)
          least &= period % shorter != 0 || !holds(begin, end, shorter);
        if (holds(begin, end, period) && longest && least)
          repeats.push_back({begin, end, period});
      }
  return repeats;
}

TEST_CASE("repeats are maximal, and have their least period") {
  CHECK(find("abcabcab") == std::vector<Repeat>{{0, 8, 3}});
  CHECK(find("xababababy") == std::vector<Repeat>{{1, 9, 2}});
  CHECK(find("aaaa") == std::vector<Repeat>{{0, 4, 1}});
  CHECK(find("abcdef").empty());
  CHECK(find("").empty());
  CHECK(find("aabaab") == std::vector<Repeat>{{0, 2, 1}, {3, 5, 1}, {0, 6, 3}});
}

TEST_CASE("repeats are those that trying everything finds") {
  std::minstd_rand random(11);
  for (int i = 0; i < 300; ++i) {
    std::vector<uint64_t> sequence(random() % 40);
    uint64_t letters = 1 + random() % 3;
    for (uint64_t &entry : sequence)
      entry = random() % letters;
    if (sequence.size() > 8 && i % 2 == 0) // something long that repeats
      std::copy_n(sequence.begin(), sequence.size() / 2, sequence.begin() + sequence.size() / 2);
    CHECK(findRepeats(sequence) == findSlowly(sequence));
  }
}

TEST_CASE("repeats of long sequences are found") {
  for (uint64_t period : {1, 97, 1000, 50000}) {
    std::vector<uint64_t> sequence(100000);
    for (size_t i = 0; i < sequence.size(); ++i)
      sequence[i] = i % period;
    CHECK(findRepeats(sequence) == std::vector<Repeat>{{0, 100000, uint32_t(period)}});
  }
}

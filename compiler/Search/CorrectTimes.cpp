#include "compiler/Search/CorrectTimes.h"

#include <vector>

using namespace weft;

/// Rounds after which factors of some kinds in some groups hardly change.
static constexpr int numRounds = 200;

std::map<uint32_t, double> weft::correctTimes(std::span<const ExpectedBlock> blocks,
                                              std::span<const double> seconds) {
  std::map<uint32_t, double> factors, expected; // by kind
  for (const ExpectedBlock &block : blocks) {
    factors[block.kind] = 1;
    expected[block.kind] += block.seconds;
  }
  for (int round = 0; round < numRounds; ++round) {
    std::vector<double> sums(seconds.size(), 0);
    for (const ExpectedBlock &block : blocks)
      sums[block.group] += factors[block.kind] * block.seconds;
    std::map<uint32_t, double> explained;
    for (const ExpectedBlock &block : blocks)
      if (sums[block.group] > 0)
        explained[block.kind] += block.seconds * seconds[block.group] / sums[block.group];
    for (auto &[kind, factor] : factors)
      if (expected[kind] > 0 && explained[kind] > 0)
        factor *= explained[kind] / expected[kind];
  }
  return factors;
}

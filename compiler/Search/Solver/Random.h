//===- Random.h - random numbers that are the same everywhere ---*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_RANDOM_H
#define WEFT_COMPILER_SEARCH_SOLVER_RANDOM_H

#include <cmath>
#include <cstdint>

namespace weft::solver {

/// splitmix64 (Steele, Lea, Flood 2014), with the draws that the searches need.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, count).
  int below(size_t count) { return int((unsigned __int128)next() * count >> 64); }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// In [low, high), even in the logarithm.
  double logBetween(double low, double high) { return low * std::pow(high / low, unit()); }

private:
  uint64_t state;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_RANDOM_H

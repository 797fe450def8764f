//===- Random.h - seeded choices, equal on every machine --------*- C++ -*-===//

#ifndef WEFT_TEST_PROPERTY_RANDOM_H
#define WEFT_TEST_PROPERTY_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <initializer_list>

namespace weft::property {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 0x1234567) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A whole number in [0, count).
  int64_t below(int64_t count) { return next() % uint64_t(count); }
  /// A whole number in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// A real number in [low, high).
  double real(double low, double high) {
    return low + (high - low) * double(next() >> 11) / 9007199254740992.0;
  }
  /// True once in `times` calls.
  bool oneIn(int64_t times) { return below(times) == 0; }
  template <typename Element> Element pick(llvm::ArrayRef<Element> from) {
    return from[below(from.size())];
  }
  template <typename Element> Element pick(std::initializer_list<Element> from) {
    return *(from.begin() + below(from.size()));
  }
  template <typename Container> void shuffle(Container &values) {
    for (int64_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[below(i)]);
  }

private:
  uint64_t state;
};

} // namespace weft::property

#endif // WEFT_TEST_PROPERTY_RANDOM_H

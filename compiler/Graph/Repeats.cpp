#include "compiler/Graph/Repeats.h"

#include <algorithm>

using namespace weft;

namespace {

/// Polynomial hashes modulo 2^61 - 1 of all stretches of a sequence.
class Hashes {
public:
  explicit Hashes(llvm::ArrayRef<uint64_t> sequence)
      : sums(sequence.size() + 1), powers(sequence.size() + 1, 1) {
    for (size_t i = 0; i < sequence.size(); ++i) {
      sums[i + 1] = add(multiply(sums[i], base), sequence[i] % prime);
      powers[i + 1] = multiply(powers[i], base);
    }
  }

  uint64_t get(size_t begin, size_t end) const {
    return add(sums[end], prime - multiply(sums[begin], powers[end - begin]));
  }

private:
  static constexpr uint64_t prime = (uint64_t(1) << 61) - 1, base = 0x16a09e667f3bcc9;

  static uint64_t add(uint64_t a, uint64_t b) {
    uint64_t sum = a + b;
    return sum >= prime ? sum - prime : sum;
  }
  static uint64_t multiply(uint64_t a, uint64_t b) {
    auto product = static_cast<unsigned __int128>(a) * b;
    return add(static_cast<uint64_t>(product & prime), static_cast<uint64_t>(product >> 61));
  }

  std::vector<uint64_t> sums, powers;
};

class Finder {
public:
  explicit Finder(llvm::ArrayRef<uint64_t> sequence) : sequence(sequence), hashes(sequence) {}

  std::vector<Repeat> run() {
    for (size_t period = 1; 2 * period <= sequence.size(); ++period)
      for (size_t at = 0; at + period < sequence.size();)
        at = follow(at, period);
    return std::move(repeats);
  }

private:
  size_t follow(size_t at, size_t period);
  size_t countEqualFrom(size_t a, size_t b) const;
  size_t countEqualBefore(size_t a, size_t b) const;
  bool isLeast(const Repeat &repeat) const;

  llvm::ArrayRef<uint64_t> sequence;
  Hashes hashes;
  std::vector<Repeat> repeats;
};

/// The most `count` up to `limit` for which `holds`, which holds up to it and not beyond.
template <typename Predicate> size_t findMost(size_t limit, Predicate holds) {
  size_t step = 1;
  while (step <= limit && holds(step))
    step *= 2;
  size_t low = step / 2, high = std::min(limit, step - 1);
  while (low < high) {
    size_t middle = (low + high + 1) / 2;
    if (holds(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Entries from a and from b on that are alike; a < b.
size_t Finder::countEqualFrom(size_t a, size_t b) const {
  return findMost(sequence.size() - b, [&](size_t count) {
    return hashes.get(a, a + count) == hashes.get(b, b + count);
  });
}

/// Entries before a and before b that are alike; a < b.
size_t Finder::countEqualBefore(size_t a, size_t b) const {
  return findMost(
      a, [&](size_t count) { return hashes.get(a - count, a) == hashes.get(b - count, b); });
}

/// Whether no part of the period is a period too.
bool Finder::isLeast(const Repeat &repeat) const {
  auto hasPeriod = [&](uint32_t period) {
    return hashes.get(repeat.begin, repeat.end - period) ==
           hashes.get(repeat.begin + period, repeat.end);
  };
  uint32_t rest = repeat.period;
  for (uint32_t prime = 2; prime * prime <= rest; ++prime)
    if (rest % prime == 0) {
      if (hasPeriod(repeat.period / prime))
        return false;
      while (rest % prime == 0)
        rest /= prime;
    }
  return rest == 1 || !hasPeriod(repeat.period / rest);
}

/// Looks for the repeat of `period` around entry `at`; the next entry to look from.
size_t Finder::follow(size_t at, size_t period) {
  size_t after = countEqualFrom(at, at + period), before = countEqualBefore(at, at + period);
  size_t next = at + period;
  if (after + before < period)
    return next;
  Repeat repeat{static_cast<uint32_t>(at - before), static_cast<uint32_t>(at + period + after),
                static_cast<uint32_t>(period)};
  bool again = !repeats.empty() && repeats.back() == repeat; // from its last period
  if (!again && isLeast(repeat))
    repeats.push_back(repeat);
  while (next + period < repeat.end)
    next += period;
  return next;
}

} // namespace

std::vector<Repeat> weft::findRepeats(llvm::ArrayRef<uint64_t> sequence) {
  return Finder(sequence).run();
}

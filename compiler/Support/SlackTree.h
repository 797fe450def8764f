//===- SlackTree.h - room left at each time ---------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SUPPORT_SLACKTREE_H
#define WEFT_COMPILER_SUPPORT_SLACKTREE_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Capacity that is left at each time: takes from ranges of times, and finds the least over a
/// range, both in logarithmic time (a segment tree whose changes stay at the top).
class SlackTree {
public:
  explicit SlackTree(std::span<const int64_t> capacity) {
    while (leaves < capacity.size())
      leaves *= 2;
    least.assign(2 * leaves, INT64_MAX / 2);
    taken.assign(2 * leaves, 0);
    std::copy(capacity.begin(), capacity.end(), least.begin() + leaves);
    for (size_t i = leaves; i-- > 1;)
      least[i] = std::min(least[2 * i], least[2 * i + 1]);
  }

  void take(int begin, int end, int64_t amount) { take(1, 0, leaves, begin, end, amount); }
  int64_t leastOver(int begin, int end) const { return leastOver(1, 0, leaves, begin, end); }

private:
  void take(size_t i, size_t from, size_t to, size_t begin, size_t end, int64_t amount) {
    if (end <= from || to <= begin)
      return;
    if (begin <= from && to <= end) {
      least[i] -= amount;
      taken[i] += amount;
      return;
    }
    size_t middle = (from + to) / 2;
    take(2 * i, from, middle, begin, end, amount);
    take(2 * i + 1, middle, to, begin, end, amount);
    least[i] = std::min(least[2 * i], least[2 * i + 1]) - taken[i];
  }
  int64_t leastOver(size_t i, size_t from, size_t to, size_t begin, size_t end) const {
    if (end <= from || to <= begin)
      return INT64_MAX / 2;
    if (begin <= from && to <= end)
      return least[i];
    size_t middle = (from + to) / 2;
    return std::min(leastOver(2 * i, from, middle, begin, end),
                    leastOver(2 * i + 1, middle, to, begin, end)) -
           taken[i];
  }

  size_t leaves = 1;
  std::vector<int64_t> least; ///< over a node's times, without what its ancestors took
  std::vector<int64_t> taken; ///< of all of a node's times
};

} // namespace weft

#endif // WEFT_COMPILER_SUPPORT_SLACKTREE_H

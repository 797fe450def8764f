#include "compiler/Search/StagePartition.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>

using namespace weft;

namespace {
/// What halving leaves of a time.
constexpr double precision = 1e-12;

/// Whether so many stages suffice where none takes longer than `limit`.
bool suffice(std::span<const double> times, size_t stages, double limit) {
  size_t used = 1;
  double time = 0;
  for (double next : times) {
    if (time + next > limit && time > 0) {
      ++used;
      time = 0;
    }
    time += next;
  }
  return used <= stages;
}

/// The least time of the slowest stage, or a little more.
double findLeastTime(std::span<const double> times, size_t stages) {
  double low = *std::max_element(times.begin(), times.end());
  double high = std::accumulate(times.begin(), times.end(), 0.0);
  if (suffice(times, stages, low))
    return low;
  while (high - low > precision * high) {
    double middle = (low + high) / 2;
    (suffice(times, stages, middle) ? high : low) = middle;
  }
  return high;
}

/// What stages that end behind a block cost.
struct Cost {
  double squares = std::numeric_limits<double>::infinity(); ///< of their times
  int64_t bytes = 0;                                        ///< that they hand on

  auto operator<=>(const Cost &) const = default;
};

struct Ends {
  explicit Ends(size_t count) : costs(count), before(count) {}
  std::vector<Cost> costs;
  std::vector<size_t> before; ///< where the stage before ends
};

class Partition {
public:
  Partition(std::span<const double> times, std::span<const int64_t> handedBytes, size_t stages)
      : handedBytes(handedBytes), sums(times.size() + 1, 0),
        limit(findLeastTime(times, stages) * (1 + 1e-9)) {
    std::partial_sum(times.begin(), times.end(), sums.begin() + 1);
  }

  Ends begin() const {
    Ends ends(sums.size() - 1);
    for (size_t end = 0; end < ends.costs.size() && getTime(0, end) <= limit; ++end)
      ends.costs[end] = add({0, 0}, 0, end);
    return ends;
  }

  /// One stage more: of all ends before, within its time, the best.
  Ends addStage(const Ends &last) const {
    Ends ends(last.costs.size());
    for (size_t end = 1; end < ends.costs.size(); ++end)
      for (size_t before = end; before-- > 0 && getTime(before + 1, end) <= limit;)
        if (Cost cost = add(last.costs[before], before + 1, end); cost < ends.costs[end]) {
          ends.costs[end] = cost;
          ends.before[end] = before;
        }
    return ends;
  }

private:
  double getTime(size_t first, size_t last) const { return sums[last + 1] - sums[first]; }
  Cost add(Cost before, size_t first, size_t last) const {
    double time = getTime(first, last);
    int64_t bytes = last < handedBytes.size() ? handedBytes[last] : 0;
    return {before.squares + time * time, before.bytes + bytes};
  }

  std::span<const int64_t> handedBytes;
  std::vector<double> sums;
  double limit;
};
} // namespace

std::vector<size_t> weft::partitionStages(std::span<const double> times,
                                          std::span<const int64_t> handedBytes, size_t stages) {
  Partition partition(times, handedBytes, stages);
  std::vector<Ends> all{partition.begin()};
  while (all.size() < stages)
    all.push_back(partition.addStage(all.back()));
  std::vector<size_t> cuts(stages - 1);
  size_t end = times.size() - 1;
  for (size_t stage = stages; stage-- > 1;)
    cuts[stage - 1] = end = all[stage].before[end];
  return cuts;
}

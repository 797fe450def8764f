#include "compiler/Search/Slice/TokenSlices.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <queue>

using namespace weft::slice;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// What a choice of slices for some sequences takes.
struct Times {
  double sum = never; ///< of forwards and backwards
  double longestForward = 0, longestBackward = 0;

  double getLatency(int64_t stages) const {
    return sum + static_cast<double>(stages - 1) * (longestForward + longestBackward);
  }
  void add(const Times &other, int64_t count) {
    sum += other.sum * static_cast<double>(count);
    longestForward = std::max(longestForward, other.longestForward);
    longestBackward = std::max(longestBackward, other.longestBackward);
  }
};

/// How many times each of the table's numbers of sequences is taken.
using Counts = std::vector<int64_t>;

/// The least sum over all ways to add up to the batch, where `costs` are those of the table's
/// numbers of sequences. Empty if there is no way.
Counts fillBatch(const SliceTable &table, int64_t batch, const std::vector<double> &costs) {
  if (table.batches.size() == 1) {
    bool divides = batch % table.batches[0].batch == 0 && costs[0] < never;
    return divides ? Counts{batch / table.batches[0].batch} : Counts();
  }
  std::vector<double> best(batch + 1, never);
  std::vector<int32_t> choice(batch + 1, -1);
  best[0] = 0;
  for (int64_t i = 1; i <= batch; ++i)
    for (size_t b = 0; b < costs.size(); ++b)
      if (int64_t rest = i - table.batches[b].batch; rest >= 0 && best[rest] + costs[b] < best[i]) {
        best[i] = best[rest] + costs[b];
        choice[i] = static_cast<int32_t>(b);
      }
  if (best[batch] == never)
    return {};
  Counts counts(costs.size());
  for (int64_t i = batch; i > 0; i -= table.batches[choice[i]].batch)
    ++counts[choice[i]];
  return counts;
}

/// Times of slices with the given ends, in units.
Times price(const BatchTimes &times, const std::vector<int64_t> &ends) {
  Times result;
  result.sum = 0;
  int64_t context = 0;
  for (int64_t end : ends) {
    size_t index = BatchTimes::getIndex(end, context);
    result.add(
        {times.forward[index] + times.backward[index], times.forward[index], times.backward[index]},
        1);
    context = end;
  }
  return result;
}

class Solver {
public:
  Solver(const SliceTable &table, const SliceOptions &options);
  Slicing solve();

private:
  /// Caps from `low` to `high`, as indices of the sorted times.
  struct Range {
    double bound = 0; ///< of latencies with these caps
    size_t lowForward = 0, highForward = 0, lowBackward = 0, highBackward = 0;

    bool operator<(const Range &other) const { return bound > other.bound; } // least first
  };

  double sumUnder(size_t batch, double forward, double backward);
  std::vector<int64_t> getEnds(size_t batch, double forward, double backward);
  Times tryCaps(size_t forward, size_t backward);
  void open(const Range &range);
  void queue(Range range, double sum);
  bool mayImprove(const Range &range) const;

  const SliceTable &table;
  const SliceOptions &options;
  std::vector<std::vector<double>> sums;   ///< forward + backward, by batch, as the tables
  std::vector<double> forwards, backwards; ///< caps: the different times
  std::vector<double> best;                ///< by end
  std::priority_queue<Range> ranges;
  double work = 0;
  double latency = never; ///< of the best found
  size_t bestForward = 0, bestBackward = 0;
};

std::vector<double> sortTimes(const SliceTable &table, std::vector<double> BatchTimes::*field) {
  std::vector<double> times;
  for (const BatchTimes &batch : table.batches)
    times.insert(times.end(), (batch.*field).begin(), (batch.*field).end());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

Solver::Solver(const SliceTable &table, const SliceOptions &options)
    : table(table), options(options), forwards(sortTimes(table, &BatchTimes::forward)),
      backwards(sortTimes(table, &BatchTimes::backward)), best(table.units + 1) {
  for (const BatchTimes &batch : table.batches) {
    sums.emplace_back(batch.forward.size());
    for (size_t i = 0; i < batch.forward.size(); ++i)
      sums.back()[i] = batch.forward[i] + batch.backward[i];
  }
}

/// The least sum of slices that are all under both caps; fills `best`.
double Solver::sumUnder(size_t batch, double forward, double backward) {
  const BatchTimes &times = table.batches[batch];
  best[0] = 0;
  for (int64_t end = 1; end <= table.units; ++end) {
    size_t row = BatchTimes::getIndex(end, 0);
    const double *f = &times.forward[row], *b = &times.backward[row], *s = &sums[batch][row];
    double least = never;
    for (int64_t context = 0; context < end; ++context) {
      bool fits = (f[context] <= forward) & (b[context] <= backward);
      double sum = fits ? best[context] + s[context] : never;
      least = sum < least ? sum : least;
    }
    best[end] = least;
  }
  work += static_cast<double>(times.forward.size());
  return best[table.units];
}

/// Ends of the slices that `sumUnder` found; of equal ones the longest last slice.
std::vector<int64_t> Solver::getEnds(size_t batch, double forward, double backward) {
  const BatchTimes &times = table.batches[batch];
  std::vector<int64_t> ends;
  for (int64_t end = table.units; end > 0;) {
    ends.push_back(end);
    size_t row = BatchTimes::getIndex(end, 0);
    int64_t context = 0;
    while (!(times.forward[row + context] <= forward && times.backward[row + context] <= backward &&
             best[context] + sums[batch][row + context] == best[end]))
      ++context;
    end = context;
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

/// The least sum under two caps, with the longest times that it really has.
Times Solver::tryCaps(size_t forward, size_t backward) {
  double maxForward = forwards[forward], maxBackward = backwards[backward];
  std::vector<double> costs;
  std::vector<Times> times;
  for (size_t batch = 0; batch < table.batches.size(); ++batch) {
    costs.push_back(sumUnder(batch, maxForward, maxBackward));
    times.push_back(costs.back() == never
                        ? Times()
                        : price(table.batches[batch], getEnds(batch, maxForward, maxBackward)));
  }
  Times total;
  Counts counts = fillBatch(table, options.batch, costs);
  if (counts.empty())
    return total;
  total.sum = 0;
  for (size_t batch = 0; batch < counts.size(); ++batch)
    if (counts[batch] > 0)
      total.add(times[batch], counts[batch]);
  return total;
}

/// The more was done, the less is asked for.
bool Solver::mayImprove(const Range &range) const {
  double effort = work / options.exactWork;
  return range.bound < latency * (1 - (effort > 1 ? options.tolerance * effort : 0));
}

/// Queues a range whose sums are at least `sum`, in halves along the side that costs more: their
/// bounds are closer.
void Solver::queue(Range range, double sum) {
  if (range.lowForward > range.highForward || range.lowBackward > range.highBackward)
    return;
  auto push = [&](Range part) {
    part.bound = sum + static_cast<double>(options.stages - 1) *
                           (forwards[part.lowForward] + backwards[part.lowBackward]);
    if (mayImprove(part))
      ranges.push(part);
  };
  double forward = forwards[range.highForward] - forwards[range.lowForward];
  double backward = backwards[range.highBackward] - backwards[range.lowBackward];
  Range low = range, high = range;
  if (forward == 0 && backward == 0)
    return push(range);
  if (forward >= backward) {
    low.highForward = (range.lowForward + range.highForward) / 2;
    high.lowForward = low.highForward + 1;
  } else {
    low.highBackward = (range.lowBackward + range.highBackward) / 2;
    high.lowBackward = low.highBackward + 1;
  }
  push(low);
  push(high);
}

/// Solves under a range's greatest caps. Caps between what the solution needs and the greatest have
/// the same solution; what may be better still needs less forward, or as much and less backward.
void Solver::open(const Range &range) {
  Times times = tryCaps(range.highForward, range.highBackward);
  if (times.sum == never)
    return;
  auto find = [](const std::vector<double> &caps, double time) {
    return static_cast<size_t>(std::lower_bound(caps.begin(), caps.end(), time) - caps.begin());
  };
  size_t forward = find(forwards, times.longestForward);
  size_t backward = find(backwards, times.longestBackward);
  if (double found = times.getLatency(options.stages); found < latency) {
    latency = found;
    bestForward = forward;
    bestBackward = backward;
  }
  Range less = range, as = range;
  if (forward > range.lowForward) {
    less.highForward = forward - 1;
    queue(less, times.sum);
  }
  if (backward > range.lowBackward) {
    as.lowForward = std::max(forward, range.lowForward);
    as.highBackward = backward - 1;
    queue(as, times.sum);
  }
}

Slicing Solver::solve() {
  open({0, 0, forwards.size() - 1, 0, backwards.size() - 1});
  if (latency == never)
    throw TableError(
        fmt::format("no sum of the table's numbers of sequences is {}", options.batch));
  while (!ranges.empty()) {
    Range range = ranges.top();
    ranges.pop();
    if (!mayImprove(range))
      break;
    open(range);
  }
  Slicing slicing{{}, latency};
  double maxForward = forwards[bestForward], maxBackward = backwards[bestBackward];
  std::vector<double> costs;
  std::vector<std::vector<int64_t>> lengths;
  for (size_t batch = 0; batch < table.batches.size(); ++batch) {
    costs.push_back(sumUnder(batch, maxForward, maxBackward));
    lengths.emplace_back();
    if (costs.back() == never)
      continue;
    int64_t context = 0;
    for (int64_t end : getEnds(batch, maxForward, maxBackward)) {
      lengths.back().push_back((end - context) * table.granularity);
      context = end;
    }
  }
  Counts counts = fillBatch(table, options.batch, costs);
  for (size_t batch = counts.size(); batch-- > 0;)
    for (int64_t i = 0; i < counts[batch]; ++i)
      slicing.slices.push_back({table.batches[batch].batch, lengths[batch]});
  return slicing;
}

} // namespace

Slicing weft::slice::findSlices(const SliceTable &table, const SliceOptions &options) {
  return Solver(table, options).solve();
}

/// Under every way to fill the batch with the same cut the longest times are those of the largest
/// number of sequences in it: all sets of numbers up to each are tried.
static double getUniformLatency(const SliceTable &table, const SliceOptions &options,
                                int64_t slices) {
  std::vector<int64_t> ends;
  for (int64_t i = 1; i <= slices; ++i)
    ends.push_back((i * table.units + slices - 1) / slices); // longer ones first
  std::vector<Times> times;
  for (const BatchTimes &batch : table.batches)
    times.push_back(price(batch, ends));
  double best = never;
  for (const Times &cap : times) {
    std::vector<double> costs;
    for (const Times &entry : times)
      costs.push_back(entry.longestForward <= cap.longestForward &&
                              entry.longestBackward <= cap.longestBackward
                          ? entry.sum
                          : never);
    Counts counts = fillBatch(table, options.batch, costs);
    if (counts.empty())
      continue;
    Times total;
    total.sum = 0;
    for (size_t batch = 0; batch < counts.size(); ++batch)
      if (counts[batch] > 0)
        total.add(times[batch], counts[batch]);
    best = std::min(best, total.getLatency(options.stages));
  }
  return best;
}

UniformSlicing weft::slice::findUniformSlices(const SliceTable &table,
                                              const SliceOptions &options) {
  UniformSlicing best{1, getWholeLatency(table, options)};
  for (int64_t slices = 2; slices <= table.units; ++slices)
    if (double latency = getUniformLatency(table, options, slices); latency < best.latency)
      best = {slices, latency};
  return best;
}

double weft::slice::getWholeLatency(const SliceTable &table, const SliceOptions &options) {
  return getUniformLatency(table, options, 1);
}

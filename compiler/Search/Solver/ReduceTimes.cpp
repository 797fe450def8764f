//===- ReduceTimes.cpp - times that can matter ----------------------------===//
//
// Worked example, limit 10. Node a is alive at [0, 2) and uses 3 or 5, b at [1, 3) and uses 4 or 6,
// c at [2, 3) and uses 2. Usage grows at times 0, 1 and 2. Subtracting the minima leaves a: 0 or 2,
// b: 0 or 2, nothing of c, and capacities 7, 3, 4. At time 0 even 2 fits, at time 2 even 2 fits:
// time 1 alone is kept.
//
//===----------------------------------------------------------------------===//

#include "compiler/Search/Solver/Reduce.h"

#include <algorithm>

using namespace weft::solver;

namespace {

/// For each time, the sum of what `amountOf` says of the usages that cover it.
template <typename F> std::vector<Wide> sumOverTimes(const Model &model, F &&amountOf) {
  std::vector<Wide> sums(model.capacity.size() + 1, 0);
  for (const Model::Node &node : model.nodes)
    for (const TimedUsage &usage : node.usages) {
      Wide amount = amountOf(usage);
      sums[usage.begin] += amount;
      sums[usage.end] -= amount;
    }
  for (size_t t = 1; t < sums.size(); ++t)
    sums[t] += sums[t - 1];
  return sums;
}

int64_t leastOf(const TimedUsage &usage) {
  return *std::min_element(usage.amount.begin(), usage.amount.end());
}
int64_t mostOf(const TimedUsage &usage) {
  return *std::max_element(usage.amount.begin(), usage.amount.end());
}

void subtractLeast(Model &model) {
  std::vector<Wide> least = sumOverTimes(model, leastOf);
  for (size_t t = 0; t < model.capacity.size(); ++t) {
    Wide left = model.capacity[t] - least[t];
    model.infeasible |= left < 0;
    model.capacity[t] = int64_t(std::max<Wide>(left, -1));
  }
  for (Model::Node &node : model.nodes) {
    for (TimedUsage &usage : node.usages) {
      int64_t amount = leastOf(usage);
      for (int64_t &value : usage.amount)
        value -= amount;
    }
    std::erase_if(node.usages, [](const TimedUsage &usage) { return mostOf(usage) == 0; });
  }
}

/// Of neighbouring times, one is implied where nothing that it holds has ended or is yet to begin
/// at the other, which has no more capacity. Times not in `binding` are never kept.
std::vector<int> keptTimes(const Model &model, const std::vector<char> &binding) {
  std::vector<int> begun(model.capacity.size() + 1, 0), ended(begun);
  for (const Model::Node &node : model.nodes)
    for (const TimedUsage &usage : node.usages) {
      ++begun[usage.begin];
      ++ended[usage.end];
    }
  for (size_t t = 1; t < begun.size(); ++t) {
    begun[t] += begun[t - 1]; // at or before t
    ended[t] += ended[t - 1];
  }
  std::vector<int> kept;
  for (size_t t = 0; t < model.capacity.size(); ++t) {
    if (!binding[t])
      continue;
    bool implied = false;
    while (!kept.empty() && !implied) {
      int last = kept.back();
      if (ended[t] == ended[last] && model.capacity[last] >= model.capacity[t])
        kept.pop_back();
      else if (begun[t] == begun[last] && model.capacity[t] >= model.capacity[last])
        implied = true;
      else
        break;
    }
    if (!implied)
      kept.push_back(int(t));
  }
  return kept;
}

void renumberTimes(Model &model, const std::vector<int> &kept) {
  std::vector<int> newIndex(model.capacity.size() + 1, 0); // kept times before t
  for (int t : kept)
    newIndex[t + 1] = 1;
  for (size_t t = 1; t < newIndex.size(); ++t)
    newIndex[t] += newIndex[t - 1];
  for (size_t i = 0; i < kept.size(); ++i)
    model.capacity[i] = model.capacity[kept[i]];
  model.capacity.resize(kept.size());
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    std::vector<TimedUsage> usages = std::move(model.nodes[i].usages);
    model.nodes[i].usages.clear();
    for (TimedUsage &usage : usages) {
      usage.begin = newIndex[usage.begin];
      usage.end = newIndex[usage.end];
      if (usage.begin < usage.end)
        model.nodes[i].usages.push_back(std::move(usage));
    }
    model.normalizeUsages(int(i));
  }
}

/// The least capacity over ranges of times, in constant time (a sparse table).
class LeastCapacity {
public:
  explicit LeastCapacity(const std::vector<int64_t> &capacity) : levels{capacity} {
    for (size_t step = 1; 2 * step <= capacity.size(); step *= 2) {
      const std::vector<int64_t> &last = levels.back();
      std::vector<int64_t> next(last.size() - step);
      for (size_t t = 0; t < next.size(); ++t)
        next[t] = std::min(last[t], last[t + step]);
      levels.push_back(std::move(next));
    }
  }
  int64_t over(int begin, int end) const {
    int level = 31 - __builtin_clz(unsigned(end - begin));
    return std::min(levels[level][begin], levels[level][end - (1 << level)]);
  }

private:
  std::vector<std::vector<int64_t>> levels;
};

} // namespace

int weft::solver::reduceTimes(Model &model) {
  size_t before = model.capacity.size();
  for (int pass = 0; pass < 3 && !model.infeasible; ++pass) {
    size_t times = model.capacity.size();
    subtractLeast(model);
    std::vector<Wide> most = sumOverTimes(model, mostOf);
    std::vector<char> binding(times);
    for (size_t t = 0; t < times; ++t)
      binding[t] = most[t] > model.capacity[t];
    renumberTimes(model, keptTimes(model, binding));
    if (model.capacity.size() == times)
      break;
  }
  return int(before - model.capacity.size());
}

int weft::solver::removeOversized(Model &model) {
  if (model.capacity.empty())
    return 0;
  subtractLeast(model);
  if (model.infeasible)
    return 0;
  LeastCapacity capacity(model.capacity);
  int changes = 0;
  for (size_t i = 0; i < model.nodes.size() && !model.infeasible; ++i) {
    std::vector<int> kept;
    const Model::Node &node = model.nodes[i];
    for (size_t s = 0; s < node.size(); ++s)
      if (std::all_of(node.usages.begin(), node.usages.end(), [&](const TimedUsage &usage) {
            return usage.amount[s] <= capacity.over(usage.begin, usage.end);
          }))
        kept.push_back(int(s));
    changes += int(node.size() - kept.size());
    if (kept.size() < node.size())
      model.keepStrategies(int(i), kept);
  }
  return changes;
}

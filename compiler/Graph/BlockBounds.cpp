#include "compiler/Graph/BlockBounds.h"
#include "compiler/Graph/Repeats.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

using namespace weft;

uint64_t weft::getStretchKey(const OperationSequence &sequence, uint32_t begin, uint32_t end) {
  llvm::hash_code hash = llvm::hash_value(end - begin);
  llvm::DenseMap<uint32_t, uint32_t> outside;
  for (uint32_t i = begin; i < end; ++i) {
    hash = llvm::hash_combine(hash, sequence.nodes[i].label);
    for (uint32_t input : sequence.nodes[i].inputs) {
      uint32_t producer = sequence.values[input].producer;
      bool inside = producer >= begin;
      uint32_t number =
          inside ? producer - begin : outside.try_emplace(input, outside.size()).first->second;
      hash = llvm::hash_combine(hash, inside, number);
    }
  }
  return hash;
}

namespace {

/// Blocks that repeat, one after another.
struct Run {
  uint32_t begin = 0, period = 0, count = 0;
  int64_t cutBytes = 0; ///< live before one of them, on average

  uint32_t getEnd() const { return begin + period * count; }
  uint32_t getFolded() const { return period * (count - 1); }
};

/// Values that pass a place.
struct Passing {
  int32_t count = 0, forks = 0; ///< all, and those that branch

  void add(bool branches, int32_t times) {
    count += times;
    forks += times * branches;
  }
  void add(const Passing &other) {
    count += other.count;
    forks += other.forks;
  }
  bool isFork() const { return count == 1 && forks == 1; }
};

class BoundFinder {
public:
  explicit BoundFinder(const OperationSequence &sequence);
  std::vector<uint32_t> run();

private:
  using Bounds = std::vector<uint32_t>;
  using Keys = std::vector<uint64_t>;

  bool branches(const OperationSequence::Value &value) const;
  bool isWeighted(uint32_t begin, uint32_t end) const;
  bool isChain(const Repeat &repeat) const;
  bool isPassed(const Repeat &repeat) const;
  uint32_t getFirstValue(uint32_t operation) const;
  Run choosePhase(const Repeat &repeat) const;
  void chooseRuns();
  std::optional<Repeat> trim(Repeat repeat) const;
  bool repeatsInside(const Run &run) const;
  bool isSpelledAs(uint32_t a, uint32_t b, uint32_t count) const;
  Bounds cut(uint32_t begin, uint32_t end) const;
  void dropUnweighted(Bounds &bounds, uint32_t end) const;
  void cutLargest(Bounds &bounds, uint32_t end) const;
  Keys getKeys(const Bounds &bounds, uint32_t end) const;
  void joinLike(Bounds &bounds, uint32_t end, const Run *before, const Run *after) const;
  void addGap(uint32_t begin, uint32_t end, const Run *before, const Run *after);

  const OperationSequence &sequence;
  std::vector<int64_t> live;     ///< bytes before each operation, and after the last
  std::vector<bool> forked;      ///< whether one value is live there, which is used more than once
  std::vector<uint32_t> weights; ///< of operations before
  std::vector<std::pair<Repeat, Run>> candidates;
  std::map<uint32_t, Run> runs; ///< by begin
  Bounds bounds;
};

/// Sums of what begins and ends at each place.
BoundFinder::BoundFinder(const OperationSequence &sequence)
    : sequence(sequence), live(sequence.size() + 2), forked(sequence.size() + 1),
      weights(sequence.size() + 1) {
  for (uint32_t i = 0; i < sequence.size(); ++i)
    weights[i + 1] = weights[i] + sequence.nodes[i].weighted;
  std::vector<Passing> passing(sequence.size() + 2);
  for (const OperationSequence::Value &value : sequence.values) {
    live[value.producer + 1] += value.bytes;
    live[value.last + 1] -= value.bytes;
    passing[value.producer + 1].add(branches(value), 1);
    passing[value.last + 1].add(branches(value), -1);
  }
  for (uint32_t i = 1; i <= sequence.size(); ++i) {
    live[i] += live[i - 1];
    passing[i].add(passing[i - 1]);
    forked[i] = passing[i].isFork();
  }
}

bool BoundFinder::isWeighted(uint32_t begin, uint32_t end) const {
  return weights[end] > weights[begin];
}

/// Whether a value is used more than once, with a product in between: not what an activation is
/// spelled out by.
bool BoundFinder::branches(const OperationSequence::Value &value) const {
  return value.users > 1 && isWeighted(value.producer + 1, value.last + 1);
}

/// Whether every repetition takes something of the one before.
bool BoundFinder::isChain(const Repeat &repeat) const {
  for (uint32_t begin = repeat.begin + repeat.period; begin + repeat.period <= repeat.end;
       begin += repeat.period) {
    bool joined = false;
    for (uint32_t i = begin; i < begin + repeat.period && !joined; ++i)
      joined = llvm::any_of(sequence.nodes[i].inputs, [&](uint32_t input) {
        uint32_t producer = sequence.values[input].producer;
        return producer < begin && producer >= begin - repeat.period;
      });
    if (!joined)
      return false;
  }
  return true;
}

/// Whether a value that is used before the repeat or at its begin passes it by, not much longer
/// than that is: then it is a part of what a residual connection spans. Those of U-shaped models
/// span more. A value that the first repetition makes passes by as well, unless the last one makes
/// one that is used as late.
bool BoundFinder::isPassed(const Repeat &repeat) const {
  uint32_t first = repeat.begin + repeat.period; ///< of the second repetition
  uint32_t last = repeat.begin + (repeat.size() / repeat.period - 1) * repeat.period;
  uint32_t end = last + repeat.period, longest = 2 * repeat.size();
  uint32_t earliest = end - std::min(end, longest);
  llvm::DenseSet<uint32_t> before, inside;
  for (uint32_t i = earliest; i < end; ++i)
    (i < first ? before : inside)
        .insert(sequence.nodes[i].inputs.begin(), sequence.nodes[i].inputs.end());
  for (uint32_t i = getFirstValue(earliest); i < getFirstValue(first); ++i) {
    const OperationSequence::Value &value = sequence.values[i];
    if (value.last < end || value.last - value.producer >= longest || !before.contains(i) ||
        inside.contains(i))
      continue;
    if (value.producer < repeat.begin)
      return true;
    uint32_t shifted =
        getFirstValue(value.producer + last - repeat.begin) + i - getFirstValue(value.producer);
    if (sequence.values[shifted].last < end)
      return true;
  }
  return false;
}

/// The first value that is made by an operation, or by a later one.
uint32_t BoundFinder::getFirstValue(uint32_t operation) const {
  auto found = llvm::partition_point(sequence.values,
                                     [&](const auto &value) { return value.producer < operation; });
  return found - sequence.values.begin();
}

/// As many repetitions as there are, from where their cuts are best; of equals from the first.
Run BoundFinder::choosePhase(const Repeat &repeat) const {
  uint32_t count = repeat.size() / repeat.period;
  using Cost = std::tuple<int64_t, int64_t, bool>;
  Cost best;
  Run run;
  for (uint32_t begin = repeat.begin; begin + count * repeat.period <= repeat.end; ++begin) {
    int64_t bytes = 0, forks = 0;
    for (uint32_t i = 0; i <= count; ++i) {
      bytes += live[begin + i * repeat.period];
      forks += forked[begin + i * repeat.period];
    }
    Cost cost{bytes, -forks, !sequence.nodes[begin].weighted};
    if (run.count > 0 && best <= cost)
      continue;
    best = cost;
    run = {begin, repeat.period, count, bytes / (count + 1)};
  }
  return run;
}

/// What is left of a repeat beside the runs that are chosen, if it still repeats.
std::optional<Repeat> BoundFinder::trim(Repeat repeat) const {
  auto next = runs.lower_bound(repeat.begin);
  if (next != runs.begin())
    repeat.begin = std::max(repeat.begin, std::prev(next)->second.getEnd());
  next = runs.lower_bound(repeat.begin);
  if (next != runs.end())
    repeat.end = std::min(repeat.end, next->first);
  if (repeat.begin >= repeat.end || repeat.size() < 2 * repeat.period)
    return std::nullopt;
  return repeat;
}

/// Whether most of a run's block repeats by itself, between cuts that are no wider.
bool BoundFinder::repeatsInside(const Run &run) const {
  return llvm::any_of(candidates, [&](const auto &entry) {
    const Run &inner = entry.second;
    return inner.period < run.period && inner.begin >= run.begin &&
           inner.getEnd() <= run.getEnd() && 2 * inner.period * inner.count > run.period &&
           inner.cutBytes <= run.cutBytes;
  });
}

void BoundFinder::chooseRuns() {
  std::vector<uint64_t> labels;
  for (const OperationSequence::Node &node : sequence.nodes)
    labels.push_back(node.label);
  for (const Repeat &repeat : findRepeats(labels))
    if (isWeighted(repeat.begin, repeat.begin + repeat.period) && isChain(repeat) &&
        !isPassed(repeat))
      candidates.emplace_back(repeat, choosePhase(repeat));
  llvm::sort(candidates, [](const auto &a, const auto &b) {
    auto rank = [](const Run &run) {
      return std::tuple(-int64_t(run.getFolded()), run.begin, run.period);
    };
    return rank(a.second) < rank(b.second);
  });
  for (const auto &[repeat, whole] : candidates)
    if (std::optional<Repeat> left = trim(repeat); left && !repeatsInside(whole)) {
      Run run = *left == repeat ? whole : choosePhase(*left);
      runs.emplace(run.begin, run);
    }
}

/// Whether `count` operations from both places on are of the same names.
bool BoundFinder::isSpelledAs(uint32_t a, uint32_t b, uint32_t count) const {
  for (uint32_t i = 0; i < count; ++i)
    if (sequence.nodes[a + i].name != sequence.nodes[b + i].name)
      return false;
  return true;
}

/// Begins of pieces between which a single value passes, one that is used more than once, besides
/// values that pass all of [begin, end). The end of the model is a piece of its own where nothing
/// branches any more and both sides have products; what the piece before has behind its last
/// branch, an activation perhaps, goes with the one that ends there too.
BoundFinder::Bounds BoundFinder::cut(uint32_t begin, uint32_t end) const {
  std::vector<Passing> here(end - begin + 2);
  auto add = [&](const OperationSequence::Value &value) {
    here[std::max(value.producer + 1, begin) - begin].add(branches(value), 1);
    here[std::min(value.last + 1, end + 1) - begin].add(branches(value), -1);
  };
  auto first = llvm::partition_point(sequence.values,
                                     [&](const auto &value) { return value.producer < begin; });
  for (; first != sequence.values.end() && first->producer < end; ++first)
    add(*first);
  llvm::DenseSet<uint32_t> entering;
  for (uint32_t i = begin; i < end; ++i)
    for (uint32_t input : sequence.nodes[i].inputs)
      if (const auto &value = sequence.values[input];
          value.producer < begin && value.last < end && entering.insert(input).second)
        add(value);
  Bounds bounds = {begin};
  uint32_t narrow = begin, behind = 0; ///< after the last wider place, also of the piece before
  for (uint32_t at = begin + 1; at < end; ++at) {
    here[at - begin].add(here[at - begin - 1]);
    if (here[at - begin].count > 1)
      narrow = at + 1;
    else if (here[at - begin].isFork()) {
      behind = at - std::max(narrow, bounds.back());
      bounds.push_back(at);
    }
  }
  if (end != sequence.size() || narrow <= bounds.back())
    return bounds;
  if (narrow + behind < end && isSpelledAs(bounds.back() - behind, narrow, behind))
    narrow += behind;
  if (narrow < end && isWeighted(bounds.back(), narrow) && isWeighted(narrow, end))
    bounds.push_back(narrow);
  return bounds;
}

/// Joins pieces that no product is in with the ones that follow, the last with the one before.
void BoundFinder::dropUnweighted(Bounds &bounds, uint32_t end) const {
  Bounds kept = {bounds.front()};
  for (uint32_t bound : llvm::drop_begin(bounds))
    if (isWeighted(kept.back(), bound))
      kept.push_back(bound);
  if (kept.size() > 1 && !isWeighted(kept.back(), end))
    kept.pop_back();
  bounds = std::move(kept);
}

/// Cuts a piece that is most of the model between its first cut and where the value that is live
/// there is used last: what a long connection passes by.
void BoundFinder::cutLargest(Bounds &bounds, uint32_t end) const {
  for (size_t i = 1; i < bounds.size(); ++i) {
    uint32_t begin = bounds[i], stop = i + 1 < bounds.size() ? bounds[i + 1] : end;
    if (2 * (stop - begin) <= sequence.size())
      continue;
    uint32_t last = begin;
    for (uint32_t j = begin; j < stop; ++j)
      for (uint32_t input : sequence.nodes[j].inputs)
        if (sequence.values[input].producer < begin)
          last = j;
    if (last <= begin || last >= stop)
      continue;
    Bounds inner = cut(begin, last);
    inner.push_back(last);
    dropUnweighted(inner, stop);
    cutLargest(inner, stop);
    bounds.insert(bounds.begin() + i + 1, inner.begin() + 1, inner.end());
    return;
  }
}

BoundFinder::Keys BoundFinder::getKeys(const Bounds &bounds, uint32_t end) const {
  Keys keys;
  for (size_t i = 0; i < bounds.size(); ++i)
    keys.push_back(getStretchKey(sequence, bounds[i], i + 1 < bounds.size() ? bounds[i + 1] : end));
  return keys;
}

/// Joins `count` pieces from the one of that number on.
static void join(std::vector<uint32_t> &bounds, size_t at, size_t count) {
  bounds.erase(bounds.begin() + at + 1, bounds.begin() + at + count);
}

/// Joins pieces beside a run as those of its blocks are, if one of them is the same; then pieces
/// that follow on each occurrence of one piece.
void BoundFinder::joinLike(Bounds &bounds, uint32_t end, const Run *before,
                           const Run *after) const {
  auto joinAs = [&](const Run &run, bool atEnd) {
    uint32_t stop = run.begin + run.period;
    Keys pattern = getKeys(cut(run.begin, stop), stop), keys = getKeys(bounds, end);
    if (pattern.size() < 2 || keys.size() < pattern.size())
      return;
    size_t at = atEnd ? keys.size() - pattern.size() : 0;
    for (size_t i = 0; i < pattern.size(); ++i)
      if (keys[at + i] == pattern[i])
        return join(bounds, at, pattern.size());
  };
  if (after)
    joinAs(*after, /*atEnd=*/true);
  if (before)
    joinAs(*before, /*atEnd=*/false);
  Keys keys = getKeys(bounds, end);
  for (size_t i = 0; i < keys.size(); ++i) {
    auto next = std::find(keys.begin() + i + 1, keys.end(), keys[i]);
    size_t apart = next - keys.begin() - i;
    if (next == keys.end() || apart < 2)
      continue;
    std::vector<size_t> places;
    for (size_t j = i; j < keys.size() && keys[j] == keys[i] && j + apart <= keys.size();
         j += apart)
      places.push_back(j);
    for (size_t j : llvm::reverse(places))
      join(bounds, j, apart);
    return;
  }
}

void BoundFinder::addGap(uint32_t begin, uint32_t end, const Run *before, const Run *after) {
  if (begin == end)
    return;
  Bounds pieces = cut(begin, end);
  if (runs.empty())
    cutLargest(pieces, end);
  joinLike(pieces, end, before, after);
  bounds.insert(bounds.end(), pieces.begin(), pieces.end());
}

std::vector<uint32_t> BoundFinder::run() {
  chooseRuns();
  uint32_t at = 0;
  const Run *before = nullptr;
  for (const auto &[begin, run] : runs) {
    addGap(at, begin, before, &run);
    for (uint32_t i = 0; i < run.count; ++i)
      bounds.push_back(begin + i * run.period);
    at = run.getEnd();
    before = &run;
  }
  addGap(at, sequence.size(), before, nullptr);
  return std::move(bounds);
}

} // namespace

std::vector<uint32_t> weft::findBlockBounds(const OperationSequence &sequence) {
  return BoundFinder(sequence).run();
}

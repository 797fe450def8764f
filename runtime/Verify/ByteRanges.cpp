#include "runtime/Verify/ByteRanges.h"

#include <algorithm>

namespace weft::runtime {

std::vector<ByteRange> getByteRanges(int64_t offset, int64_t elementBytes,
                                     const std::vector<int64_t> &shape,
                                     const std::vector<int64_t> &strides, size_t limit) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride in bytes, extent
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0)
      return {};
    if (shape[i] > 1 && strides[i] > 0)
      dims.emplace_back(strides[i] * elementBytes, shape[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t run = elementBytes; // inner dimensions that leave no gap join the run
  size_t inner = 0;
  while (inner < dims.size() && dims[inner].first <= run) {
    run = dims[inner].first * (dims[inner].second - 1) + run;
    ++inner;
  }
  size_t count = 1;
  for (size_t i = inner; i < dims.size() && count <= limit; ++i)
    count *= static_cast<size_t>(dims[i].second);
  std::vector<ByteRange> ranges = {{offset, offset + run}};
  for (size_t i = inner; i < dims.size(); ++i) {
    std::vector<ByteRange> more;
    int64_t step = count > limit ? dims[i].second - 1 : 1;
    for (int64_t at = 0; at < dims[i].second; at += step)
      for (const ByteRange &range : ranges)
        more.push_back({range.begin + at * dims[i].first, range.end + at * dims[i].first});
    ranges = std::move(more);
  }
  return ranges;
}

namespace {
void appendNumber(std::string &key, int64_t number) {
  key.append(reinterpret_cast<const char *>(&number), sizeof(number));
}
} // namespace

void Contents::appendKey(std::string &key) const {
  for (auto it = ranges.begin(); it != ranges.end(); ++it) {
    // Neighbours of one value are one range, however they were written.
    auto last = it;
    while (std::next(last) != ranges.end() && std::next(last)->first == last->second.first &&
           std::next(last)->second.second == it->second.second)
      ++last;
    appendNumber(key, it->first);
    appendNumber(key, last->second.first);
    appendNumber(key, it->second.second);
    it = last;
  }
}

void Contents::set(ByteRange range, uint32_t value) {
  if (range.begin >= range.end)
    return;
  auto it = ranges.lower_bound(range.begin);
  if (it != ranges.begin() && std::prev(it)->second.first > range.begin)
    --it;
  while (it != ranges.end() && it->first < range.end) {
    int64_t begin = it->first;
    auto [end, old] = it->second;
    it = ranges.erase(it);
    if (begin < range.begin)
      ranges[begin] = {range.begin, old};
    if (end > range.end)
      it = ranges.insert({range.end, {end, old}}).first;
  }
  ranges[range.begin] = {range.end, value};
}

bool Contents::findOther(ByteRange range, uint32_t value, int64_t &byte, uint32_t &holds) const {
  auto it = ranges.upper_bound(range.begin);
  if (it != ranges.begin())
    --it;
  for (byte = range.begin; byte < range.end;) {
    while (it != ranges.end() && it->second.first <= byte)
      ++it;
    bool covers = it != ranges.end() && it->first <= byte;
    holds = covers ? it->second.second : 0;
    if (holds != value)
      return true;
    byte = covers ? it->second.first : it == ranges.end() ? range.end : it->first;
  }
  return false;
}

bool Contents::find(ByteRange range, uint32_t value, int64_t &byte) const {
  auto it = ranges.upper_bound(range.begin);
  if (it != ranges.begin() && std::prev(it)->second.first > range.begin)
    --it;
  for (; it != ranges.end() && it->first < range.end; ++it)
    if (it->second.second == value) {
      byte = std::max(it->first, range.begin);
      return true;
    }
  return false;
}

void UseCounts::appendKey(std::string &key) const {
  for (auto [byte, uses] : counts) {
    appendNumber(key, byte);
    appendNumber(key, uses);
  }
}

std::map<int64_t, int>::iterator UseCounts::split(int64_t byte) {
  auto it = counts.lower_bound(byte);
  if (it != counts.end() && it->first == byte)
    return it;
  int uses = it == counts.begin() ? 0 : std::prev(it)->second;
  return counts.emplace_hint(it, byte, uses);
}

void UseCounts::add(ByteRange range, int change) {
  if (range.begin >= range.end)
    return;
  auto end = split(range.end);
  for (auto it = split(range.begin); it != end; ++it)
    it->second += change;
  auto isRedundant = [&](std::map<int64_t, int>::iterator it) {
    return it->second == (it == counts.begin() ? 0 : std::prev(it)->second);
  };
  if (isRedundant(end))
    counts.erase(end);
  if (auto begin = counts.find(range.begin); isRedundant(begin))
    counts.erase(begin);
}

bool UseCounts::findUsed(ByteRange range, int64_t &byte) const {
  auto it = counts.upper_bound(range.begin);
  if (range.begin < range.end && it != counts.begin() && std::prev(it)->second > 0) {
    byte = range.begin;
    return true;
  }
  for (; it != counts.end() && it->first < range.end; ++it)
    if (it->second > 0) {
      byte = it->first;
      return true;
    }
  return false;
}

} // namespace weft::runtime

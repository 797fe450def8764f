#include "compiler/Simulate/MemoryMeter.h"

#include <algorithm>

using namespace weft::sim;

void MemoryMeter::flush(std::vector<MemoryPoint> *points) {
  for (const MemoryChange &change : coming) {
    live[change.owner] += change.bytes;
    total += change.bytes;
  }
  coming.clear();
  if (total > peak.bytes) {
    peak.bytes = total;
    peak.seconds = now;
    peak.owners = live;
  }
  if (!points)
    return;
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (int32_t owner : touched)
    points->push_back({rankClass, owner, now, live[owner]});
  touched.clear();
}

void MemoryMeter::change(double seconds, const std::vector<MemoryChange> &changes,
                         std::vector<MemoryPoint> *points) {
  if (changes.empty())
    return;
  if (seconds != now) {
    flush(points);
    now = seconds;
  }
  for (const MemoryChange &change : changes) {
    if (points)
      touched.push_back(change.owner);
    if (change.bytes > 0) {
      coming.push_back(change);
      continue;
    }
    live[change.owner] += change.bytes;
    total += change.bytes;
  }
}

MemoryPeak MemoryMeter::finish(std::vector<MemoryPoint> *points) {
  flush(points);
  if (peak.owners.empty())
    peak.owners.resize(live.size());
  return peak;
}

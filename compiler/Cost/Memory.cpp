#include "compiler/Cost/Memory.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace weft;

static double sum(const MemoryBytes &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

double MemoryProfile::getPeak() const { return sum(atPeak) + reserve; }

MemoryProfile weft::foldMemory(std::vector<MemoryEvent> events, const CostConstants &constants) {
  std::sort(events.begin(), events.end(), [](const MemoryEvent &a, const MemoryEvent &b) {
    return std::make_tuple(a.time, a.bytes > 0, a.use, a.bytes) <
           std::make_tuple(b.time, b.bytes > 0, b.use, b.bytes);
  });
  MemoryProfile profile;
  MemoryBytes live{};
  double peak = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    live[static_cast<size_t>(events[i].use)] += events[i].bytes;
    if (i + 1 < events.size() && events[i + 1].time == events[i].time)
      continue;
    double bytes = sum(live);
    profile.points.push_back({events[i].time, bytes});
    if (bytes > peak) {
      peak = bytes;
      profile.peakTime = events[i].time;
      profile.atPeak = live;
    }
  }
  profile.reserve = peak * constants.allocatorReserve;
  return profile;
}

MemoryBytes weft::getStateBytesPerParameter(int stage, int64_t ranks, double gradientBytes) {
  auto divided = [&](double bytes, int from) {
    return stage >= from ? bytes / static_cast<double>(ranks) : bytes;
  };
  MemoryBytes bytes{};
  bytes[static_cast<size_t>(MemoryClass::Weights)] = divided(2, 3);
  bytes[static_cast<size_t>(MemoryClass::Gradients)] = divided(gradientBytes, 2);
  bytes[static_cast<size_t>(MemoryClass::Optimizer)] = divided(12, 1);
  return bytes;
}

double weft::getLayerActivationBytes(const LayerActivations &layer) {
  auto heads = static_cast<double>(layer.heads), sequence = static_cast<double>(layer.sequence);
  auto hidden = static_cast<double>(layer.hidden), degree = static_cast<double>(layer.tensorDegree);
  double block = sequence * static_cast<double>(layer.microBatch) * hidden;
  double whole = layer.sequenceParallel ? 1 / degree : 1;
  if (layer.recompute == Recompute::Full)
    return 2 * block * whole;
  double scores = layer.fusedAttention || layer.recompute == Recompute::Selective
                      ? 0
                      : 5 * heads * sequence / hidden / degree;
  return block * (10 * whole + 24 / degree + scores);
}

//===- Regions.cpp - which nodes to solve together ------------------------===//

#include "compiler/Search/Solver/Regions.h"

#include <algorithm>
#include <utility>

using namespace weft::solver;

static constexpr int blockLength = 64; ///< times

Regions::Regions(const Core &core)
    : core(core), holders(core.capacity.size() / blockLength + 1), marked(core.numNodes(), 0) {
  constexpr int longest = 16; // blocks: what lives longer is listed at its ends
  for (int u = 0; u < core.numNodes(); ++u)
    for (const Core::Usage &usage : core.usages(u)) {
      int first = usage.begin / blockLength, last = (usage.end - 1) / blockLength;
      int step = std::max(1, (last - first) / longest);
      for (int block = first; block <= last; block += step)
        if (holders[block].empty() || holders[block].back() != u)
          holders[block].push_back(u);
    }
}

void Regions::seed(int node) {
  if (!std::exchange(marked[node], 1))
    frontier.push_back(node);
}

void Regions::grow(Random &random, size_t count) {
  while (region.size() < count && !frontier.empty()) {
    int node = std::exchange(frontier[random.below(frontier.size())], frontier.back());
    frontier.pop_back();
    region.push_back(node);
    for (const Core::Neighbour &v : core.neighbours(node))
      seed(v.node);
  }
}

int Regions::partnerOf(Random &random, int node) const {
  std::span<const Core::Usage> usages = core.usages(node);
  if (usages.empty())
    return random.below(core.numNodes());
  const Core::Usage &usage = usages[random.below(usages.size())];
  int time = usage.begin + random.below(usage.end - usage.begin);
  const std::vector<int> &list = holders[time / blockLength];
  return list.empty() ? random.below(core.numNodes()) : list[random.below(list.size())];
}

std::vector<int> Regions::draw(Random &random, size_t count, int clumps) {
  constexpr int mostSeeds = 16; // of small components, beyond the clumps asked for
  count = std::min(count, size_t(core.numNodes()));
  seed(random.below(core.numNodes()));
  for (int clump = 1; clump <= clumps + mostSeeds && region.size() < count; ++clump) {
    size_t part = clump < clumps ? region.size() + count / clumps : count;
    grow(random, std::min(part, count));
    if (region.size() >= count)
      break;
    for (int node : std::exchange(frontier, {}))
      marked[node] = 0;
    seed(partnerOf(random, region[random.below(region.size())]));
  }
  for (int node : region)
    marked[node] = 0;
  for (int node : std::exchange(frontier, {}))
    marked[node] = 0;
  return std::exchange(region, {});
}

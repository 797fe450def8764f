#include "compiler/Schedule/Schedule.h"

#include <array>
#include <fmt/format.h>

using namespace weft::schedule;

const char *weft::schedule::getKindName(ActionKind kind) {
  static constexpr std::array<const char *, numActionKinds> names = {
      "F",      "B",      "I",       "W",       "R",           "SEND_F", "RECV_F",
      "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD", "UPDATE"};
  return names[static_cast<size_t>(kind)];
}

std::string weft::schedule::describe(const Action &action) {
  std::string slice = action.slice > 0 ? fmt::format(", slice {}", action.slice) : "";
  if (action.kind >= ActionKind::Gather)
    return fmt::format("{} of stage {}", getKindName(action.kind), action.stage);
  return fmt::format("{} of stage {}, microbatch {}{}", getKindName(action.kind), action.stage,
                     action.microbatch, slice);
}

std::vector<std::vector<int32_t>> Placement::getChunks() const {
  std::vector<std::vector<int32_t>> chunks(numRanks);
  for (int32_t stage = 0; stage < getNumStages(); ++stage)
    chunks[ranks[stage]].push_back(stage);
  return chunks;
}

int32_t Placement::getChunk(int32_t stage) const {
  int32_t chunk = 0;
  for (int32_t other = 0; other < stage; ++other)
    chunk += ranks[other] == ranks[stage];
  return chunk;
}

Placement weft::schedule::placeLoop(int32_t numRanks, int32_t chunks) {
  Placement placement{numRanks, 1, {}};
  for (int32_t stage = 0; stage < numRanks * chunks; ++stage)
    placement.ranks.push_back(stage % numRanks);
  return placement;
}

Placement weft::schedule::placeV(int32_t numRanks, int32_t chunks) {
  Placement placement{numRanks, 1, {}};
  for (int32_t stage = 0; stage < numRanks * chunks; ++stage) {
    int32_t step = stage % numRanks;
    placement.ranks.push_back(stage / numRanks % 2 == 0 ? step : numRanks - 1 - step);
  }
  return placement;
}

Placement weft::schedule::placeBothWays(int32_t numRanks) {
  Placement placement = placeV(numRanks, 2);
  placement.numPaths = 2;
  return placement;
}

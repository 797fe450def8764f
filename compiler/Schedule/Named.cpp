#include "compiler/Schedule/Named.h"

#include <algorithm>
#include <array>

using namespace weft::schedule;

/// Both ways there are two stages a rank.
static Placement placeTwoPaths(int32_t numRanks, int32_t) { return placeBothWays(numRanks); }

static constexpr std::array namedSchedules{
    NamedSchedule{"gpipe", "all forwards, then all backwards", placeLoop, 1, false, true,
                  makeGPipe},
    NamedSchedule{"1f1b", "forwards and backwards in turn", placeLoop, 1, false, true, make1F1B},
    NamedSchedule{"interleaved", "1f1b over several chunks a rank", placeLoop, 2, false, true,
                  makeInterleaved},
    NamedSchedule{"zb-h1", "weight gradients fill the bubble, memory of 1f1b", placeLoop, 1, true,
                  true, makeZBH1},
    NamedSchedule{"zb-h2", "the same with twice the memory", placeLoop, 1, true, true, makeZBH2},
    NamedSchedule{"zb-v", "two chunks in a V, memory of 1f1b", placeV, 2, true, true, makeZBV},
    NamedSchedule{"v-half", "the same with half the memory", placeV, 2, true, true, makeVHalf},
    NamedSchedule{"v-min", "the same with a third of the memory", placeV, 2, true, true, makeVMin},
    NamedSchedule{"dualpipe", "from both ends, weights held twice", placeTwoPaths, 2, true, false,
                  makeDualPipe},
    NamedSchedule{"dualpipev", "the same folded to a V", placeV, 2, true, true, makeDualPipeV},
    NamedSchedule{"critical-path", "1f1b that recomputes before gradients come", placeLoop, 1,
                  false, false, makeCriticalPath},
};

std::span<const NamedSchedule> weft::schedule::listNamedSchedules() { return namedSchedules; }

const NamedSchedule *weft::schedule::findNamedSchedule(const std::string &name) {
  const auto *found = std::find_if(namedSchedules.begin(), namedSchedules.end(),
                                   [&](const NamedSchedule &entry) { return entry.name == name; });
  return found == namedSchedules.end() ? nullptr : found;
}

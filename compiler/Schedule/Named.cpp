#include "compiler/Schedule/Named.h"

#include <algorithm>
#include <array>

using namespace weft::schedule;

static constexpr std::array namedSchedules{
    NamedSchedule{"gpipe", "all forwards, then all backwards", makeGPipe},
    NamedSchedule{"1f1b", "forwards and backwards in turn", make1F1B},
    NamedSchedule{"interleaved", "1f1b over several chunks a rank", makeInterleaved},
    NamedSchedule{"zb-h1", "weight gradients fill the bubble, memory of 1f1b", makeZBH1},
    NamedSchedule{"zb-h2", "the same with twice the memory", makeZBH2},
    NamedSchedule{"zb-v", "two chunks in a V, memory of 1f1b", makeZBV},
    NamedSchedule{"v-half", "the same with half the memory", makeVHalf},
    NamedSchedule{"v-min", "the same with a third of the memory", makeVMin},
    NamedSchedule{"dualpipe", "from both ends, weights held twice", makeDualPipe},
    NamedSchedule{"dualpipev", "the same folded to a V", makeDualPipeV},
    NamedSchedule{"critical-path", "1f1b that recomputes before gradients come", makeCriticalPath},
};

std::span<const NamedSchedule> weft::schedule::listNamedSchedules() { return namedSchedules; }

const NamedSchedule *weft::schedule::findNamedSchedule(const std::string &name) {
  const auto *found = std::find_if(namedSchedules.begin(), namedSchedules.end(),
                                   [&](const NamedSchedule &entry) { return entry.name == name; });
  return found == namedSchedules.end() ? nullptr : found;
}

#include "compiler/Schedule/Liveness.h"

#include <algorithm>
#include <fmt/format.h>

using namespace weft::schedule;

using enum ActionKind;

namespace {

class Walk {
public:
  Walk(const Schedule &schedule, int32_t buffers)
      : schedule(schedule), placement(schedule.placement), buffers(buffers),
        next(schedule.ranks.size()), underWay(2 * static_cast<size_t>(placement.getNumStages())) {}

  void run() {
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
      work.push_back(static_cast<int32_t>(rank));
    while (!work.empty()) {
      int32_t rank = work.back();
      work.pop_back();
      while (next[rank] < schedule.ranks[rank].size() && pass(schedule.ranks[rank][next[rank]]))
        ++next[rank];
    }
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
      if (next[rank] < schedule.ranks[rank].size())
        explain(static_cast<int32_t>(rank));
  }

private:
  /// The edge's direction, 2·(stage before it) and 1 more for gradients.
  static int32_t getEdge(const Action &action) {
    bool forward = action.kind == SendForward || action.kind == ReceiveForward;
    bool ahead = action.kind == SendForward || action.kind == ReceiveBackward;
    return 2 * (ahead ? action.stage : action.stage - 1) + (forward ? 0 : 1);
  }
  int32_t getPeer(const Action &action) const {
    bool ahead = action.kind == SendForward || action.kind == ReceiveBackward;
    return placement.ranks[ahead ? action.stage + 1 : action.stage - 1];
  }

  /// Messages of an edge come in order, so that only their number matters.
  bool pass(const Action &action) {
    if (!sends(action.kind) && !receives(action.kind))
      return true;
    int32_t &count = underWay[getEdge(action)];
    if (sends(action.kind) ? count >= buffers : count == 0)
      return false;
    count += sends(action.kind) ? 1 : -1;
    work.push_back(getPeer(action));
    return true;
  }

  [[noreturn]] void explain(int32_t rank) const {
    std::vector<int32_t> circle;
    while (std::find(circle.begin(), circle.end(), rank) == circle.end()) {
      circle.push_back(rank);
      rank = getPeer(schedule.ranks[rank][next[rank]]);
      if (next[rank] >= schedule.ranks[rank].size())
        break; // cannot be where every message has two ends
    }
    circle.erase(circle.begin(), std::find(circle.begin(), circle.end(), rank));
    std::string text;
    for (size_t i = 0; i < circle.size() && i < 4; ++i)
      text += fmt::format("{}rank {} waits in {}", i == 0 ? "" : "; ", circle[i],
                          describe(schedule.ranks[circle[i]][next[circle[i]]]));
    if (circle.size() > 4)
      text += fmt::format("; and {} ranks more", circle.size() - 4);
    throw ScheduleError(fmt::format("deadlock: {} (each edge holds {} message{} a direction)", text,
                                    buffers, buffers == 1 ? "" : "s"));
  }

  const Schedule &schedule;
  const Placement &placement;
  int32_t buffers;
  std::vector<size_t> next;      ///< by rank
  std::vector<int32_t> underWay; ///< by edge and direction
  std::vector<int32_t> work;     ///< ranks that may be able to go on
};

} // namespace

void weft::schedule::checkLiveness(const Schedule &schedule, int32_t buffers) {
  Walk(schedule, buffers).run();
}

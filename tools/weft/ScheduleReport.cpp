#include "tools/weft/ScheduleReport.h"
#include "compiler/Simulate/Trace.h"
#include "runtime/Support/Console.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace weft;
using namespace weft::schedule;

void weft::tool::printScheduleTable(const Schedule &schedule, const Timeline &timeline) {
  const Placement &placement = schedule.placement;
  runtime::print("{}: {} ranks, {} stages, {} microbatches\n", schedule.name, placement.numRanks,
                 placement.getNumStages(), schedule.numMicrobatches);
  runtime::print("makespan {:.6g}, longest rank {:.6g}, bubble {:.4f}, {} messages\n",
                 timeline.makespan, timeline.longest, timeline.bubble, timeline.messages);
  runtime::print("peak of each rank: {:.6g}\n", fmt::join(timeline.peak, " "));
}

/// Actions are many: they are printed as they come.
void weft::tool::printScheduleJson(const Schedule &schedule, const Timeline &timeline) {
  const Placement &placement = schedule.placement;
  std::vector<int32_t> chunkOf(placement.ranks.size());
  for (const std::vector<int32_t> &chunks : placement.getChunks())
    for (size_t i = 0; i < chunks.size(); ++i)
      chunkOf[chunks[i]] = static_cast<int32_t>(i);
  nlohmann::ordered_json head = {{"schedule", schedule.name},
                                 {"ranks", placement.numRanks},
                                 {"stages", placement.getNumStages()},
                                 {"microbatches", schedule.numMicrobatches},
                                 {"slices", schedule.numSlices},
                                 {"makespan", timeline.makespan},
                                 {"longest", timeline.longest},
                                 {"bubble", timeline.bubble},
                                 {"peak", timeline.peak},
                                 {"messages", timeline.messages}};
  std::string text = head.dump();
  text.back() = ',';
  runtime::print("{}\"actions\":[", text);
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    runtime::print("{}[", rank == 0 ? "" : ",\n");
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
      const Action &action = schedule.ranks[rank][i];
      ActionTime time = timeline.times[rank][i];
      runtime::print(R"({}{{"action":"{}","stage":{},"chunk":{},"microbatch":{},"slice":{})",
                     i == 0 ? "" : ",", getKindName(action.kind), action.stage,
                     chunkOf[action.stage], action.microbatch, action.slice);
      if (computes(action.kind))
        runtime::print(R"(,"begin":{},"end":{})", time.begin, time.end);
      runtime::print("}}");
    }
    runtime::print("]");
  }
  runtime::print("]}}\n");
}

void weft::tool::writeScheduleTrace(std::ostream &out, const Schedule &schedule,
                                    const Costs &costs) {
  sim::Program program = makeProgram(schedule, costs);
  sim::writeTrace(out, program, sim::simulate(program, {.spans = true, .memory = true}));
}

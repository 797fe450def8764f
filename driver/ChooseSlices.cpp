#include "driver/ChooseSlices.h"

#include "compiler/Search/Slice/TokenSlices.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;

/// Units that a sequence is cut in at most: finer ones win nothing that can be told.
static constexpr int64_t mostUnits = 64;

static double getWork(const sim::Segment &segment) {
  double seconds = 0;
  for (const sim::Instruction &instruction : segment.instructions)
    seconds += instruction.op == sim::Op::Work ? instruction.seconds : 0;
  return seconds;
}

/// Calls `act` with every entry of a schedule, once each.
template <typename Act> static void forEachEntry(const auto &items, const Act &act) {
  for (const program::ScheduleItem &item : items)
    if (item.has_entry())
      act(item.entry());
    else
      forEachEntry(item.repeat().body(), act);
}

std::vector<SliceTime> weft::measureSlices(const SimulatedProgram &program,
                                           llvm::ArrayRef<int64_t> lengths) {
  std::vector<SliceTime> times;
  int64_t context = 0;
  for (int64_t length : lengths) {
    times.push_back({length, context});
    context += length;
  }
  bool inMicrobatches = program.executable.plan().training().accumulate() > 1;
  for (auto [number, rankClass] : llvm::enumerate(program.executable.classes())) {
    const auto &segments = program.simulation.program.classes[number].segments;
    forEachEntry(rankClass.schedule(), [&](const program::ScheduleEntry &entry) {
      auto slice = static_cast<size_t>(entry.token_slice().first());
      bool isForward = entry.phase() == program::FORWARD;
      bool isOnce = inMicrobatches && entry.frames().empty(); // as sums begin, and end
      if (isOnce || slice >= times.size() || (!isForward && entry.phase() != program::BACKWARD))
        return;
      double &seconds = isForward ? times[slice].forward : times[slice].backward;
      seconds = std::max(seconds, getWork(segments[entry.segment()]));
    });
  }
  return times;
}

std::vector<int64_t> weft::chooseSliceLengths(llvm::ArrayRef<SliceTime> seen, int64_t tokens,
                                              int64_t stages, int64_t microbatches) {
  int64_t granularity = 1;
  while (tokens / granularity > mostUnits && tokens % (2 * granularity) == 0)
    granularity *= 2;
  if (tokens / granularity > 2 * mostUnits) // a table has an entry for each pair of them
    return {};
  slice::SliceTable table = makeSliceTable(seen, tokens, granularity);
  if (table.units == 0)
    return {};
  slice::Slicing best = slice::findSlices(table, {stages, microbatches});
  const std::vector<int64_t> &lengths = best.slices.front().lengths;
  return lengths.size() > 1 ? lengths : std::vector<int64_t>();
}

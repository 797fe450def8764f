#include "runtime/Inspect/InspectReport.h"

#include "runtime/Executor/Weights.h"
#include "runtime/Program/Position.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Verify/Checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

using namespace weft;
using namespace weft::runtime;

std::string weft::runtime::getArenaName(program::ArenaKind kind) {
  std::string name = program::ArenaKind_Name(kind);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return tolower(c); });
  return name;
}

template <typename Repeated> static std::string formatShape(const Repeated &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

//===----------------------------------------------------------------------===//
// Summary
//===----------------------------------------------------------------------===//

const InspectReport::RankClass &InspectReport::getClass(int64_t rank) const {
  for (const RankClass &rankClass : classes)
    if (rank < rankClass.end)
      return rankClass;
  return classes.back();
}

namespace {
/// Follows what depends on the inputs, and on what steps before have left, through the instructions
/// of a program, in their order.
class InputDependence {
public:
  explicit InputDependence(const program::Program &program) {
    for (const program::Port &port : program.inputs())
      add(port.local());
    for (const program::WeightBlock &block : program.weights())
      if (isState(program, block))
        add(block.local());
  }
  /// Whether the instruction reads, and so writes, such values.
  bool follow(const program::Instruction &instruction) {
    Accesses accesses = getAccesses(instruction);
    bool depends = instruction.has_receive() ||
                   std::any_of(accesses.reads.begin(), accesses.reads.end(), [&](auto *operand) {
                     return values.count({operand->arena(), operand->value()}) > 0;
                   });
    if (depends)
      for (const program::Operand *operand : accesses.writes)
        add(*operand);
    return depends;
  }

private:
  void add(const program::Operand &operand) { values.insert({operand.arena(), operand.value()}); }

  std::set<std::pair<uint32_t, uint32_t>> values; ///< by arena and number
};
} // namespace

/// Counts what the first rank of a class executes.
static void countInstructions(const Executable &executable, const program::RankRange &range,
                              CollectiveCounts counts[2], InspectReport &report) {
  const program::Program &program = executable.getProgram(range.begin());
  Position position(executable.proto, range.begin());
  InputDependence inputs(program);
  auto count = [&](const program::Instruction &instruction, int64_t times) {
    report.instructions[getOpcode(instruction)] += times;
    bool movesWeights = !inputs.follow(instruction);
    std::optional<CollectiveRecord> record = describeCommunication(instruction, position);
    if (!record)
      return;
    record->count = times;
    counts[movesWeights].add(*record);
  };
  forEachEntry(program, [&](const program::ScheduleEntry &entry, int64_t times) {
    for (const program::Instruction &instruction :
         program.segments(static_cast<int>(entry.segment())).instructions())
      count(instruction, times);
  });
}

/// Bytes of all weights that are no states.
static int64_t getWholeWeightsBytes(const program::Executable &executable) {
  std::set<uint32_t> states;
  for (const program::Program &program : executable.classes())
    for (const program::WeightBlock &block : program.weights())
      if (isState(program, block))
        states.insert(block.weight());
  int64_t total = 0;
  uint32_t number = 0;
  for (const program::Weight &weight : executable.weights()) {
    if (states.count(number++))
      continue;
    int64_t bytes = getElementSize(weight.dtype());
    for (int64_t extent : weight.shape())
      bytes *= extent;
    total += bytes;
  }
  return total;
}

ArenaBytes weft::runtime::listArenas(const program::Program &program) {
  ArenaBytes arenas;
  for (int kind = program::ArenaKind_MIN; kind <= program::ArenaKind_MAX; ++kind)
    if (kind != program::PORTS && kind != program::HOST) // few programs have them
      arenas[getArenaName(static_cast<program::ArenaKind>(kind))] = 0;
  for (const program::Arena &arena : program.arenas())
    arenas[getArenaName(arena.kind())] += arena.bytes() * arena.frames();
  return arenas;
}

InspectReport weft::runtime::inspectExecutable(const Executable &executable) {
  InspectReport report;
  report.ranks = executable.getNumRanks();
  report.kernels = executable.proto.kernels_size();
  report.wholeWeightsBytes = getWholeWeightsBytes(executable.proto);
  for (const plan::Mesh &mesh : executable.proto.meshes()) {
    report.meshes.push_back({mesh.name(), {}, mesh.first_device(), getNumPositions(mesh)});
    for (const plan::Axis &axis : mesh.axes())
      report.meshes.back().axes.emplace_back(axis.name(), axis.size());
  }
  for (const program::RankRange &range : executable.proto.ranks()) {
    const program::Program &program =
        executable.proto.classes(static_cast<int>(range.rank_class()));
    report.classes.push_back(
        {range.begin(), range.end(), getWeightBytes(program), listArenas(program)});
  }
  CollectiveCounts counts[2]; // of activations, of weights
  for (const program::RankRange &range : executable.proto.ranks())
    countInstructions(executable, range, counts, report);
  for (bool movesWeights : {false, true})
    for (const CollectiveRecord &record : counts[movesWeights].get())
      report.collectives.push_back({record, movesWeights});
  return report;
}

//===----------------------------------------------------------------------===//
// Weights of a rank
//===----------------------------------------------------------------------===//

std::vector<WeightRow> weft::runtime::listWeights(const Executable &executable, int64_t rank) {
  std::vector<WeightRow> rows;
  for (const program::WeightBlock &block : executable.getProgram(rank).weights()) {
    const program::Weight &weight = executable.proto.weights(static_cast<int>(block.weight()));
    int64_t bytes = getElementSize(block.local().dtype());
    for (int64_t extent : block.local().shape())
      bytes *= extent;
    rows.push_back(
        {weight.name(), formatShape(weight.shape()), formatShape(block.local().shape()), bytes});
  }
  std::sort(rows.begin(), rows.end(), [](const WeightRow &a, const WeightRow &b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
  return rows;
}

//===----------------------------------------------------------------------===//
// Arenas over time
//===----------------------------------------------------------------------===//

namespace {
constexpr int mapColumns = 72;
constexpr int mapRows = 12;

/// A value's bytes and the instructions from its first to its last use.
struct LiveValue {
  int64_t begin = 0, end = 0;
  int first = 0, last = 0;
};

/// The values of one frame of an arena by number, over the schedule, each entry once.
class LiveValues {
public:
  LiveValues(const program::Program &program, const Position &position, uint32_t arena)
      : position(position), arena(arena) {
    for (const program::Port &port : program.inputs())
      touch(port.local());
    forEachEntry(program, [&](const program::ScheduleEntry &entry, int64_t) {
      for (const program::Instruction &instruction :
           program.segments(static_cast<int>(entry.segment())).instructions()) {
        touch(instruction);
        ++instructions;
      }
    });
    // The next step reads the inputs again, so they live on to the end.
    for (const program::Port &port : program.inputs())
      touch(port.local());
    for (const program::Port &port : program.outputs())
      touch(port.local());
  }

  int instructions = 0;
  std::map<uint32_t, LiveValue> values;

private:
  /// A wait touches what it waits for.
  void touch(const program::Instruction &instruction) {
    if (instruction.has_async())
      begun[instruction.async().token()] = &instruction;
    auto waited = begun.find(instruction.wait().token());
    bool waits = instruction.has_wait() && waited != begun.end();
    Accesses accesses = getAccesses(waits ? *waited->second : instruction);
    for (const auto *list : {&accesses.reads, &accesses.writes})
      for (const program::Operand *operand : *list)
        touch(*operand);
  }

  void touch(const program::Operand &operand) {
    if (operand.arena() != arena)
      return;
    int64_t begin = position.evaluate(operand.offset()), last = 0;
    for (int i = 0; i < operand.shape_size(); ++i)
      last += (operand.shape(i) - 1) * operand.strides(i);
    int64_t end = begin + (last + 1) * getElementSize(operand.dtype());
    auto [it, inserted] =
        values.try_emplace(operand.value(), LiveValue{begin, end, instructions, instructions});
    LiveValue &value = it->second;
    value.begin = std::min(value.begin, begin);
    value.end = std::max(value.end, end);
    value.last = std::max(value.last, instructions);
  }

  const Position &position;
  uint32_t arena;
  std::map<uint32_t, const program::Instruction *> begun; ///< by token
};
} // namespace

static ArenaMap drawMap(const program::Arena &arena, const LiveValues &live) {
  int columns = std::min(mapColumns, live.instructions);
  int64_t perRow = std::max<int64_t>(1, (arena.bytes() + mapRows - 1) / mapRows);
  std::vector<std::vector<int64_t>> used(mapRows, std::vector<int64_t>(columns));
  for (const auto &[number, value] : live.values) {
    int from = value.first * columns / live.instructions;
    int to = std::min(value.last * columns / live.instructions, columns - 1);
    for (int64_t row = value.begin / perRow; row < mapRows && row * perRow < value.end; ++row) {
      int64_t bytes = std::min(value.end, (row + 1) * perRow) - std::max(value.begin, row * perRow);
      for (int column = from; column <= to; ++column)
        used[row][column] = std::min(perRow, used[row][column] + bytes);
    }
  }
  ArenaMap map{getArenaName(arena.kind()), live.instructions, perRow, {}};
  for (int row = mapRows; row-- > 0;) {
    std::string text;
    for (int64_t bytes : used[row])
      text += bytes == 0 ? ' ' : bytes * 10 >= perRow * 9 ? '#' : '+';
    map.rows.push_back(text);
  }
  return map;
}

std::vector<ArenaMap> weft::runtime::mapArenas(const Executable &executable, int64_t rank) {
  const program::Program &program = executable.getProgram(rank);
  Position position(executable.proto, rank);
  std::vector<ArenaMap> maps;
  for (int number = 0; number < program.arenas_size(); ++number) {
    const program::Arena &arena = program.arenas(number);
    if (arena.kind() == program::WEIGHTS || arena.bytes() == 0)
      continue;
    LiveValues live(program, position, static_cast<uint32_t>(number));
    if (live.instructions > 0)
      maps.push_back(drawMap(arena, live));
  }
  return maps;
}

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

static std::string describe(const program::Program &program, const Position &position,
                            const program::Operand &operand) {
  return fmt::format(
      "{}+{} {}{}", getArenaName(program.arenas(static_cast<int>(operand.arena())).kind()),
      position.evaluate(operand.offset()), getName(operand.dtype()), formatShape(operand.shape()));
}

static std::string describe(const program::Program &program, const Position &position,
                            const program::Instruction &instruction) {
  if (instruction.has_wait())
    return fmt::format("token {}", instruction.wait().token());
  auto join = [&](const std::vector<const program::Operand *> &operands) {
    std::vector<std::string> texts;
    for (const program::Operand *operand : operands)
      texts.push_back(describe(program, position, *operand));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  Accesses accesses = getAccesses(instruction);
  std::string text = join(accesses.writes) + " <- " + join(accesses.reads);
  if (instruction.conv().has_epilogue())
    text += " (epilogue)";
  if (instruction.has_async())
    text += fmt::format(" (token {})", instruction.async().token());
  return text;
}

std::vector<std::string> weft::runtime::listProgram(const Executable &executable, int64_t rank) {
  const program::Program &program = executable.getProgram(rank);
  Position position(executable.proto, rank);
  std::vector<std::string> lines;
  size_t number = 0;
  forEachEntry(program, [&](const program::ScheduleEntry &entry, int64_t times) {
    const program::Segment &segment = program.segments(static_cast<int>(entry.segment()));
    if (program.schedule_size() > 1 || times > 1)
      lines.push_back(fmt::format("{}, {} times", segment.name(), times));
    for (const program::Instruction &instruction : segment.instructions())
      lines.push_back(fmt::format("{:>5}  {:<10} {}  # {}", number++, getOpcode(instruction),
                                  describe(program, position, instruction), instruction.source()));
  });
  return lines;
}

//===- Liveness.cpp - what each read finds in its arena -------------------===//
//
// Walks the schedule on one rank, arena by arena, and keeps for every byte of every frame which
// value it holds. A value that is written in one frame is not there in another. What an
// asynchronous instruction writes holds nothing until the instruction is waited for, and nobody may
// write what it reads.
//
// What a segment does to a frame of an arena depends on nothing but what the frame holds before.
// Each state that a frame may be in is kept once, and what a segment makes of it is followed once,
// however often that happens. Of a repeat, as many iterations are followed as it takes until all
// frames hold what they held one turn earlier, a turn being the iterations after which the indices
// of frames begin again: from there on nothing new can happen. (Bytes are overwritten by the same
// values in each turn, so that this is so after a few.)
//
//   repeat 1000000 times: F in frame i mod 4, then B in frame (i + 1) mod 4
//     turns of 4 iterations: the first fills the frames, the second meets what it left, the third
//     finds everything as the second did, and the rest is skipped
//
//===----------------------------------------------------------------------===//

#include "runtime/Program/Collectives.h"
#include "runtime/Program/Position.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Verify/Checks.h"
#include "runtime/Verify/FrameState.h"

#include <algorithm>
#include <numeric>

namespace weft::runtime {

namespace {

/// Operands of more gapless ranges than this are looked at in samples when read.
constexpr size_t maxReadRanges = 1 << 16;
/// Writes are followed exactly, up to what no sane program has.
constexpr size_t maxWriteRanges = 1 << 24;
/// What bytes hold that an instruction is writing which nobody has waited for.
constexpr uint32_t unfinished = UINT32_MAX;

std::vector<ByteRange> getRanges(const Position &position, const program::Operand &operand,
                                 size_t limit) {
  return getByteRanges(position.evaluate(operand.offset()), getElementSize(operand.dtype()),
                       {operand.shape().begin(), operand.shape().end()},
                       {operand.strides().begin(), operand.strides().end()}, limit);
}

/// Follows instructions in one frame of one arena, and tells what they find wrong.
class FrameCheck {
public:
  /// `mayChange`: the arena holds states, which change where they lie.
  FrameCheck(Reasons &reasons, const Position &position, uint32_t arena, FrameState &state,
             bool mayChange = false)
      : reasons(reasons), position(position), arena(arena), state(state), mayChange(mayChange) {}

  void execute(const program::Instruction &instruction) {
    Accesses accesses = getAccessesHere(instruction);
    checkDisjoint(instruction, accesses);
    for (size_t i = 0; i < accesses.reads.size(); ++i)
      read(*accesses.reads[i], fmt::format("operand {}", i));
    for (const program::Operand *operand : accesses.writes)
      checkIdle(*operand);
    if (instruction.has_async())
      return begin(instruction, accesses);
    for (const program::Operand *operand : accesses.writes)
      set(*operand, operand->value());
  }

  /// Waits for an instruction.
  void finish(const program::Instruction &instruction) {
    Accesses accesses = getAccessesHere(instruction);
    if (accesses.reads.empty() && accesses.writes.empty())
      return; // not in this arena
    uint32_t token = instruction.async().token();
    if (state.begun.erase(token) == 0)
      return reasons.add("it waits for token {}, which nothing has begun in this frame of arena {}",
                         token, arena);
    countReads(accesses, -1);
    for (const program::Operand *operand : accesses.writes)
      set(*operand, operand->value());
  }

  /// What lies in the arena before the first instruction.
  void define(const program::Operand &operand, const char *role) {
    if (operand.arena() != arena)
      return;
    int64_t byte = 0;
    uint32_t holds = 0;
    for (ByteRange range : getRanges(position, operand, maxWriteRanges))
      if (state.contents.findOther(range, 0, byte, holds)) {
        reasons.add("{} overlaps another at byte {} of arena {}", role, byte, arena);
        break;
      }
    set(operand, operand.value());
  }

  void read(const program::Operand &operand, const std::string &role) {
    if (operand.arena() != arena)
      return;
    int64_t byte = 0;
    uint32_t holds = 0;
    for (ByteRange range : getRanges(position, operand, maxReadRanges)) {
      if (!state.contents.findOther(range, operand.value(), byte, holds))
        continue;
      if (holds == 0)
        reasons.add("{} reads byte {} of arena {} before anything is written there", role, byte,
                    arena);
      else if (holds == unfinished)
        reasons.add("{} reads byte {} of arena {}, which an instruction writes that was not "
                    "waited for",
                    role, byte, arena);
      else
        reasons.add("{} reads value {} at byte {} of arena {}, which was overwritten by value {}",
                    role, operand.value(), byte, arena, holds);
      return;
    }
  }

private:
  /// What an instruction touches in this arena.
  Accesses getAccessesHere(const program::Instruction &instruction) const {
    Accesses accesses = getAccesses(instruction);
    for (auto *list : {&accesses.reads, &accesses.writes})
      std::erase_if(*list,
                    [&](const program::Operand *operand) { return operand->arena() != arena; });
    return accesses;
  }

  void set(const program::Operand &operand, uint32_t value) {
    for (ByteRange range : getRanges(position, operand, maxWriteRanges))
      state.contents.set(range, value);
  }

  /// Nothing that is under way may touch what is about to be written.
  void checkIdle(const program::Operand &operand) {
    int64_t byte = 0;
    if (state.begun.empty())
      return;
    for (ByteRange range : getRanges(position, operand, maxWriteRanges))
      if (state.beingRead.findUsed(range, byte) || state.contents.find(range, unfinished, byte))
        return reasons.add("output overwrites byte {} of arena {}, which an instruction uses that "
                           "was not waited for",
                           byte, arena);
  }

  /// Bytes from the first to the last that is touched.
  ByteRange getHull(const program::Operand &operand) const {
    ByteRange hull{INT64_MAX, INT64_MIN};
    for (ByteRange range : getRanges(position, operand, 1)) {
      hull.begin = std::min(hull.begin, range.begin);
      hull.end = std::max(hull.end, range.end);
    }
    return hull;
  }

  static bool isSamePlace(const program::Operand &a, const program::Operand &b) {
    return a.dtype() == b.dtype() &&
           std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
           std::equal(a.strides().begin(), a.strides().end(), b.strides().begin(),
                      b.strides().end());
  }

  /// States change where they lie: a kernel writes over what it reads, element by element, and a
  /// copy moves a part of a state within it. So does a copy of a state, which stays one value.
  bool changesState(const program::Instruction &instruction, const program::Operand &read,
                    const program::Operand &write) const {
    bool isCopy = instruction.has_launch() && read.value() == write.value();
    if (!(mayChange || isCopy) || !isSamePlace(read, write))
      return false;
    bool same = position.evaluate(read.offset()) == position.evaluate(write.offset());
    return instruction.has_launch() ? same : instruction.has_copy();
  }

  /// An all-reduce may write where it reads, and states change in place; nothing else may.
  void checkDisjoint(const program::Instruction &instruction, const Accesses &accesses) {
    bool mayShare =
        instruction.has_collective() && instruction.collective().kind() == program::ALL_REDUCE;
    for (const program::Operand *write : accesses.writes)
      for (const program::Operand *read : accesses.reads) {
        if (changesState(instruction, *read, *write))
          continue;
        ByteRange in = getHull(*read), out = getHull(*write);
        bool same = in.begin == out.begin && in.end == out.end;
        if (in.begin < out.end && out.begin < in.end && !(same && mayShare))
          reasons.add("its output [{}, {}) overlaps its input [{}, {}) in arena {}", out.begin,
                      out.end, in.begin, in.end, arena);
      }
  }

  void begin(const program::Instruction &instruction, const Accesses &accesses) {
    if (accesses.reads.empty() && accesses.writes.empty())
      return;
    uint32_t token = instruction.async().token();
    if (!state.begun.insert(token).second)
      return reasons.add("it begins again before it was waited for (token {})", token);
    countReads(accesses, 1);
    for (const program::Operand *operand : accesses.writes)
      set(*operand, unfinished);
  }

  void countReads(const Accesses &accesses, int change) {
    for (const program::Operand *operand : accesses.reads)
      for (ByteRange range : getRanges(position, *operand, maxReadRanges))
        state.beingRead.add(range, change);
  }

  Reasons &reasons;
  const Position &position;
  uint32_t arena;
  FrameState &state;
  bool mayChange;
};

/// Follows the schedule in all frames of one arena.
class ArenaCheck {
public:
  ArenaCheck(ProgramContext &context, const Position &position, uint32_t arena)
      : context(context), program(context.program), position(position), arena(arena),
        isPorts(program.arenas(static_cast<int>(arena)).kind() == program::PORTS),
        frames(program.arenas(static_cast<int>(arena)).frames()), next(program.segments_size()) {
    for (const program::Segment &segment : program.segments())
      for (const program::Instruction &instruction : segment.instructions())
        if (instruction.has_async())
          asynchronous[instruction.async().token()] = &instruction;
  }

  void run() {
    context.reasons.place = prefix();
    FrameState first;
    FrameCheck check(context.reasons, position, arena, first);
    for (const program::WeightBlock &block : program.weights())
      check.define(block.local(), "weight block");
    for (const program::Port &port : program.inputs())
      check.define(port.local(), "input");
    uint32_t empty = intern({});
    std::fill(frames.begin(), frames.end(), isPorts ? intern(std::move(first)) : empty);
    if (!isPorts)
      frames[0] = intern(std::move(first));
    walk(program.schedule());
    context.reasons.place = prefix();
    checkEnd();
  }

private:
  std::string prefix() const { return fmt::format("rank {}: ", position.getRank()); }

  /// The number of a state.
  uint32_t intern(FrameState state) {
    auto [it, isNew] = numbers.emplace(state.getKey(), states.size());
    if (isNew)
      states.push_back(std::move(state));
    return it->second;
  }

  void walk(const ScheduleItems &items) {
    for (const program::ScheduleItem &item : items) {
      if (context.reasons.isFull())
        return;
      if (item.has_entry())
        execute(item.entry());
      else
        walk(item.repeat());
    }
  }

  void execute(const program::ScheduleEntry &entry) {
    int64_t frame = 0;
    for (const program::FrameBinding &binding : entry.frames())
      if (binding.arena() == arena)
        frame = getFrame(binding.index(), iterations, static_cast<int64_t>(frames.size()));
    frames[frame] = follow(entry.segment(), frames[frame]);
  }

  /// The state that a segment makes of another.
  uint32_t follow(uint32_t segment, uint32_t state) {
    constexpr uint32_t unknown = UINT32_MAX;
    std::vector<uint32_t> &known = next[segment];
    if (known.size() <= state)
      known.resize(state + 1, unknown);
    if (known[state] == unknown) {
      uint32_t result = intern(execute(program.segments(static_cast<int>(segment)), states[state]));
      next[segment][state] = result;
    }
    return next[segment][state];
  }

  FrameState execute(const program::Segment &segment, FrameState state) {
    bool mayChange = program.arenas(static_cast<int>(arena)).kind() == program::STATE;
    FrameCheck check(context.reasons, position, arena, state, mayChange);
    for (int i = 0; i < segment.instructions_size() && !context.reasons.isFull(); ++i) {
      const program::Instruction &instruction = segment.instructions(i);
      context.reasons.place = prefix() + describePlace(segment, i) + ": ";
      if (!instruction.has_wait())
        check.execute(instruction);
      else if (auto it = asynchronous.find(instruction.wait().token()); it != asynchronous.end())
        check.finish(*it->second);
    }
    return state;
  }

  /// Iterations after which the indices of this arena's frames begin again.
  int64_t getTurn(const ScheduleItems &items, size_t level) const {
    auto count = static_cast<int64_t>(frames.size()), turn = int64_t{1};
    for (const program::ScheduleItem &item : items) {
      if (item.has_repeat()) {
        turn = std::lcm(turn, getTurn(item.repeat().body(), level));
        continue;
      }
      for (const program::FrameBinding &binding : item.entry().frames())
        if (binding.arena() == arena && binding.index().steps_size() > static_cast<int>(level))
          turn = std::lcm(turn,
                          count / std::gcd(count, binding.index().steps(static_cast<int>(level))));
    }
    return turn; // divides the number of frames
  }

  void walk(const program::Repeat &repeat) {
    size_t level = iterations.size();
    int64_t turn = getTurn(repeat.body(), level), times = repeat.times();
    std::vector<uint32_t> before; // frames when the last turn began
    iterations.push_back(0);
    for (int64_t i = 0; i < times && !context.reasons.isFull(); ++i) {
      if (i % turn == 0 && 2 * turn < times) {
        if (frames == before)
          i += (times - i) / turn * turn; // what follows would find and leave the same
        else
          before = frames;
        if (i >= times)
          break;
      }
      iterations[level] = i;
      walk(repeat.body());
    }
    iterations.pop_back();
  }

  void checkEnd() {
    std::set<uint32_t> last(frames.begin(), frames.end());
    for (uint32_t number : last)
      for (uint32_t token : states[number].begun)
        context.reasons.add("{} of '{}' is begun and never waited for (token {})",
                            getOpcode(*asynchronous.at(token)), asynchronous.at(token)->source(),
                            token);
    if (!isPorts)
      last = {frames[0]};
    for (uint32_t number : last) {
      FrameCheck check(context.reasons, position, arena, states[number]);
      for (const program::Port &port : program.outputs())
        check.read(port.local(), fmt::format("output '{}'", port.name()));
      for (const program::Port &port : program.inputs())
        check.read(port.local(), fmt::format("input '{}' at the step's end", port.name()));
      for (const program::WeightBlock &block : program.weights())
        check.read(block.local(), "a weight block at the step's end");
    }
  }

  ProgramContext &context;
  const program::Program &program;
  const Position &position;
  uint32_t arena;
  bool isPorts;
  std::map<uint32_t, const program::Instruction *> asynchronous; ///< by token
  std::vector<int64_t> iterations; ///< of the repeats around the present entry
  std::vector<uint32_t> frames;    ///< the state of each, a number
  std::vector<FrameState> states;
  std::map<std::string, uint32_t> numbers; ///< of states, by their keys
  std::vector<std::vector<uint32_t>> next; ///< what a segment makes of a state, once known
};

} // namespace

void checkLifetimes(ProgramContext &context, int64_t rank) {
  Position position(context.executable, rank);
  for (int arena = 0; arena < context.program.arenas_size(); ++arena)
    ArenaCheck(context, position, static_cast<uint32_t>(arena)).run();
}

} // namespace weft::runtime

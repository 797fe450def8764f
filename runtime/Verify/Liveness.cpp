//===- Liveness.cpp - what each read finds in its arena -------------------===//
//
// Walks the schedule on one rank and keeps, for every byte of every arena, which value it holds.
// What an asynchronous instruction writes holds nothing until the instruction is waited for, and
// nobody may write what it reads.
//
//===----------------------------------------------------------------------===//

#include "runtime/Program/Collectives.h"
#include "runtime/Program/Position.h"
#include "runtime/Support/DType.h"
#include "runtime/Verify/ByteRanges.h"
#include "runtime/Verify/Checks.h"

namespace weft::runtime {

namespace {

/// Operands of more gapless ranges than this are looked at in samples when read.
constexpr size_t maxReadRanges = 1 << 16;
/// Writes are followed exactly, up to what no sane program has.
constexpr size_t maxWriteRanges = 1 << 24;
/// What bytes hold that an instruction is writing which nobody has waited for.
constexpr uint32_t unfinished = UINT32_MAX;

class LifetimeCheck {
public:
  LifetimeCheck(ProgramContext &context, int64_t rank)
      : context(context), position(context.executable, rank), rank(rank),
        arenas(context.program.arenas_size()), beingRead(context.program.arenas_size()) {}

  void run() {
    for (const program::WeightBlock &block : context.program.weights())
      define(block.local(), "weight block", /*fresh=*/true);
    for (const program::Port &port : context.program.inputs())
      define(port.local(), "input", /*fresh=*/true);
    for (const program::ScheduleEntry &entry : context.program.schedule()) {
      const program::Segment &segment = context.program.segments(entry.segment());
      for (int i = 0; i < segment.instructions_size() && !context.reasons.isFull(); ++i) {
        context.reasons.place = prefix() + describePlace(segment, i) + ": ";
        execute(segment.instructions(i));
      }
    }
    context.reasons.place = prefix();
    for (const auto &[token, instruction] : begun)
      context.reasons.add("{} of '{}' is begun and never waited for (token {})",
                          getOpcode(*instruction), instruction->source(), token);
    for (const program::Port &port : context.program.outputs())
      read(port.local(), fmt::format("output '{}'", port.name()));
    for (const program::Port &port : context.program.inputs())
      read(port.local(), fmt::format("input '{}' at the step's end", port.name()));
    for (const program::WeightBlock &block : context.program.weights())
      read(block.local(), "a weight block at the step's end");
  }

private:
  std::string prefix() const { return fmt::format("rank {}: ", rank); }

  std::vector<ByteRange> getRanges(const program::Operand &operand, size_t limit) const {
    return getByteRanges(position.evaluate(operand.offset()), getElementSize(operand.dtype()),
                         {operand.shape().begin(), operand.shape().end()},
                         {operand.strides().begin(), operand.strides().end()}, limit);
  }

  /// `fresh`: the bytes must not hold another value yet.
  void define(const program::Operand &operand, const char *role, bool fresh) {
    for (ByteRange range : getRanges(operand, maxWriteRanges)) {
      int64_t byte = 0;
      uint32_t holds = 0;
      if (fresh && arenas[operand.arena()].findOther(range, 0, byte, holds) &&
          !context.reasons.isFull())
        context.reasons.add("{} overlaps another at byte {} of arena {}", role, byte,
                            operand.arena());
      arenas[operand.arena()].set(range, operand.value());
    }
  }

  /// Nothing that is under way may touch what is about to be written.
  void checkIdle(const program::Operand &operand) {
    int64_t byte = 0;
    if (begun.empty())
      return;
    for (ByteRange range : getRanges(operand, maxWriteRanges))
      if (beingRead[operand.arena()].findUsed(range, byte) ||
          arenas[operand.arena()].find(range, unfinished, byte))
        return context.reasons.add("output overwrites byte {} of arena {}, which an instruction "
                                   "uses that was not waited for",
                                   byte, operand.arena());
  }

  void read(const program::Operand &operand, const std::string &role) {
    int64_t byte = 0;
    uint32_t holds = 0;
    for (ByteRange range : getRanges(operand, maxReadRanges)) {
      if (!arenas[operand.arena()].findOther(range, operand.value(), byte, holds))
        continue;
      if (holds == 0)
        context.reasons.add("{} reads byte {} of arena {} before anything is written there", role,
                            byte, operand.arena());
      else if (holds == unfinished)
        context.reasons.add("{} reads byte {} of arena {}, which an instruction writes that was "
                            "not waited for",
                            role, byte, operand.arena());
      else
        context.reasons.add("{} reads value {} at byte {} of arena {}, which was overwritten by "
                            "value {}",
                            role, operand.value(), byte, operand.arena(), holds);
      return;
    }
  }

  /// Bytes from the first to the last that is touched.
  ByteRange getHull(const program::Operand &operand) const {
    ByteRange hull{INT64_MAX, INT64_MIN};
    for (ByteRange range : getRanges(operand, 1)) {
      hull.begin = std::min(hull.begin, range.begin);
      hull.end = std::max(hull.end, range.end);
    }
    return hull;
  }

  /// An all-reduce may write where it reads; nothing else may.
  void checkDisjoint(const program::Instruction &instruction, const Accesses &accesses) {
    for (const program::Operand *write : accesses.writes)
      for (const program::Operand *read : accesses.reads) {
        if (read->arena() != write->arena())
          continue;
        ByteRange in = getHull(*read), out = getHull(*write);
        bool same = in.begin == out.begin && in.end == out.end;
        bool mayShare =
            instruction.has_collective() && instruction.collective().kind() == program::ALL_REDUCE;
        if (in.begin < out.end && out.begin < in.end && !(same && mayShare))
          context.reasons.add("its output [{}, {}) overlaps its input [{}, {}) in arena {}",
                              out.begin, out.end, in.begin, in.end, read->arena());
      }
  }

  void execute(const program::Instruction &instruction) {
    if (instruction.has_wait())
      return wait(instruction.wait().token());
    Accesses accesses = getAccesses(instruction);
    checkDisjoint(instruction, accesses);
    for (size_t i = 0; i < accesses.reads.size(); ++i)
      read(*accesses.reads[i], fmt::format("operand {}", i));
    for (const program::Operand *operand : accesses.writes)
      checkIdle(*operand);
    if (instruction.has_async())
      return begin(instruction, accesses);
    for (const program::Operand *operand : accesses.writes)
      define(*operand, "output", /*fresh=*/false);
  }

  void begin(const program::Instruction &instruction, const Accesses &accesses) {
    uint32_t token = instruction.async().token();
    if (!begun.emplace(token, &instruction).second)
      return context.reasons.add("it begins again before it was waited for (token {})", token);
    countReads(accesses, 1);
    for (const program::Operand *operand : accesses.writes)
      for (ByteRange range : getRanges(*operand, maxWriteRanges))
        arenas[operand->arena()].set(range, unfinished);
  }

  void wait(uint32_t token) {
    auto it = begun.find(token);
    if (it == begun.end())
      return context.reasons.add("it waits for token {}, which nothing has begun", token);
    Accesses accesses = getAccesses(*it->second);
    begun.erase(it);
    countReads(accesses, -1);
    for (const program::Operand *operand : accesses.writes)
      define(*operand, "output", /*fresh=*/false);
  }

  void countReads(const Accesses &accesses, int change) {
    for (const program::Operand *operand : accesses.reads)
      for (ByteRange range : getRanges(*operand, maxReadRanges))
        beingRead[operand->arena()].add(range, change);
  }

  ProgramContext &context;
  Position position;
  int64_t rank;
  std::vector<Contents> arenas;
  std::vector<UseCounts> beingRead;                       ///< by instructions under way, by arena
  std::map<uint32_t, const program::Instruction *> begun; ///< and not waited for, by token
};

} // namespace

void checkLifetimes(ProgramContext &context, int64_t rank) { LifetimeCheck(context, rank).run(); }

} // namespace weft::runtime

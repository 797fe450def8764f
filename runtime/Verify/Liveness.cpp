//===- Liveness.cpp - what each read finds in its arena -------------------===//
//
// Walks the schedule on one rank and keeps, for every byte of every arena, which value it holds.
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

class LifetimeCheck {
public:
  LifetimeCheck(ProgramContext &context, int64_t rank)
      : context(context), position(context.executable, rank), rank(rank),
        arenas(context.program.arenas_size()) {}

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

  void read(const program::Operand &operand, const std::string &role) {
    int64_t byte = 0;
    uint32_t holds = 0;
    for (ByteRange range : getRanges(operand, maxReadRanges)) {
      if (!arenas[operand.arena()].findOther(range, operand.value(), byte, holds))
        continue;
      if (holds == 0)
        context.reasons.add("{} reads byte {} of arena {} before anything is written there", role,
                            byte, operand.arena());
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
    Accesses accesses = getAccesses(instruction);
    checkDisjoint(instruction, accesses);
    for (size_t i = 0; i < accesses.reads.size(); ++i)
      read(*accesses.reads[i], fmt::format("operand {}", i));
    for (const program::Operand *operand : accesses.writes)
      define(*operand, "output", /*fresh=*/false);
  }

  ProgramContext &context;
  Position position;
  int64_t rank;
  std::vector<Contents> arenas;
};

} // namespace

void checkLifetimes(ProgramContext &context, int64_t rank) { LifetimeCheck(context, rank).run(); }

} // namespace weft::runtime

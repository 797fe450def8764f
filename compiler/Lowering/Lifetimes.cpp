#include "compiler/Lowering/Lifetimes.h"

#include "llvm/Support/MathExtras.h"
#include <limits>
#include <map>

using namespace mlir;
using namespace weft;

Lifetimes::Lifetimes(exec::ProgramOp program) {
  for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
    index[buffer.getNumber()] = buffers.size();
    buffers.push_back({buffer});
  }
  addSegments(program);
  for (unsigned number = 0; number <= exec::getMaxEnumValForArenaKind(); ++number) {
    auto kind = static_cast<exec::ArenaKind>(number);
    spreadValues(findSuccessors(program, kind), kind);
    findArenas(program, kind);
  }
  setUses();
  applyKept();
}

void Lifetimes::touch(Segment &segment, exec::OperandAttr operand, bool reads) {
  auto time = static_cast<int64_t>(instructions.size());
  auto [touch, isNew] =
      segment.touched.try_emplace(getIndex(operand.getValue()), Touch{reads, time, time});
  touch->second.last = time;
}

void Lifetimes::addSegment(exec::SegmentOp op) {
  Segment &segment = segments.emplace_back();
  segment.begin = instructions.size();
  for (auto instruction : op.getBody().getOps<exec::InstructionOpInterface>()) {
    auto named = instruction;
    if (auto wait = dyn_cast<exec::WaitOp>(*instruction))
      named = asynchronous.lookup(wait.getToken());
    for (exec::OperandAttr operand : named.getReads())
      touch(segment, operand, /*reads=*/true);
    for (exec::OperandAttr operand : named.getWrites())
      touch(segment, operand, /*reads=*/named != instruction);
    instructions.push_back(instruction);
  }
  segment.end = instructions.size();
}

void Lifetimes::addSegments(exec::ProgramOp program) {
  program.walk([&](exec::InstructionOpInterface op) {
    if (exec::AsyncAttr async = op.getAsyncAttr())
      asynchronous[async.getToken()] = op;
  });
  SymbolTable symbols(program);
  auto execute = [&](exec::ScheduleEntryAttr entry) {
    StringAttr name = entry.getSegment().getAttr();
    if (numbers.try_emplace(name, segments.size()).second)
      addSegment(symbols.lookup<exec::SegmentOp>(name));
  };
  exec::walkSchedule(program.getSchedule(), execute, /*iterations=*/1);
}

//===----------------------------------------------------------------------===//
// Between segments
//===----------------------------------------------------------------------===//

/// The frame of an arena in which an entry's operands lie, in the iterations around it.
static int64_t getFrame(exec::ScheduleEntryAttr entry, exec::ArenaKind kind,
                        ArrayRef<int64_t> iterations) {
  for (exec::FrameAttr frame : entry.getFrames())
    if (frame.getArena() == kind) {
      int64_t number = frame.getIndex().getFirst();
      for (auto [step, iteration] : llvm::zip(frame.getIndex().getSteps(), iterations))
        number += step * iteration;
      return frame.getBegin() + llvm::mod(number, frame.getCount());
    }
  return 0;
}

namespace {
/// Walks a schedule, with the iterations of the repeats around an entry.
struct ScheduleWalk {
  int64_t mostIterations;
  llvm::function_ref<void(exec::ScheduleEntryAttr, ArrayRef<int64_t>)> visit;
  SmallVector<int64_t> iterations;

  void walk(ArrayAttr items) {
    for (Attribute item : items) {
      if (auto entry = dyn_cast<exec::ScheduleEntryAttr>(item)) {
        visit(entry, iterations);
        continue;
      }
      auto repeat = cast<exec::RepeatAttr>(item);
      for (int64_t i = 0; i < std::min(repeat.getTimes(), mostIterations); ++i) {
        iterations.push_back(i);
        walk(repeat.getBody());
        iterations.pop_back();
      }
    }
  }
};
} // namespace

/// Of an arena without frames a second iteration finds what follows the first.
Lifetimes::Successors Lifetimes::findSuccessors(exec::ProgramOp program,
                                                exec::ArenaKind kind) const {
  Successors successors;
  std::map<int64_t, unsigned> last; // by frame
  bool hasFrames = exec::getNumFrames(program.getSchedule(), kind) > 1;
  auto visit = [&](exec::ScheduleEntryAttr entry, ArrayRef<int64_t> iterations) {
    unsigned number = numbers.lookup(entry.getSegment().getAttr());
    auto [before, isNew] = last.try_emplace(getFrame(entry, kind, iterations), number);
    if (!isNew)
      successors.insert({std::exchange(before->second, number), number});
  };
  ScheduleWalk{hasFrames ? std::numeric_limits<int64_t>::max() : 2, visit, {}}.walk(
      program.getSchedule());
  return successors;
}

/// What a segment reads before it writes it is there behind those that it follows, and, where these
/// do not begin it by writing it, before them.
void Lifetimes::spreadValues(const Successors &successors, exec::ArenaKind kind) {
  for (Segment &segment : segments)
    for (auto [buffer, touch] : segment.touched)
      if (touch.exposed && buffers[buffer].buffer.getKind() == kind)
        segment.before.insert(buffer);
  for (bool changes = true; changes;) {
    changes = false;
    for (auto [from, to] : successors)
      for (unsigned buffer : segments[to].before) {
        Segment &segment = segments[from];
        if (buffers[buffer].buffer.getKind() != kind || !segment.behind.insert(buffer).second)
          continue;
        changes = true;
        if (!segment.touched.contains(buffer) && from != to)
          segment.before.insert(buffer);
      }
  }
}

/// Entries name all frames of an arena; those that name none use the first.
void Lifetimes::findArenas(exec::ProgramOp program, exec::ArenaKind kind) {
  std::map<int64_t, int64_t> ends{{0, 1}};
  llvm::DenseMap<StringAttr, int64_t> begins; // of segments
  exec::walkSchedule(
      program.getSchedule(),
      [&](exec::ScheduleEntryAttr entry) {
        for (exec::FrameAttr frame : entry.getFrames())
          if (frame.getArena() == kind) {
            ends[frame.getBegin()] = frame.getEnd();
            begins[entry.getSegment().getAttr()] = frame.getBegin();
          }
      },
      /*iterations=*/1);
  arenas[static_cast<unsigned>(kind)].assign(ends.begin(), ends.end());
  for (auto [name, number] : numbers)
    if (int64_t begin = begins.lookup(name))
      for (auto [buffer, touch] : segments[number].touched)
        if (buffers[buffer].buffer.getKind() == kind)
          buffers[buffer].begin = begin;
}

void Lifetimes::setUses() {
  for (const Segment &segment : segments) {
    auto use = [&](unsigned buffer, int64_t first, int64_t last) {
      BufferUse &use = buffers[buffer];
      use.first = use.first < 0 ? first : std::min(use.first, first);
      use.last = std::max(use.last, last);
    };
    for (auto [buffer, touch] : segment.touched)
      use(buffer, segment.before.contains(buffer) ? segment.begin : touch.first,
          segment.behind.contains(buffer) ? segment.end - 1 : touch.last);
    for (unsigned buffer : segment.before)
      if (!segment.touched.contains(buffer))
        use(buffer, segment.begin, segment.end - 1);
  }
}

void Lifetimes::applyKept() {
  int64_t end = std::max<int64_t>(static_cast<int64_t>(instructions.size()) - 1, 0);
  for (BufferUse &use : buffers) {
    exec::Lifetime live = use.buffer.getLive();
    if (live == exec::Lifetime::Step)
      use.first = 0;
    if (use.first >= 0 && live != exec::Lifetime::Uses)
      use.last = end;
  }
}

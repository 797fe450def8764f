//===- ExecSchedule.cpp - schedules, frames and tokens of programs --------===//

#include "dialects/Exec/IR/ExecSchedule.h"
#include "dialects/Support/KeywordEnum.h"

#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace weft::exec;

//===----------------------------------------------------------------------===//
// IndexAttr: <first (step [steps])?>, FrameAttr: <arena index of count (behind begin)?>
//===----------------------------------------------------------------------===//

/// first (`step` `[` steps `]`)?
static IndexAttr parseIndex(AsmParser &parser) {
  int64_t first;
  SmallVector<int64_t> steps;
  if (parser.parseInteger(first))
    return {};
  auto parseStep = [&] { return parser.parseInteger(steps.emplace_back()); };
  if (succeeded(parser.parseOptionalKeyword("step")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStep))
    return {};
  return IndexAttr::get(parser.getContext(), first, steps);
}

static void printIndex(AsmPrinter &printer, IndexAttr index) {
  printer << index.getFirst();
  if (index.getSteps().empty())
    return;
  printer << " step [";
  llvm::interleaveComma(index.getSteps(), printer);
  printer << "]";
}

Attribute IndexAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  IndexAttr index = parseIndex(parser);
  return index && succeeded(parser.parseGreater()) ? index : IndexAttr();
}

void IndexAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printIndex(printer, *this);
  printer << ">";
}

/// arena index `of` count (`behind` begin)?
static FrameAttr parseFrame(AsmParser &parser) {
  FailureOr<ArenaKind> arena = weft::parseKeywordEnum<ArenaKind>(parser);
  if (failed(arena))
    return {};
  IndexAttr index = parseIndex(parser);
  int64_t count, begin = 0;
  if (!index || parser.parseKeyword("of") || parser.parseInteger(count))
    return {};
  if (succeeded(parser.parseOptionalKeyword("behind")) && parser.parseInteger(begin))
    return {};
  return FrameAttr::get(parser.getContext(), *arena, index, count, begin);
}

static void printFrame(AsmPrinter &printer, FrameAttr frame) {
  printer << stringifyArenaKind(frame.getArena()) << " ";
  printIndex(printer, frame.getIndex());
  printer << " of " << frame.getCount();
  if (frame.getBegin() != 0)
    printer << " behind " << frame.getBegin();
}

Attribute FrameAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FrameAttr frame = parseFrame(parser);
  return frame && succeeded(parser.parseGreater()) ? frame : FrameAttr();
}

void FrameAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printFrame(printer, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// ScheduleEntryAttr: <@segment, phase (, microbatch index)? (, slice index)? (, frames [frames])?>
//===----------------------------------------------------------------------===//

/// What may follow behind a comma, each part once.
static ParseResult parseEntryPart(AsmParser &parser, IndexAttr &microbatch, IndexAttr &slice,
                                  SmallVectorImpl<FrameAttr> &frames) {
  StringRef part;
  if (parser.parseKeyword(&part))
    return failure();
  if (part == "microbatch" || part == "slice") {
    IndexAttr &index = part == "slice" ? slice : microbatch;
    index = parseIndex(parser);
    return success(index != nullptr);
  }
  if (part != "frames")
    return parser.emitError(parser.getNameLoc(), "expected microbatch, slice or frames");
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    frames.push_back(parseFrame(parser));
    return success(frames.back() != nullptr);
  });
}

Attribute ScheduleEntryAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr segment;
  if (parser.parseLess() || parser.parseAttribute(segment) || parser.parseComma())
    return {};
  FailureOr<Phase> phase = weft::parseKeywordEnum<Phase>(parser);
  if (failed(phase))
    return {};
  IndexAttr microbatch = IndexAttr::get(parser.getContext(), 0, {}), slice = microbatch;
  SmallVector<FrameAttr> frames;
  while (succeeded(parser.parseOptionalComma()))
    if (parseEntryPart(parser, microbatch, slice, frames))
      return {};
  if (parser.parseGreater())
    return {};
  return ScheduleEntryAttr::get(parser.getContext(), segment, *phase, microbatch, slice, frames);
}

void ScheduleEntryAttr::print(AsmPrinter &printer) const {
  printer << "<" << getSegment() << ", " << stringifyPhase(getPhase());
  IndexAttr zero = IndexAttr::get(getContext(), 0, {});
  for (auto [name, index] : {std::pair("microbatch", getMicrobatch()), {"slice", getTokenSlice()}})
    if (index != zero) {
      printer << ", " << name << " ";
      printIndex(printer, index);
    }
  if (!getFrames().empty()) {
    printer << ", frames [";
    llvm::interleaveComma(getFrames(), printer,
                          [&](FrameAttr frame) { printFrame(printer, frame); });
    printer << "]";
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

void weft::exec::walkSchedule(ArrayAttr schedule, llvm::function_ref<void(ScheduleEntryAttr)> visit,
                              int64_t iterations) {
  for (Attribute item : schedule) {
    if (auto entry = dyn_cast<ScheduleEntryAttr>(item)) {
      visit(entry);
      continue;
    }
    auto repeat = cast<RepeatAttr>(item);
    for (int64_t i = 0; i < std::min(iterations, repeat.getTimes()); ++i)
      walkSchedule(repeat.getBody(), visit, iterations);
  }
}

int64_t weft::exec::getNumFrames(ArrayAttr schedule, ArenaKind kind) {
  int64_t frames = 1;
  walkSchedule(schedule, [&](ScheduleEntryAttr entry) {
    for (FrameAttr frame : entry.getFrames())
      if (frame.getArena() == kind)
        frames = std::max(frames, frame.getEnd());
  });
  return frames;
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

namespace {
/// C3 and C6 of one program.
class ScheduleVerifier {
public:
  explicit ScheduleVerifier(ProgramOp program) : program(program) {
    for (ArenaOp arena : program.getBody().getOps<ArenaOp>()) {
      arenas[arena.getKind()][arena.getBegin()] = arena.getFrames();
      declared.insert(arena.getKind());
    }
  }

  /// Items within so many repeats.
  LogicalResult verify(ArrayAttr items, size_t repeats) {
    for (Attribute item : items) {
      if (auto entry = dyn_cast<ScheduleEntryAttr>(item)) {
        if (failed(verify(entry, repeats)))
          return failure();
        continue;
      }
      auto repeat = dyn_cast<RepeatAttr>(item);
      if (!repeat)
        return program.emitOpError() << "expected schedule entries and repeats, got: " << item;
      if (repeat.getTimes() < 1)
        return program.emitOpError()
               << "expected repeats of at least 1 iteration, got: " << repeat.getTimes();
      if (failed(verify(repeat.getBody(), repeats + 1)))
        return failure();
    }
    return success();
  }

  LogicalResult verify(IndexAttr index, size_t repeats) {
    if (index.getSteps().size() <= repeats)
      return success();
    return program.emitOpError() << "expected at most one step for each of " << repeats
                                 << " repeats, got: " << index;
  }

  LogicalResult verify(ScheduleEntryAttr entry, size_t repeats) {
    if (!isa_and_nonnull<SegmentOp>(
            mlir::SymbolTable::lookupSymbolIn(program, entry.getSegment().getAttr())))
      return program.emitOpError()
             << "expected the schedule to name segments, got: " << entry.getSegment();
    if (failed(verify(entry.getMicrobatch(), repeats)) ||
        failed(verify(entry.getTokenSlice(), repeats)))
      return failure();
    llvm::SmallDenseSet<ArenaKind> named;
    for (FrameAttr frame : entry.getFrames()) {
      if (!named.insert(frame.getArena()).second)
        return program.emitOpError() << "expected each kind of arena once in an entry, got twice: "
                                     << stringifyArenaKind(frame.getArena());
      if (failed(verify(frame, repeats)))
        return failure();
    }
    return verifyArenas(entry);
  }

  LogicalResult verify(FrameAttr frame, size_t repeats) {
    StringRef kind = stringifyArenaKind(frame.getArena());
    if (isKept(frame.getArena()))
      return program.emitOpError() << "expected one frame of " << kind << ", got: " << frame;
    int64_t first = frame.getIndex().getFirst();
    if (first < 0 || first >= frame.getCount())
      return program.emitOpError() << "expected a first frame of 0 to " << frame.getCount() - 1
                                   << " of " << kind << ", got: " << first;
    auto &known = arenas[frame.getArena()];
    if (!declared.contains(frame.getArena()))
      known.try_emplace(frame.getBegin(), frame.getCount());
    auto arena = known.find(frame.getBegin());
    if (arena == known.end())
      return program.emitOpError() << "expected frames of an arena of " << kind
                                   << ", got those behind " << frame.getBegin();
    if (arena->second != frame.getCount())
      return program.emitOpError() << "expected " << arena->second << " frames of " << kind
                                   << ", got: " << frame.getCount();
    return verify(frame.getIndex(), repeats);
  }

  /// An entry's operands lie in the arenas of the frames that it names.
  LogicalResult verifyArenas(ScheduleEntryAttr entry) {
    std::map<ArenaKind, int64_t> begins;
    for (FrameAttr frame : entry.getFrames())
      if (frame.getBegin() != 0)
        begins[frame.getArena()] = frame.getBegin();
    auto [known, isNew] = places.try_emplace(entry.getSegment().getAttr(), begins);
    if (known->second == begins)
      return success();
    return program.emitOpError()
           << "expected all entries of a segment in the same arenas, got others: "
           << entry.getSegment();
  }

  ProgramOp program;
  std::map<ArenaKind, std::map<int64_t, int64_t>> arenas; ///< frames by the first of them
  llvm::SmallDenseSet<ArenaKind> declared;
  llvm::DenseMap<StringAttr, std::map<ArenaKind, int64_t>> places; ///< of segments: first frames
};
} // namespace

LogicalResult weft::exec::verifySchedule(ProgramOp program) {
  return ScheduleVerifier(program).verify(program.getSchedule(), 0);
}

LogicalResult weft::exec::verifyTokens(ProgramOp program) {
  llvm::MapVector<int64_t, bool> waited; // by token
  WalkResult walk = program.getBody().walk([&](InstructionOpInterface op) {
    if (AsyncAttr async = op.getAsyncAttr())
      if (!waited.insert({async.getToken(), false}).second) {
        op.emitOpError() << "expected tokens of one instruction, got twice: " << async.getToken();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  walk = program.getBody().walk([&](WaitOp op) {
    auto it = waited.find(op.getToken());
    if (it == waited.end()) {
      op.emitOpError() << "expected the token of an asynchronous instruction, got: "
                       << op.getToken();
      return WalkResult::interrupt();
    }
    it->second = true;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto [token, isWaited] : waited)
    if (!isWaited)
      return program.emitOpError() << "expected a wait for every token, got none for: " << token;
  return success();
}

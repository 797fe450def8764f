#include "compiler/Lowering/Lifetimes.h"

using namespace mlir;
using namespace weft;

Lifetimes::Lifetimes(exec::ProgramOp program) {
  for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
    index[buffer.getNumber()] = buffers.size();
    buffers.push_back({buffer});
  }
  addSegments(program);
  if (executions.size() > 1)
    keepBetweenExecutions();
  applyKept();
}

void Lifetimes::touch(Segment &segment, exec::OperandAttr operand, bool reads) {
  unsigned number = getIndex(operand.getValue());
  auto time = static_cast<int64_t>(instructions.size());
  BufferUse &use = buffers[number];
  if (use.first < 0)
    use.first = time;
  use.last = time;
  segment.exposed.try_emplace(number, reads);
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
  llvm::DenseMap<StringAttr, unsigned> numbers;
  SymbolTable symbols(program);
  auto execute = [&](exec::ScheduleEntryAttr entry) {
    StringAttr name = entry.getSegment().getAttr();
    auto [it, isNew] = numbers.try_emplace(name, segments.size());
    executions.push_back(it->second);
    if (isNew)
      addSegment(symbols.lookup<exec::SegmentOp>(name));
  };
  exec::walkSchedule(program.getSchedule(), execute, /*iterations=*/2); // a second finds the first
}

void Lifetimes::keepBetweenExecutions() {
  struct Span {
    int64_t first = -1, lastReading = -1; ///< executions
  };
  std::vector<Span> spans(buffers.size());
  for (auto [at, number] : llvm::enumerate(executions))
    for (auto [buffer, exposed] : segments[number].exposed) {
      Span &span = spans[buffer];
      if (span.first < 0)
        span.first = at;
      if (exposed)
        span.lastReading = at;
    }
  for (auto [number, span] : llvm::enumerate(spans)) {
    BufferUse &use = buffers[number];
    for (int64_t at = span.first; at < span.lastReading; ++at) {
      const Segment &segment = segments[executions[at]];
      auto it = segment.exposed.find(number);
      if (it == segment.exposed.end() || it->second) // what it writes first begins there
        use.first = std::min(use.first, segment.begin);
      use.last = std::max(use.last, segment.end - 1);
    }
    if (span.lastReading > span.first)
      use.first = std::min(use.first, segments[executions[span.lastReading]].begin);
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

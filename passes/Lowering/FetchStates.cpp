//===- FetchStates.cpp - states in the host's memory come and go ----------===//

#include "passes/Lowering/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_FETCHSTATES
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

namespace {

/// What a segment does to a state.
struct Visit {
  exec::WeightBlockOp block;
  Operation *first = nullptr, *last = nullptr; ///< that name it
  bool reads = false;                          ///< before all of it is written
  bool writes = false;
  int64_t number = 0; ///< of the buffer on the device
};

/// Fetches the states that the instructions of a program name.
class StateFetcher {
public:
  explicit StateFetcher(exec::ProgramOp program);

  /// Whether there is anything to do.
  bool isNeeded() const { return !blocks.empty(); }
  LogicalResult run();

private:
  using Visits = llvm::MapVector<int64_t, Visit>; ///< by the state's number

  LogicalResult findVisits(exec::SegmentOp segment, Visits &visits);
  void note(Operation *op, exec::OperandAttr operand, bool reads, Visit &visit) const;
  void rename(exec::InstructionOpInterface op, const Visits &visits) const;
  void place(Visits &visits);
  void addBuffer(const Visit &visit);
  void copy(OpBuilder &builder, const Visit &visit, bool toHost) const;
  /// All of a state's block, there or on the device.
  exec::OperandAttr getWhole(const Visit &visit, bool onHost) const;

  exec::ProgramOp program;
  ArenaKind kind; ///< of the buffers on the device
  int64_t lastNumber = 0;
  llvm::DenseMap<int64_t, exec::BufferOp> buffers;     ///< of states, by number
  llvm::DenseMap<int64_t, exec::WeightBlockOp> blocks; ///< the same
};

} // namespace

/// Where activations lie in several frames, what a segment makes for itself lies beside them.
StateFetcher::StateFetcher(exec::ProgramOp program)
    : program(program), kind(exec::getNumFrames(program.getSchedule(), ArenaKind::Activations) > 1
                                 ? ArenaKind::Workspace
                                 : ArenaKind::Activations) {
  for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
    lastNumber = std::max<int64_t>(lastNumber, buffer.getNumber());
    if (buffer.getKind() == ArenaKind::Host)
      buffers[buffer.getNumber()] = buffer;
  }
  for (auto block : program.getBody().getOps<exec::WeightBlockOp>())
    if (block.getLocal().getArena() == ArenaKind::Host)
      blocks[block.getLocal().getValue()] = block;
}

exec::OperandAttr StateFetcher::getWhole(const Visit &visit, bool onHost) const {
  exec::OperandAttr local = exec::WeightBlockOp(visit.block).getLocal();
  if (onHost)
    return local;
  return exec::OperandAttr::get(local.getContext(), kind, local.getOffset(), local.getDtype(),
                                local.getShape(), local.getStrides(), visit.number);
}

/// Kernels, copies and fills write all of what they write.
void StateFetcher::note(Operation *op, exec::OperandAttr operand, bool reads, Visit &visit) const {
  bool isWhole =
      operand.getNumElements() == exec::WeightBlockOp(visit.block).getLocal().getNumElements();
  visit.reads |= reads || (!visit.first && !isWhole);
  visit.writes |= !reads;
  visit.first = visit.first ? visit.first : op;
  visit.last = op;
}

LogicalResult StateFetcher::findVisits(exec::SegmentOp segment, Visits &visits) {
  for (auto op : segment.getBody().getOps<exec::InstructionOpInterface>())
    for (bool reads : {true, false})
      for (exec::OperandAttr operand : reads ? op.getReads() : op.getWrites()) {
        if (operand.getArena() != ArenaKind::Host)
          continue;
        auto block = blocks.find(operand.getValue());
        if (block == blocks.end())
          return op.emitOpError() << "expected the host's memory to hold weights' blocks, got: "
                                  << operand;
        Visit &visit = visits[operand.getValue()];
        visit.block = block->second;
        note(op, operand, reads, visit);
      }
  return success();
}

void StateFetcher::rename(exec::InstructionOpInterface op, const Visits &visits) const {
  op.mapOperands([&](exec::OperandAttr operand) {
    if (operand.getArena() != ArenaKind::Host)
      return operand;
    return exec::OperandAttr::get(operand.getContext(), kind, operand.getOffset(),
                                  operand.getDtype(), operand.getShape(), operand.getStrides(),
                                  visits.find(operand.getValue())->second.number);
  });
}

void StateFetcher::addBuffer(const Visit &visit) {
  exec::BufferOp host = buffers.at(exec::WeightBlockOp(visit.block).getLocal().getValue());
  OpBuilder builder(host);
  exec::BufferOp::create(builder, host.getLoc(), visit.number, kind, host.getBytes(),
                         host.getAlignment(), exec::Lifetime::Uses);
}

void StateFetcher::copy(OpBuilder &builder, const Visit &visit, bool toHost) const {
  exec::WeightBlockOp block = visit.block;
  int64_t bytes =
      block.getLocal().getNumElements() * exec::getElementBytes(block.getLocal().getDtype());
  auto price = exec::PriceAttr::get(builder.getContext(), block.getWeight(), 0, bytes, bytes,
                                    toHost ? "copy to host" : "copy from host");
  exec::CopyOp::create(builder, block.getLoc(), getWhole(visit, !toHost), getWhole(visit, toHost),
                       price, exec::AsyncAttr());
}

/// Fetches what an instruction is the first to name before the one in front of it that is such a
/// first one, and writes back what one is the last to name behind the first such one that follows:
/// while one works there are copies to do, and the memory for them is there.
void StateFetcher::place(Visits &visits) {
  SmallVector<Operation *> turns; // first instructions, in their order
  for (auto &[number, visit] : visits)
    if (turns.empty() || turns.back() != visit.first)
      turns.push_back(visit.first);
  size_t turn = 0;
  for (auto &[number, visit] : visits) {
    while (turns[turn] != visit.first)
      ++turn;
    OpBuilder builder(turns[turn == 0 ? 0 : turn - 1]);
    if (visit.reads)
      copy(builder, visit, /*toHost=*/false);
  }
  for (auto &[number, visit] : llvm::reverse(visits)) { // so that they stand in their order
    if (!visit.writes)
      continue;
    auto *next = llvm::upper_bound(
        turns, visit.last, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    OpBuilder builder(program.getContext());
    builder.setInsertionPointAfter(next == turns.end() ? visit.last : *next);
    copy(builder, visit, /*toHost=*/true);
  }
}

LogicalResult StateFetcher::run() {
  for (auto segment : program.getBody().getOps<exec::SegmentOp>()) {
    Visits visits;
    if (failed(findVisits(segment, visits)))
      return failure();
    for (auto &[number, visit] : visits) {
      visit.number = ++lastNumber;
      addBuffer(visit);
    }
    for (auto op : segment.getBody().getOps<exec::InstructionOpInterface>())
      rename(op, visits);
    place(visits);
  }
  return success();
}

namespace {
struct FetchStates : weft::impl::FetchStatesBase<FetchStates> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      if (StateFetcher fetcher(program); fetcher.isNeeded() && failed(fetcher.run()))
        return signalPassFailure();
  }
};
} // namespace

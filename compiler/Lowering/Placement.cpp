#include "compiler/Lowering/Placement.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

Placement::Placement(exec::ProgramOp program) : lifetimes(program) {
  for (unsigned buffer = 0; buffer < lifetimes.buffers.size(); ++buffer)
    places.push_back({buffer, lifetimes.buffers[buffer].buffer.getLive() != exec::Lifetime::Uses});
  shareInPlace();
  for (unsigned kind = 0; kind <= exec::getMaxEnumValForArenaKind(); ++kind)
    placeKind(static_cast<ArenaKind>(kind));
}

unsigned Placement::findRoot(unsigned buffer) const {
  while (places[buffer].root != buffer)
    buffer = places[buffer].root;
  return buffer;
}

/// When each instruction is over: its own time, or that of its wait if that follows.
std::vector<int64_t> Placement::getEnds() const {
  std::vector<int64_t> ends(lifetimes.instructions.size());
  llvm::DenseMap<int64_t, unsigned> begun; // by token
  for (size_t time = 0; time < ends.size(); ++time) {
    exec::InstructionOpInterface op = lifetimes.instructions[time];
    ends[time] = static_cast<int64_t>(time);
    if (exec::AsyncAttr async = op.getAsyncAttr())
      begun[async.getToken()] = time;
    if (auto wait = dyn_cast<exec::WaitOp>(*op))
      if (auto it = begun.find(wait.getToken()); it != begun.end())
        ends[it->second] = static_cast<int64_t>(time);
  }
  return ends;
}

void Placement::shareInPlace() {
  std::vector<int64_t> ends = getEnds();
  std::vector<int64_t> readUntil(lifetimes.buffers.size(), -1); // by instructions before
  std::vector<int64_t> lastReads(lifetimes.buffers.size(), -1); // when they begin
  for (auto [time, instruction] : llvm::enumerate(lifetimes.instructions))
    for (exec::OperandAttr read : instruction.getReads())
      lastReads[lifetimes.getIndex(read.getValue())] = static_cast<int64_t>(time);
  for (auto [time, instruction] : llvm::enumerate(lifetimes.instructions)) {
    if (instruction.mayWriteInPlace()) {
      unsigned read = lifetimes.getIndex(instruction.getReads().front().getValue());
      unsigned input = findRoot(read);
      unsigned output = lifetimes.getIndex(instruction.getWrites().front().getValue());
      BufferUse &from = lifetimes.buffers[input], &to = lifetimes.buffers[output];
      auto now = static_cast<int64_t>(time);
      // What an asynchronous instruction overwrites nobody may read beside it.
      bool isLast = from.last == ends[time] && readUntil[input] < now && lastReads[read] == now &&
                    !places[input].toEnd;
      if (isLast && to.first == now && input != output &&
          from.buffer.getKind() == to.buffer.getKind() &&
          from.buffer.getBytes() == to.buffer.getBytes()) {
        places[output].root = input;
        places[input].toEnd = places[output].toEnd;
        from.last = to.last;
      }
    }
    for (exec::OperandAttr read : instruction.getReads()) {
      int64_t &until = readUntil[findRoot(lifetimes.getIndex(read.getValue()))];
      until = std::max(until, ends[time]);
    }
  }
}

Placement::Members Placement::listMembers(ArenaKind kind, Arena &arena) {
  Members members;
  for (auto [number, use] : llvm::enumerate(lifetimes.buffers)) {
    if (use.buffer.getKind() != kind || use.first < 0 || use.begin != arena.begin)
      continue;
    arena.alignment = std::max<int64_t>(arena.alignment, use.buffer.getAlignment());
    if (places[number].root != number)
      continue;
    members.buffers.push_back(number);
    members.lifetimes.push_back({static_cast<int64_t>(use.buffer.getBytes()), use.first, use.last});
  }
  return members;
}

void Placement::placeKind(ArenaKind kind) {
  bool isThere = llvm::any_of(lifetimes.buffers, [&](BufferUse use) {
    return use.buffer.getKind() == kind && use.first >= 0;
  });
  for (auto [begin, end] : lifetimes.getArenas(kind)) {
    if (!isThere)
      continue;
    Arena &arena = arenas[static_cast<unsigned>(kind)].emplace_back();
    arena.begin = begin;
    arena.frames = end - begin;
    Members members = listMembers(kind, arena);
    if (exec::isKept(kind)) { // one after another, as they are read
      for (auto [member, lifetime] : llvm::zip_equal(members.buffers, members.lifetimes)) {
        places[member].offset = arena.bytes;
        arena.bytes += llvm::alignTo(lifetime.bytes, arena.alignment);
      }
      continue;
    }
    ArenaPlacement placement = placeBuffers(members.lifetimes, arena.alignment);
    arena.bytes = placement.bytes;
    for (auto [member, offset] : llvm::zip_equal(members.buffers, placement.offsets))
      places[member].offset = offset;
  }
}

exec::OperandAttr Placement::place(exec::OperandAttr operand) const {
  unsigned root = findRoot(lifetimes.getIndex(operand.getValue()));
  return exec::OperandAttr::get(operand.getContext(), operand.getArena(),
                                operand.getOffset().plus(places[root].offset), operand.getDtype(),
                                operand.getShape(), operand.getStrides(), operand.getValue());
}

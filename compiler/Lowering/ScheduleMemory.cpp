#include "compiler/Lowering/ScheduleMemory.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// LiveBytes
//===----------------------------------------------------------------------===//

LiveBytes::LiveBytes(ArrayRef<exec::InstructionOpInterface> instructions,
                     ArrayRef<exec::BufferOp> ownBuffers)
    : instructions(instructions) {
  for (exec::BufferOp op : ownBuffers)
    buffers[op.getNumber()] = {.bytes = static_cast<int64_t>(op.getBytes()),
                               .kind = static_cast<unsigned>(op.getKind()),
                               .kept = op.getLive() != exec::Lifetime::Uses,
                               .uses = 0,
                               .begun = false};
  for (exec::InstructionOpInterface op : instructions)
    forEach(op, [](Buffer &buffer) { ++buffer.uses; });
}

/// Visits each buffer that an instruction names, once: what it updates it reads and writes.
void LiveBytes::forEach(exec::InstructionOpInterface op, llvm::function_ref<void(Buffer &)> visit) {
  llvm::SmallVector<int64_t, 8> seen;
  for (const SmallVector<exec::OperandAttr> &operands : {op.getReads(), op.getWrites()})
    for (exec::OperandAttr operand : operands) {
      auto it = buffers.find(operand.getValue());
      if (it == buffers.end() || llvm::is_contained(seen, operand.getValue()))
        continue;
      seen.push_back(operand.getValue());
      visit(it->second);
    }
}

/// The operand whose place the result takes; null where there is none.
LiveBytes::Buffer *LiveBytes::findTakenOver(unsigned number) {
  exec::InstructionOpInterface op = instructions[number];
  if (!op.mayWriteInPlace())
    return nullptr;
  auto from = buffers.find(op.getReads().front().getValue());
  auto to = buffers.find(op.getWrites().front().getValue());
  if (from == buffers.end() || to == buffers.end() || from == to)
    return nullptr;
  bool ends = from->second.uses == 1 && !from->second.kept && !to->second.begun;
  bool fits = from->second.kind == to->second.kind && from->second.bytes == to->second.bytes;
  return ends && fits ? &from->second : nullptr;
}

ArenaBytes LiveBytes::getNeed(unsigned number) {
  ArenaBytes need{};
  forEach(instructions[number], [&](Buffer &buffer) {
    if (!buffer.begun)
      need[buffer.kind] += buffer.bytes;
  });
  if (Buffer *buffer = findTakenOver(number))
    need[buffer->kind] -= buffer->bytes;
  return need;
}

ArenaBytes LiveBytes::getLasting(unsigned number) {
  ArenaBytes lasting = getNeed(number);
  forEach(instructions[number], [&](Buffer &buffer) {
    if (!buffer.begun && buffer.uses == 1 && !buffer.kept)
      lasting[buffer.kind] -= buffer.bytes;
  });
  return lasting;
}

void LiveBytes::begin(unsigned number) {
  if (Buffer *buffer = findTakenOver(number)) {
    live[buffer->kind] -= buffer->bytes;
    buffer->bytes = 0; // its place is the result's from here on
  }
  forEach(instructions[number], [&](Buffer &buffer) {
    if (!buffer.begun)
      live[buffer.kind] += buffer.bytes;
    buffer.begun = true;
  });
}

void LiveBytes::end(unsigned number) {
  forEach(instructions[number], [&](Buffer &buffer) {
    if (--buffer.uses == 0 && !buffer.kept)
      live[buffer.kind] -= buffer.bytes;
  });
}

//===----------------------------------------------------------------------===//
// Room
//===----------------------------------------------------------------------===//

/// By instruction, the bytes that are live while it runs, one after the other.
static std::vector<ArenaBytes> findLive(ArrayRef<exec::InstructionOpInterface> instructions,
                                        ArrayRef<exec::BufferOp> ownBuffers) {
  LiveBytes live(instructions, ownBuffers);
  std::vector<ArenaBytes> bytes;
  for (unsigned number = 0; number < instructions.size(); ++number) {
    live.begin(number);
    bytes.push_back(live.get());
    live.end(number);
  }
  return bytes;
}

Room::Room(ArrayRef<exec::InstructionOpInterface> instructions,
           ArrayRef<exec::BufferOp> ownBuffers) {
  std::vector<ArenaBytes> live = findLive(instructions, ownBuffers);
  std::vector<int64_t> left(live.size());
  for (unsigned kind = 0; kind < most.size(); ++kind) {
    for (const ArenaBytes &bytes : live)
      most[kind] = std::max(most[kind], bytes[kind]);
    for (size_t place = 0; place < live.size(); ++place)
      left[place] = most[kind] - live[place][kind];
    slack.emplace_back(left);
  }
}

bool Room::has(const ArenaBytes &bytes, unsigned begin, unsigned end) const {
  for (unsigned kind = 0; kind < slack.size(); ++kind)
    if (bytes[kind] > 0 && slack[kind].leastOver(begin, end) < bytes[kind])
      return false;
  return true;
}

void Room::take(const ArenaBytes &bytes, unsigned begin, unsigned end) {
  for (unsigned kind = 0; kind < slack.size(); ++kind)
    if (bytes[kind] > 0)
      slack[kind].take(begin, end, bytes[kind]);
}

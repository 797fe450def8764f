//===- NanCheck.cpp - which instruction made the first NaN ----------------===//

#include "runtime/Executor/NanCheck.h"

#include "runtime/Program/Resolve.h"
#include "runtime/Support/ForEachOffset.h"

#include <cmath>
#include <fmt/format.h>

namespace weft::runtime {

/// What an instruction writes when it is executed, or, of a wait, what it waits for.
static std::vector<const program::Operand *>
listWrites(const program::Instruction &instruction,
           const std::map<uint32_t, const program::Instruction *> &begun) {
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch: {
    std::vector<const program::Operand *> writes;
    for (const program::Operand &operand : instruction.launch().outputs())
      writes.push_back(&operand);
    return writes;
  }
  case program::Instruction::kAttention:
    if (instruction.attention().has_lse())
      return {&instruction.attention().output(), &instruction.attention().lse()};
    return {&instruction.attention().output()};
  case program::Instruction::kAttentionBackward: {
    const program::AttentionBackward &backward = instruction.attention_backward();
    return {&backward.query_gradient(), &backward.key_gradient(), &backward.value_gradient()};
  }
  case program::Instruction::kGemm:
    return {&instruction.gemm().c()};
  case program::Instruction::kConv:
    return {&instruction.conv().output()};
  case program::Instruction::kCollective:
    return {&instruction.collective().output()};
  case program::Instruction::kCopy:
    return {&instruction.copy().output()};
  case program::Instruction::kFill:
    return {&instruction.fill().output()};
  case program::Instruction::kReceive:
    return {&instruction.receive().output()};
  case program::Instruction::kWait:
    if (auto it = begun.find(instruction.wait().token()); it != begun.end())
      return listWrites(*it->second, {});
    return {};
  default:
    return {};
  }
}

NanCheck::NanCheck(const program::Program &program, const Position &position) {
  std::map<uint32_t, const program::Instruction *> begun;
  for (const program::Segment &segment : program.segments())
    for (const program::Instruction &instruction : segment.instructions())
      if (instruction.has_async())
        begun[instruction.async().token()] = &instruction;
  for (const program::Segment &segment : program.segments()) {
    auto &instructions = writes.emplace_back();
    for (const program::Instruction &instruction : segment.instructions()) {
      std::vector<View> &views = instructions.emplace_back();
      if (instruction.has_async())
        continue;
      for (const program::Operand *operand : listWrites(instruction, begun))
        if (isFloat(operand->dtype()))
          views.push_back(resolveView(program, *operand, position));
    }
  }
}

void NanCheck::look(uint32_t segment, size_t number, const char *label, const PortAccess &access) {
  if (!found.empty())
    return;
  ++looks;
  for (const View &view : writes[segment][number])
    if (holdsNan(view, access))
      found = fmt::format("instruction {}, {}", number, label);
}

bool holdsNan(const View &view, const PortAccess &access) {
  bool any = false;
  access.staging.look(view, access.bases, access.stream,
                      [&](const Piece &piece, const std::byte *memory) {
                        forEachOffset(piece.view.shape, piece.view.strides, [&](int64_t offset) {
                          any |= std::isnan(readAsDouble(piece.view.dtype, memory, offset));
                        });
                      });
  return any;
}

} // namespace weft::runtime

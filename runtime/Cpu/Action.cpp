//===- Action.cpp - an instruction made ready for one rank ----------------===//

#include "runtime/Cpu/Action.h"

#include "runtime/Support/Error.h"

namespace weft::runtime {

std::unique_ptr<Action> makeCpuAction(const program::Program &program,
                                      const program::Instruction &instruction,
                                      const Position &position) {
  auto resolve = [&](const program::Operand &operand) {
    return resolveView(program, operand, position);
  };
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch:
    return makeLaunchAction(program, instruction.launch(), position);
  case program::Instruction::kGemm: {
    const program::Gemm &gemm = instruction.gemm();
    return makeGemmAction(resolve(gemm.a()), resolve(gemm.b()), resolve(gemm.c()),
                          gemm.accumulate());
  }
  case program::Instruction::kConv: {
    const program::Conv &conv = instruction.conv();
    return makeConvAction(resolve(conv.input()), resolve(conv.kernel()), resolve(conv.output()),
                          conv);
  }
  case program::Instruction::kCopy:
    return makeCopyAction(resolve(instruction.copy().input()),
                          resolve(instruction.copy().output()));
  case program::Instruction::kFill:
    return makeFillAction(resolve(instruction.fill().output()), instruction.fill().value());
  case program::Instruction::kCollective:
    return nullptr;
  default:
    throwBadInput("an instruction that this runtime does not know");
  }
}

} // namespace weft::runtime

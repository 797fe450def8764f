//===- PlaceBuffers.cpp - buffers get their places in arenas --------------===//

#include "compiler/Lowering/Placement.h"
#include "passes/Lowering/Passes.h"

namespace weft {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Arenas take the buffers' place at the program's start.
static void replaceBuffers(exec::ProgramOp program, const Placement &placement) {
  for (auto buffer : llvm::make_early_inc_range(program.getBody().getOps<exec::BufferOp>()))
    buffer.erase();
  OpBuilder builder = OpBuilder::atBlockBegin(&program.getBody().front());
  for (unsigned number = 0; number <= exec::getMaxEnumValForArenaKind(); ++number) {
    auto kind = static_cast<exec::ArenaKind>(number);
    for (const Placement::Arena &arena : placement.getArenas(kind))
      exec::ArenaOp::create(builder, program.getLoc(), kind, arena.bytes, arena.alignment,
                            arena.frames, arena.begin);
  }
}

/// Offsets count from the arena's start from now on.
static void placeOperands(exec::ProgramOp program, const Placement &placement) {
  auto place = [&](exec::OperandAttr operand) { return placement.place(operand); };
  for (auto port : program.getBody().getOps<exec::PortOp>())
    port.setLocalAttr(place(port.getLocal()));
  for (auto block : program.getBody().getOps<exec::WeightBlockOp>())
    block.setLocalAttr(place(block.getLocal()));
  program.walk([&](exec::InstructionOpInterface op) { op.mapOperands(place); });
}

namespace {
struct PlaceBuffers : weft::impl::PlaceBuffersBase<PlaceBuffers> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<exec::ProgramOp>()) {
      if (program.getBody().getOps<exec::BufferOp>().empty())
        continue;
      Placement placement(program);
      placeOperands(program, placement);
      replaceBuffers(program, placement);
    }
  }
};
} // namespace

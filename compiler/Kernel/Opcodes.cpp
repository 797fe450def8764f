#include "compiler/Kernel/Opcodes.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::kernel;

std::optional<Opcode> kernel::getSimpleOpcode(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Opcode>>(op)
      .Case([](AbsOp) { return Opcode::Abs; })
      .Case([](AcosOp) { return Opcode::Acos; })
      .Case([](AddOp) { return Opcode::Add; })
      .Case([](AndOp) { return Opcode::And; })
      .Case([](AsinOp) { return Opcode::Asin; })
      .Case([](Atan2Op) { return Opcode::Atan2; })
      .Case([](AtanOp) { return Opcode::Atan; })
      .Case([](CastOp) { return Opcode::Cast; })
      .Case([](CbrtOp) { return Opcode::Cbrt; })
      .Case([](CeilOp) { return Opcode::Ceil; })
      .Case([](CosOp) { return Opcode::Cos; })
      .Case([](CoshOp) { return Opcode::Cosh; })
      .Case([](CountLeadingZerosOp) { return Opcode::CountLeadingZeros; })
      .Case([](DivOp) { return Opcode::Div; })
      .Case([](ErfOp) { return Opcode::Erf; })
      .Case([](ExpOp) { return Opcode::Exp; })
      .Case([](Expm1Op) { return Opcode::Expm1; })
      .Case([](FloorOp) { return Opcode::Floor; })
      .Case([](IsInfOp) { return Opcode::IsInf; })
      .Case([](IsNanOp) { return Opcode::IsNan; })
      .Case([](Log1pOp) { return Opcode::Log1p; })
      .Case([](LogOp) { return Opcode::Log; })
      .Case([](MaxOp) { return Opcode::Max; })
      .Case([](MinOp) { return Opcode::Min; })
      .Case([](MulOp) { return Opcode::Mul; })
      .Case([](NegOp) { return Opcode::Neg; })
      .Case([](NotOp) { return Opcode::Not; })
      .Case([](OrOp) { return Opcode::Or; })
      .Case([](PopcountOp) { return Opcode::Popcount; })
      .Case([](PowOp) { return Opcode::Pow; })
      .Case([](RemOp) { return Opcode::Rem; })
      .Case([](ReshapeOp) { return Opcode::Reshape; })
      .Case([](RoundOp) { return Opcode::Round; })
      .Case([](RsqrtOp) { return Opcode::Rsqrt; })
      .Case([](SelectOp) { return Opcode::Select; })
      .Case([](ShiftLeftOp) { return Opcode::ShiftLeft; })
      .Case([](ShiftRightOp) { return Opcode::ShiftRight; })
      .Case([](SignOp) { return Opcode::Sign; })
      .Case([](SinOp) { return Opcode::Sin; })
      .Case([](SinhOp) { return Opcode::Sinh; })
      .Case([](SqrtOp) { return Opcode::Sqrt; })
      .Case([](SubOp) { return Opcode::Sub; })
      .Case([](TanOp) { return Opcode::Tan; })
      .Case([](TanhOp) { return Opcode::Tanh; })
      .Case([](XorOp) { return Opcode::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

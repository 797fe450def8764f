#include "compiler/Kernel/Arithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::kernel;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// What an operation of the arith or math dialect costs, in additions: orders of magnitude of a
/// core's throughput.
static int64_t getAdditions(Operation *op) {
  if (isa<arith::ConstantOp, arith::BitcastOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          math::RsqrtOp, math::SqrtOp>(op))
    return 4;
  // What has an instruction on most CPUs. Every other function of the dialect is a series.
  bool isPlain =
      isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
          math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp, math::TruncOp>(op);
  bool isSeries = isa<math::MathDialect>(op->getDialect()) && !isPlain;
  return isSeries || isa<arith::RemFOp>(op) ? 10 : 1;
}

int64_t weft::getArithmeticCost(ElementwiseOpInterface op) {
  Block block;
  ArithmeticBuilder builder(op.getLoc(), op.getContext());
  builder.setInsertionPointToStart(&block);
  for (Type type : op->getOperandTypes())
    block.addArgument(getComputedType(getElementTypeOrSelf(type)), op.getLoc());
  op.buildArithmetic(builder, block.getArguments());
  int64_t additions = 0;
  for (Operation &each : block)
    additions += getAdditions(&each);
  return std::max<int64_t>(additions, 1);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string getTypeName(DType type) {
  if (type == DType::BF16)
    return "bf16";
  return (isFloat(type) ? "f" : isUnsigned(type) ? "ui" : "i") + std::to_string(elementBits(type));
}

std::string kernel::getFunctionName(ElementwiseOpInterface op) {
  std::string name;
  llvm::raw_string_ostream out(name);
  out << "weft_" << op->getName().stripDialect() << '(';
  llvm::interleave(
      op->getOperandTypes(), out, [&](Type type) { out << getElementTypeOrSelf(type); }, ",");
  out << ')' << getElementTypeOrSelf(op->getResult(0).getType());
  auto attributes = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (attributes && !attributes.empty())
    out << attributes;
  return name;
}

std::string kernel::getCastName(DType from, DType to) {
  return "weft_" + CastOp::getOperationName().split('.').second.str() + "(" + getTypeName(from) +
         ")" + getTypeName(to);
}

std::string kernel::getJoinName(ReduceKind kind, DType type, bool anyOrder) {
  return "weft_join_" + stringifyReduceKind(kind).str() + (anyOrder ? "_in_any_order(" : "(") +
         getTypeName(type) + ")";
}

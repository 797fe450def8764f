//===- EmitScalars.cpp - arithmetic of kernels ----------------------------===//

#include "compiler/Kernel/KernelEmitter.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Intrinsic::ID;

llvm::Type *KernelEmitter::getType(DType type) {
  switch (type) {
  case DType::I1:
    return b.getInt1Ty();
  case DType::F64:
    return b.getDoubleTy();
  case DType::F16:
  case DType::BF16:
  case DType::F32:
    return b.getFloatTy();
  default:
    return b.getIntNTy(8 * elementBytes(type));
  }
}

llvm::Type *KernelEmitter::getStorageType(DType type) {
  if (type == DType::F16)
    return b.getHalfTy();
  return type == DType::BF16 ? b.getInt16Ty() : type == DType::I1 ? b.getInt8Ty() : getType(type);
}

llvm::Value *KernelEmitter::elementPointer(DType type, Value base, Value index) {
  return b.CreateInBoundsGEP(getStorageType(type), base, index);
}

llvm::Value *KernelEmitter::load(DType type, Value pointer) {
  Value stored =
      b.CreateAlignedLoad(getStorageType(type), pointer, llvm::Align(elementBytes(type)));
  if (type == DType::I1)
    return b.CreateICmpNE(stored, b.getInt8(0));
  if (type == DType::F16)
    return b.CreateFPExt(stored, b.getFloatTy());
  if (type == DType::BF16)
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(stored, b.getInt32Ty()), 16), b.getFloatTy());
  return stored;
}

/// The upper half of the nearest bf16, ties to even, in the low bits; NaN stays NaN.
llvm::Value *KernelEmitter::roundToBFloat(Value value) {
  Value bits = b.CreateBitCast(value, b.getInt32Ty());
  Value odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value rounded = b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(odd, b.getInt32(0x7fff))), 16);
  return b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt32(0x7fc0), rounded);
}

/// Without flags: roundings contracted from f64 to f16 would need a library.
llvm::Value *KernelEmitter::roundToHalf(Value value) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  return b.CreateFPTrunc(value, b.getHalfTy());
}

void KernelEmitter::store(DType type, Value value, Value pointer) {
  if (type == DType::I1)
    value = b.CreateZExt(value, b.getInt8Ty());
  else if (type == DType::F16)
    value = roundToHalf(value);
  else if (type == DType::BF16)
    value = b.CreateTrunc(roundToBFloat(value), b.getInt16Ty());
  b.CreateAlignedStore(value, pointer, llvm::Align(elementBytes(type)));
}

llvm::Value *KernelEmitter::allocate(llvm::Type *type, int64_t count) {
  llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  llvm::AllocaInst *slot = entry.CreateAlloca(type, entry.getInt64(count));
  if (count > 1)
    slot->setAlignment(llvm::Align(64));
  return slot;
}

llvm::Value *KernelEmitter::callMath(llvm::StringRef name, llvm::Type *type,
                                     ArrayRef<Value> arguments) {
  std::string symbol = "weft_" + name.str();
  symbol += type->isFloatTy() ? "_f32" : type->isDoubleTy() ? "_f64" : "_i64";
  llvm::SmallVector<llvm::Type *> types(arguments.size(), type);
  return b.CreateCall(
      module.getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false)), arguments);
}

/// The function of KernelMath.cpp, or "".
static llvm::StringRef getMathName(Opcode op) {
  switch (op) {
  case Opcode::Acos:
    return "acos";
  case Opcode::Asin:
    return "asin";
  case Opcode::Atan:
    return "atan";
  case Opcode::Atan2:
    return "atan2";
  case Opcode::Cbrt:
    return "cbrt";
  case Opcode::Cos:
    return "cos";
  case Opcode::Cosh:
    return "cosh";
  case Opcode::Erf:
    return "erf";
  case Opcode::Exp:
    return "exp";
  case Opcode::Expm1:
    return "expm1";
  case Opcode::Log:
    return "log";
  case Opcode::Log1p:
    return "log1p";
  case Opcode::Pow:
    return "pow";
  case Opcode::Rem:
    return "fmod";
  case Opcode::Sin:
    return "sin";
  case Opcode::Sinh:
    return "sinh";
  case Opcode::Tan:
    return "tan";
  case Opcode::Tanh:
    return "tanh";
  default:
    return "";
  }
}

llvm::Value *KernelEmitter::computeFloat(Opcode op, Value x, Value y) {
  llvm::Type *type = x->getType();
  Value zero = ConstantFP::getZero(type), one = ConstantFP::get(type, 1.0);
  auto intrinsic = [&](ID id) { return b.CreateUnaryIntrinsic(id, x); };
  switch (op) {
  case Opcode::Abs:
    return intrinsic(llvm::Intrinsic::fabs);
  case Opcode::Add:
    return b.CreateFAdd(x, y);
  case Opcode::Ceil:
    return intrinsic(llvm::Intrinsic::ceil);
  case Opcode::Div:
    return b.CreateFDiv(x, y);
  case Opcode::Floor:
    return intrinsic(llvm::Intrinsic::floor);
  case Opcode::IsInf:
    return b.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs), ConstantFP::getInfinity(type));
  case Opcode::IsNan:
    return b.CreateFCmpUNO(x, x);
  case Opcode::Max:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, y);
  case Opcode::Min:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, y);
  case Opcode::Mul:
    return b.CreateFMul(x, y);
  case Opcode::Neg:
    return b.CreateFNeg(x);
  case Opcode::Round:
    return intrinsic(llvm::Intrinsic::roundeven);
  case Opcode::Rsqrt:
    return b.CreateFDiv(one, intrinsic(llvm::Intrinsic::sqrt));
  case Opcode::Sign: {
    Value negative = b.CreateSelect(b.CreateFCmpOLT(x, zero), b.CreateFNeg(one), x);
    return b.CreateSelect(b.CreateFCmpOGT(x, zero), one, negative);
  }
  case Opcode::Sqrt:
    return intrinsic(llvm::Intrinsic::sqrt);
  case Opcode::Sub:
    return b.CreateFSub(x, y);
  case Opcode::Atan2:
  case Opcode::Pow:
  case Opcode::Rem:
    return callMath(getMathName(op), type, {x, y});
  default:
    return callMath(getMathName(op), type, {x});
  }
}

/// Division by zero gives all bits set, and the dividend as remainder.
llvm::Value *KernelEmitter::divide(bool remainder, DType type, Value x, Value y) {
  Value zero = ConstantInt::get(x->getType(), 0), one = ConstantInt::get(x->getType(), 1);
  Value byZero = b.CreateICmpEQ(y, zero);
  Value ofZero = remainder ? x : llvm::Constant::getAllOnesValue(x->getType());
  if (isZeroExtended(type)) {
    Value divisor = b.CreateSelect(byZero, one, y);
    Value result = remainder ? b.CreateURem(x, divisor) : b.CreateUDiv(x, divisor);
    return b.CreateSelect(byZero, ofZero, result);
  }
  // The least integer by -1 overflows: -1 is a case of its own.
  Value byMinusOne = b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(x->getType()));
  Value divisor = b.CreateSelect(b.CreateOr(byZero, byMinusOne), one, y);
  Value result = remainder ? b.CreateSRem(x, divisor) : b.CreateSDiv(x, divisor);
  Value negated = remainder ? zero : b.CreateNeg(x);
  return b.CreateSelect(byZero, ofZero, b.CreateSelect(byMinusOne, negated, result));
}

/// From the width on, only what moves in is left: zeros, or the sign to the right.
llvm::Value *KernelEmitter::shift(bool left, DType type, Value x, Value places) {
  unsigned width = x->getType()->getIntegerBitWidth();
  Value last = ConstantInt::get(x->getType(), width - 1);
  Value isFar = b.CreateICmpUGT(places, last);
  if (!left && !isZeroExtended(type))
    return b.CreateAShr(x, b.CreateSelect(isFar, last, places));
  Value legal = b.CreateSelect(isFar, last, places);
  Value moved = left ? b.CreateShl(x, legal) : b.CreateLShr(x, legal);
  return b.CreateSelect(isFar, ConstantInt::get(x->getType(), 0), moved);
}

llvm::Value *KernelEmitter::computeInteger(Opcode op, DType type, Value x, Value y) {
  llvm::Type *integer = x->getType();
  bool hasSign = !isZeroExtended(type);
  Value zero = ConstantInt::get(integer, 0), one = ConstantInt::get(integer, 1);
  switch (op) {
  case Opcode::Abs:
    return hasSign ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
  case Opcode::Add:
    return b.CreateAdd(x, y);
  case Opcode::And:
    return b.CreateAnd(x, y);
  case Opcode::CountLeadingZeros:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
  case Opcode::Div:
    return divide(/*remainder=*/false, type, x, y);
  case Opcode::Max:
    return b.CreateBinaryIntrinsic(hasSign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
  case Opcode::Min:
    return b.CreateBinaryIntrinsic(hasSign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
  case Opcode::Mul:
    return b.CreateMul(x, y);
  case Opcode::Neg:
    return b.CreateNeg(x);
  case Opcode::Not:
    return b.CreateNot(x);
  case Opcode::Or:
    return b.CreateOr(x, y);
  case Opcode::Popcount:
    return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
  case Opcode::Pow: {
    auto wide = [&](Value value) { return b.CreateIntCast(value, b.getInt64Ty(), hasSign); };
    Value power = callMath(hasSign ? "pow" : "upow", b.getInt64Ty(), {wide(x), wide(y)});
    return b.CreateTrunc(power, integer);
  }
  case Opcode::Rem:
    return divide(/*remainder=*/true, type, x, y);
  case Opcode::ShiftLeft:
  case Opcode::ShiftRight:
    return shift(op == Opcode::ShiftLeft, type, x, y);
  case Opcode::Sign: {
    Value positive = b.CreateSelect(b.CreateICmpNE(x, zero), one, zero);
    Value negative = llvm::Constant::getAllOnesValue(integer);
    return hasSign ? b.CreateSelect(b.CreateICmpSLT(x, zero), negative, positive) : positive;
  }
  case Opcode::Sub:
    return b.CreateSub(x, y);
  case Opcode::Xor:
    return b.CreateXor(x, y);
  default:
    llvm_unreachable("verified: floats only");
  }
}

llvm::Value *KernelEmitter::compareValues(int64_t direction, DType type, Value x, Value y) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P floats[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                 P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  static constexpr P hasSigns[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                   P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P unsigneds[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                                    P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  if (isFloat(type))
    return b.CreateFCmp(floats[direction], x, y);
  return b.CreateICmp((isZeroExtended(type) ? unsigneds : hasSigns)[direction], x, y);
}

llvm::Value *KernelEmitter::castValue(DType from, DType to, Value value) {
  llvm::Type *type = getType(to);
  if (from == to)
    return value;
  if (isFloat(from) && isFloat(to)) {
    value = b.CreateFPCast(value, type);
    if (to == DType::F16)
      return b.CreateFPExt(roundToHalf(value), type);
    return to == DType::BF16 ? b.CreateBitCast(b.CreateShl(roundToBFloat(value), 16), type) : value;
  }
  if (to == DType::I1) {
    return isFloat(from) ? b.CreateFCmpUNE(value, ConstantFP::getZero(value->getType()))
                         : b.CreateICmpNE(value, ConstantInt::get(value->getType(), 0));
  }
  if (isFloat(from)) {
    ID id = isZeroExtended(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
    return b.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (isFloat(to)) {
    Value wide = isZeroExtended(from) ? b.CreateUIToFP(value, type) : b.CreateSIToFP(value, type);
    return to == DType::F32 || to == DType::F64 ? wide : castValue(DType::F32, to, wide);
  }
  return b.CreateIntCast(value, type, !isZeroExtended(from));
}

llvm::Value *KernelEmitter::computeElementwise(const Node &node, ArrayRef<Value> in) {
  DType type = graph[node.operands[0]].type;
  if (node.op == Opcode::Cast)
    return castValue(type, node.type, in[0]);
  if (node.op == Opcode::Select)
    return b.CreateSelect(in[0], in[1], in[2]);
  if (node.op == Opcode::Compare)
    return compareValues(node.ints[0], type, in[0], in[1]);
  Value second = in.size() > 1 ? in[1] : nullptr;
  return isFloat(type) ? computeFloat(node.op, in[0], second)
                       : computeInteger(node.op, type, in[0], second);
}

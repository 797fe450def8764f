//===- EmitScalars.cpp - elements in memory and in registers --------------===//

#include "compiler/Kernel/Arithmetic.h"
#include "compiler/Kernel/KernelEmitter.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;

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

void KernelEmitter::store(DType type, Value value, Value pointer) {
  DType computed = getComputedType(type);
  if (computed != type) // rounded as a cast rounds
    value = call(getCastName(computed, type), computed, value);
  if (type == DType::I1) {
    value = b.CreateZExt(value, b.getInt8Ty());
  } else if (type == DType::F16) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(b);
    b.clearFastMathFlags();
    value = b.CreateFPTrunc(value, b.getHalfTy());
  } else if (type == DType::BF16) {
    value = b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, b.getInt32Ty()), 16), b.getInt16Ty());
  }
  b.CreateAlignedStore(value, pointer, llvm::Align(elementBytes(type)));
}

llvm::Value *KernelEmitter::allocate(llvm::Type *type, int64_t count) {
  llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  llvm::AllocaInst *slot = entry.CreateAlloca(type, entry.getInt64(count));
  if (count > 1)
    slot->setAlignment(llvm::Align(64));
  return slot;
}

llvm::Value *KernelEmitter::call(llvm::StringRef name, DType type, ArrayRef<Value> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (Value argument : arguments)
    types.push_back(argument->getType());
  auto *functionType = llvm::FunctionType::get(getType(type), types, /*isVarArg=*/false);
  return b.CreateCall(module.getOrInsertFunction(name, functionType), arguments);
}

llvm::Value *KernelEmitter::join(ReduceKind kind, DType type, Value x, Value y, bool anyOrder) {
  return call(getJoinName(kind, type, anyOrder), type, {x, y});
}

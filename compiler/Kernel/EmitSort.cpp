//===- EmitSort.cpp - sorted rows -----------------------------------------===//
//
// A row is all positions along the axis. Its elements are copied into scratch memory with keys:
// unsigned numbers that order as the elements do. KernelSort.cpp orders the keys, and the results
// are read from the copy:
//
//   elements  3.0  -1.0  NaN  0.5     keys  c0400000  407fffff  ffffffff  bf000000
//   places    1  3  0  2              values  -1.0  0.5  3.0  NaN
//
//===----------------------------------------------------------------------===//

#include "compiler/Kernel/KernelEmitter.h"

using namespace weft;
using namespace weft::kernel;

/// The number in place of a check's that tells the runtime of scratch memory that could not be had.
static constexpr int64_t noMemoryCheck = -1;
/// Scratch memory of at most this many bytes lies on the stack: of a core's thread; of a GPU's, of
/// which there are hundreds of thousands.
static constexpr int64_t maxCoreStack = 256 * 1024, maxGpuStack = 4 * 1024;

namespace {
/// Where the parts of a row's scratch memory lie, in bytes; widest elements first.
struct Layout {
  Layout(int64_t length, int64_t valueBytes, bool isWide)
      : isWide(isWide), keys(8 * ((length * valueBytes + 7) / 8)),
        spareKeys(keys + length * keyBytes()), places(spareKeys + length * keyBytes()),
        sparePlaces(places + length * sizeof(uint32_t)),
        bytes(sparePlaces + length * sizeof(uint32_t)) {}
  int64_t keyBytes() const { return isWide ? sizeof(uint64_t) : sizeof(uint32_t); }

  bool isWide; ///< keys of 64 bits
  int64_t keys, spareKeys, places, sparePlaces, bytes;
};
} // namespace

/// An unsigned number of 32 or 64 bits that orders as the value does: NaN last, zeros of both signs
/// alike. In descending order the complement.
llvm::Value *KernelEmitter::makeSortKey(DType type, Value value, bool descending) {
  DType computed = getComputedType(type);
  bool isWide = elementBytes(computed) == 8;
  llvm::IntegerType *word = isWide ? b.getInt64Ty() : b.getInt32Ty();
  Value key;
  if (isFloat(type)) {
    unsigned sign = word->getBitWidth() - 1;
    Value number = b.CreateFAdd(value, llvm::ConstantFP::getZero(value->getType())); // -0 becomes 0
    Value bits = b.CreateBitCast(number, word);
    Value flipped = b.CreateOr(b.CreateAShr(bits, sign), llvm::APInt::getSignMask(sign + 1));
    key = b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::Constant::getAllOnesValue(word),
                         b.CreateXor(bits, flipped));
  } else if (isZeroExtended(type)) {
    key = b.CreateZExt(value, word);
  } else {
    key = b.CreateXor(b.CreateSExt(value, word),
                      llvm::ConstantInt::get(word, llvm::APInt::getSignMask(word->getBitWidth())));
  }
  return descending ? b.CreateNot(key) : key;
}

bool KernelEmitter::fitsStack(int64_t bytes) const {
  return bytes <= (isGpu() ? maxGpuStack : maxCoreStack);
}

/// Memory for one row: on the stack, or from the heap, where releaseScratch gives it back. Of a
/// team one thread takes it for all.
llvm::Value *KernelEmitter::takeScratch(int64_t bytes) {
  if (fitsStack(bytes) && !isShared())
    return allocate(b.getInt64Ty(), (bytes + 7) / 8);
  auto *type = llvm::FunctionType::get(b.getPtrTy(), {b.getInt64Ty()}, false);
  auto take = [&]() -> Value {
    return b.CreateCall(module.getOrInsertFunction("malloc", type), {constantInt(bytes)});
  };
  Value scratch = isShared() ? takeForTeam(b.getPtrTy(), take) : take();
  fail(b.CreateIsNull(scratch), noMemoryCheck, constantInt(bytes), constantInt(0));
  return scratch;
}

void KernelEmitter::releaseScratch(Value scratch, int64_t bytes) {
  if (fitsStack(bytes) && !isShared())
    return;
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto release = [&] { b.CreateCall(module.getOrInsertFunction("free", type), {scratch}); };
  if (!isShared())
    return release();
  awaitTeam();
  branch(b.CreateICmpEQ(member, constantInt(0)), release);
}

/// Calls the function that sorts keys: where the places lie in their order.
llvm::Value *KernelEmitter::callSorter(bool isWide, Value keys, Value places, Value spareKeys,
                                       Value sparePlaces, int64_t length, int64_t count) {
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  std::string width = isWide ? "u64" : "u32";
  if (isShared()) {
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, word, word, word},
                                         /*isVarArg=*/false);
    defineAwaitTeam();
    awaitTeam();
    b.CreateCall(module.getOrInsertFunction("weft_sort_team_" + width, type),
                 {keys, places, constantInt(length), member, constantInt(plan.team)});
    return places;
  }
  auto *type = llvm::FunctionType::get(pointer, {pointer, pointer, pointer, pointer, word, word},
                                       /*isVarArg=*/false);
  return b.CreateCall(
      module.getOrInsertFunction("weft_sort_" + width, type),
      {keys, places, spareKeys, sparePlaces, constantInt(length), constantInt(count)});
}

void KernelEmitter::emitSort() {
  const Node &node = graph[plan.outputs.front().element.first];
  const Node &input = graph[node.operands[0]];
  const Sort &sort = node.as<Sort>();
  size_t axis = sort.axis;
  int64_t length = input.shape[axis], count = node.shape[axis];
  DType type = input.type, computed = getComputedType(type);
  Layout layout(length, elementBytes(computed), elementBytes(computed) == 8);
  DType keyType = layout.isWide ? DType::U64 : DType::U32;
  Value scratch = takeScratch(layout.bytes);
  auto part = [&](int64_t bytes) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), scratch, bytes);
  };
  Value keys = part(layout.keys);

  VarId from = plan.vars.addLoop(length, InInner);
  Index index = plan.outputs.front().element.second;
  index[axis] = Affine::var(from);
  shareLoops(from, [&] {
    Value value = evaluate(node.operands[0], index), position = evaluate(Affine::var(from));
    store(computed, value, elementPointer(computed, scratch, position));
    store(keyType, makeSortKey(type, value, sort.isDescending),
          elementPointer(keyType, keys, position));
  });
  Value places = callSorter(layout.isWide, keys, part(layout.places), part(layout.spareKeys),
                            part(layout.sparePlaces), length, count);
  VarId to = plan.vars.addLoop(count, InInner);
  index[axis] = Affine::var(to);
  Affine address = plan.vars.linearise(index, node.shape);
  shareLoops(to, [&] {
    Value place = load(DType::U32, elementPointer(DType::U32, places, evaluate(Affine::var(to))));
    place = b.CreateZExt(place, b.getInt64Ty());
    for (const Output &output : plan.outputs) {
      const Node &result = graph[output.element.first];
      Value value = result.as<Sort>().givesPlaces
                        ? place
                        : load(computed, elementPointer(computed, scratch, place));
      Value target = pointers[graph.inputs.size() + output.number];
      store(result.type, value, elementPointer(result.type, target, evaluate(address)));
    }
  });
  releaseScratch(scratch, layout.bytes);
}

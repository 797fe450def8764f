//===- EmitTeams.cpp - kernels of teams of a GPU's threads ----------------===//
//
// Blocks have 256 threads: 256 teams of one thread, 8 of a warp, or one. A kernel's teams take the
// rows in turns, in steps of as many teams as the grid has. With lanes, thread t of a block has
// lane t mod 32 and part t / 32 of 8:
//
//   sums over columns    part p: s = sum of x[p][lane], x[p + 8][lane], …    joined over the parts
//
//===----------------------------------------------------------------------===//

#include "compiler/Kernel/KernelEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;

/// f32 sums of a thread run over at most this many elements before they are added up in f64.
static constexpr int64_t threadChunk = 1024;
/// PTX: variables that the threads of a block share.
static constexpr unsigned sharedSpace = 3;

void KernelEmitter::emitEntry(llvm::StringRef key) {
  addFunction(b.getVoidTy(), {b.getInt64Ty(), b.getPtrTy()}, llvm::Function::ExternalLinkage, key);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::Convergent);
  function->addFnAttr("nvvm.maxntid", std::to_string(blockThreads));
  emitBody();
  b.CreateRetVoid();
}

void KernelEmitter::emitTeamRows(Value tiles) {
  auto read = [&](llvm::Intrinsic::ID id) {
    return b.CreateZExt(b.CreateIntrinsic(b.getInt32Ty(), id, {}), b.getInt64Ty());
  };
  Value thread = read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  Value block = read(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  Value blocks = read(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
  Value inBlock = constantInt(blockThreads / plan.team), size = constantInt(plan.team);
  member = b.CreateURem(thread, size);
  part = b.CreateUDiv(member, constantInt(plan.laneWidth));
  Value team = b.CreateNSWAdd(b.CreateNSWMul(block, inBlock), b.CreateUDiv(thread, size));
  Value step = b.CreateNSWMul(blocks, inBlock);
  if (takesRowsAtOnce())
    team = emitRowsAtOnce(team, tiles, step);
  emitRows(team, tiles, step);
}

/// A thread that computes some elements at once waits for memory once: a GPU's memory is as slow to
/// answer as it is wide. Only of what has few operations, which leave registers for that.
bool KernelEmitter::takesRowsAtOnce() const {
  constexpr size_t fewNodes = 24;
  return plan.team == 1 && graph.nodes.size() <= fewNodes &&
         llvm::none_of(graph.nodes,
                       [](const Node &node) { return node.isReduction() || node.isOrdered(); });
}

/// Rows `step` apart, some in each pass; the first that is left.
llvm::Value *KernelEmitter::emitRowsAtOnce(Value low, Value high, Value step) {
  constexpr int64_t rowsAtOnce = 4;
  Value pass = b.CreateNSWMul(step, constantInt(rowsAtOnce));
  Value last = b.CreateNSWSub(high, b.CreateNSWMul(step, constantInt(rowsAtOnce - 1)));
  Loop loop = openLoop(low, last, std::nullopt, /*isRows=*/true, pass);
  Value number = loop.counter;
  for (int64_t row = 0; row < rowsAtOnce; ++row) {
    emitRow(number);
    number = b.CreateNSWAdd(number, step);
  }
  closeLoop(loop);
  Value done =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(last, low), constantInt(0));
  Value passes = b.CreateUDiv(b.CreateAdd(done, b.CreateSub(pass, constantInt(1))), pass);
  return b.CreateNSWAdd(low, b.CreateNSWMul(passes, pass));
}

/// The lane of this thread. Behind the last one, threads read the last one's elements, and write
/// nothing.
void KernelEmitter::chooseLane() {
  Value lane = laneLow;
  if (plan.laneWidth > 1) {
    lane = b.CreateNSWAdd(lane, b.CreateURem(member, constantInt(plan.laneWidth)));
    hasLane = b.CreateICmpSLT(lane, constantInt(plan.laneTotal));
    lane = clamp(lane, plan.laneTotal);
  }
  varValues[*plan.lane] = lane;
  varScopes[*plan.lane] = baseScope;
}

//===----------------------------------------------------------------------===//
// Loops that a team shares
//===----------------------------------------------------------------------===//

/// The body over whole ranges, each thread its share of them; `before` and `after` stand around
/// each run of at most `threadChunk` elements.
void KernelEmitter::shareLoops(ArrayRef<VarId> loops, Body body, Body before, Body after) {
  if (!isShared() || loops.empty())
    return nest(loops, body, before, after);
  int64_t length = 1, chunk = threadChunk * countParts();
  for (VarId loop : loops)
    length *= plan.getExtent(loop);
  auto run = [&](Value low, Value high) {
    if (before)
      before();
    shareRange(loops, low, high, body);
    if (after)
      after();
  };
  if (!before || length < 2 * chunk)
    return run(part, constantInt(length));
  Loop chunks = openLoop(constantInt(0), constantInt(length), std::nullopt, /*isRows=*/false,
                         constantInt(chunk));
  Value end = b.CreateNSWAdd(chunks.counter, constantInt(chunk));
  run(b.CreateNSWAdd(chunks.counter, part),
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, constantInt(length)));
  closeLoop(chunks);
}

/// The elements low, low + parts, … of the loops, counted row-major.
void KernelEmitter::shareRange(ArrayRef<VarId> loops, Value low, Value high, Body body) {
  Loop loop = openLoop(low, high, std::nullopt, /*isRows=*/false, constantInt(countParts()));
  Value outer = sharedPosition, rest = loop.counter;
  sharedPosition = loop.counter;
  for (VarId each : llvm::reverse(loops)) {
    bool isFirst = each == loops.front();
    Value extent = constantInt(plan.getExtent(each));
    varValues[each] = isFirst ? rest : b.CreateURem(rest, extent);
    varScopes[each] = scopes.size() - 1;
    if (!isFirst)
      rest = b.CreateUDiv(rest, extent);
  }
  body();
  closeLoop(loop);
  sharedPosition = outer;
}

//===----------------------------------------------------------------------===//
// What a team does together
//===----------------------------------------------------------------------===//

/// Joins what the threads have found: afterwards each has the whole.
void KernelEmitter::joinTeam(const Reduction &reduction, const Accumulator &accumulator) {
  if (!isShared())
    return;
  ReduceKind kind = getReduceKind(graph[reduction.element.first]);
  Value value = load(accumulator.type, accumulator.total);
  if (plan.laneWidth == 1)
    value = joinWarp(kind, accumulator.type, value);
  if (plan.team > warpThreads)
    value = joinBlock(kind, accumulator.type, value);
  store(accumulator.type, value, accumulator.total);
}

/// Pairs of threads at distances 16, 8, … 1: every thread computes the same, bit for bit.
llvm::Value *KernelEmitter::joinWarp(ReduceKind kind, DType type, Value value) {
  for (unsigned distance = warpThreads / 2; distance > 0; distance /= 2)
    value = join(kind, type, value, exchange(value, distance), /*anyOrder=*/true);
  return value;
}

/// The value of the thread whose number in the warp differs in the bit `distance`.
llvm::Value *KernelEmitter::exchange(Value value, unsigned distance) {
  llvm::Type *word = b.getInt32Ty(), *type = value->getType();
  unsigned bits = type->getPrimitiveSizeInBits();
  auto shuffle = [&](Value part) {
    return b.CreateIntrinsic(
        word, llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
        {b.getInt32(~0u), part, b.getInt32(distance), b.getInt32(warpThreads - 1)});
  };
  Value whole = b.CreateBitCast(value, b.getIntNTy(bits));
  if (bits <= 32) {
    Value other = shuffle(b.CreateZExt(whole, word));
    return b.CreateBitCast(b.CreateTrunc(other, b.getIntNTy(bits)), type);
  }
  Value low = b.CreateZExt(shuffle(b.CreateTrunc(whole, word)), b.getInt64Ty());
  Value high = b.CreateZExt(shuffle(b.CreateTrunc(b.CreateLShr(whole, 32), word)), b.getInt64Ty());
  return b.CreateBitCast(b.CreateOr(low, b.CreateShl(high, 32)), type);
}

/// Memory of a block's threads.
llvm::Value *KernelEmitter::allocateShared(llvm::Type *type, unsigned count) {
  llvm::Type *array = llvm::ArrayType::get(type, count);
  return new llvm::GlobalVariable(module, array, /*isConstant=*/false,
                                  llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(array),
                                  "found", nullptr, llvm::GlobalValue::NotThreadLocal, sharedSpace);
}

/// The sum of what the threads with lower numbers in the block have.
llvm::Value *KernelEmitter::joinBefore(DType type, Value value) {
  Value found = allocateShared(getStorageType(type), blockThreads);
  Value sum = allocate(getStorageType(type), 1);
  store(type, value, elementPointer(type, found, member));
  store(type, llvm::Constant::getNullValue(getType(type)), sum);
  awaitTeam();
  Loop loop = openLoop(constantInt(0), member, std::nullopt);
  Value each = load(type, elementPointer(type, found, loop.counter));
  store(type, join(ReduceKind::Sum, type, load(type, sum), each), sum);
  closeLoop(loop);
  awaitTeam(); // before it is written again
  return load(type, sum);
}

/// Joins what the warps of a block have found, or with lanes the parts, in their order.
llvm::Value *KernelEmitter::joinBlock(ReduceKind kind, DType type, Value value) {
  // Threads of one warp have the same, and write it to one place; with lanes each has its own.
  unsigned group = plan.laneWidth > 1 ? plan.laneWidth : warpThreads;
  unsigned places = plan.laneWidth > 1 ? blockThreads : blockThreads / warpThreads;
  Value found = allocateShared(getStorageType(type), places);
  Value lane = constantInt(0), place = b.CreateUDiv(member, constantInt(group));
  if (plan.laneWidth > 1) {
    lane = b.CreateURem(member, constantInt(group));
    place = member;
  }
  store(type, value, elementPointer(type, found, place));
  awaitTeam();
  Value whole = nullptr;
  for (unsigned number = 0; number < blockThreads / group; ++number) {
    unsigned first = plan.laneWidth > 1 ? number * group : number;
    Value each = load(type, elementPointer(type, found, b.CreateNSWAdd(lane, constantInt(first))));
    whole = whole ? join(kind, type, whole, each, /*anyOrder=*/false) : each;
  }
  awaitTeam(); // before it is written again
  return whole;
}

/// Waits until all threads of the team are here and see what the others have written.
void KernelEmitter::awaitTeam() {
  if (plan.team > warpThreads)
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                      {b.getInt32(0)});
  else
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_bar_warp_sync, {b.getInt32(~0u)});
}

/// The same, for functions that kernels call.
void KernelEmitter::defineAwaitTeam() {
  auto *type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto callee = module.getOrInsertFunction("weft_await_team", type);
  auto *wait = llvm::cast<llvm::Function>(callee.getCallee());
  if (!wait->isDeclaration())
    return;
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  wait->addFnAttr(llvm::Attribute::Convergent);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", wait));
  awaitTeam();
  b.CreateRetVoid();
}

/// What one thread of a block makes, for all of them.
llvm::Value *KernelEmitter::takeForTeam(llvm::Type *type, llvm::function_ref<Value()> make) {
  Value place = allocateShared(type, 1);
  branch(b.CreateICmpEQ(member, constantInt(0)), [&] { b.CreateStore(make(), place); });
  awaitTeam();
  return b.CreateLoad(type, place);
}

/// Values that a row has one of: one thread writes them, where no other reads an argument any more
/// that may lie there, and before a later stage reads them.
void KernelEmitter::emitTeamOutputs(ArrayRef<const Output *> outputs, bool isLast) {
  llvm::SmallVector<Value> values;
  for (const Output *output : outputs)
    values.push_back(evaluateResult(*output));
  if (!graph.inPlace.empty())
    awaitTeam();
  Value isFirst = b.CreateICmpEQ(part, constantInt(0));
  branch(hasLane ? b.CreateAnd(isFirst, hasLane) : isFirst, [&] { storeOutputs(outputs, values); });
  if (!isLast)
    awaitTeam();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Notes a failed check, unless one was noted before, and goes on: a thread that left would be
/// waited for. The words at `errorPointer` are a flag and the fields. Without scratch memory
/// nothing can go on: all threads of a team leave.
void KernelEmitter::recordFailure(Value isBad, ArrayRef<Value> fields) {
  auto *bad = llvm::BasicBlock::Create(module.getContext(), "bad", function);
  auto *first = llvm::BasicBlock::Create(module.getContext(), "first", function);
  auto *good = llvm::BasicBlock::Create(module.getContext(), "good", function);
  b.CreateCondBr(isBad, bad, good);
  b.SetInsertPoint(bad);
  auto order = llvm::AtomicOrdering::Monotonic;
  Value taken = b.CreateAtomicCmpXchg(errorPointer, constantInt(0), constantInt(1), llvm::Align(8),
                                      order, order);
  bool leaves = llvm::cast<llvm::ConstantInt>(fields.front())->isNegative();
  auto *after = leaves ? llvm::BasicBlock::Create(module.getContext(), "leave", function) : good;
  b.CreateCondBr(b.CreateExtractValue(taken, 1), first, after);
  b.SetInsertPoint(first);
  for (auto [field, content] : llvm::enumerate(fields))
    b.CreateStore(content, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), errorPointer, field + 1));
  b.CreateBr(after);
  if (leaves) {
    b.SetInsertPoint(after);
    b.CreateRetVoid();
  }
  b.SetInsertPoint(good);
}

//===- EmitLoops.cpp - loops and stages of kernels ------------------------===//

#include "compiler/Kernel/KernelEmitter.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::BasicBlock;

/// f32 sums run over at most this many neighbours before they are added up in f64.
static constexpr int64_t sumChunk = 1024;
/// Elements of a vector in loops that sum, and vectors that are summed for themselves.
static constexpr unsigned sumWidth = 16, sumParts = 2;
/// A loop is cut at the borders of a concatenation's parts unless they are more than this.
static constexpr size_t maxParts = 8;

KernelEmitter::KernelEmitter(const Graph &graph, LoopPlan &plan, llvm::Module &module)
    : graph(graph), plan(plan), module(module), b(module.getContext()) {
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  b.setFastMathFlags(flags);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void KernelEmitter::emit(llvm::StringRef key) {
  if (isGpu())
    return emitEntry(key);
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  addFunction(b.getInt32Ty(), {word, word, pointer}, llvm::Function::InternalLinkage,
              key + ".body");
  function->addFnAttr(llvm::Attribute::NoInline);
  emitBody();
  b.CreateRet(b.getInt32(0));
  emitWrapper(key);
}

/// Starts a function of the operands' addresses, the parameters, and `last`.
void KernelEmitter::addFunction(llvm::Type *result, ArrayRef<llvm::Type *> last,
                                llvm::GlobalValue::LinkageTypes linkage, const llvm::Twine &name) {
  size_t count = graph.inputs.size() + graph.outputs.size();
  llvm::SmallVector<llvm::Type *> types(count, b.getPtrTy());
  types.append(graph.params.size(), b.getInt64Ty());
  llvm::append_range(types, last);
  function =
      llvm::Function::Create(llvm::FunctionType::get(result, types, false), linkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (size_t i = 0; i < count; ++i) {
    function->addParamAttr(i, llvm::Attribute::NoAlias);
    bool isWritten =
        llvm::any_of(graph.inPlace, [&](const InPlace &each) { return each.argument == i; });
    if (i < graph.inputs.size() && !isWritten)
      function->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
}

/// The function that the runtime calls: takes its arguments out of arrays.
void KernelEmitter::emitWrapper(llvm::StringRef key) {
  llvm::Type *pointer = b.getPtrTy(), *word = b.getInt64Ty();
  auto *type =
      llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, word, word, pointer}, false);
  auto *wrapper = llvm::Function::Create(type, llvm::Function::ExternalLinkage, key, module);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", wrapper));
  llvm::SmallVector<Value> arguments;
  for (size_t i = 0; i < pointers.size(); ++i)
    arguments.push_back(
        b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, wrapper->getArg(0), i)));
  for (size_t i = 0; i < graph.params.size(); ++i)
    arguments.push_back(
        b.CreateLoad(word, b.CreateConstInBoundsGEP1_64(word, wrapper->getArg(1), i)));
  for (unsigned i = 2; i < 5; ++i)
    arguments.push_back(wrapper->getArg(i));
  b.CreateRet(b.CreateCall(function, arguments));
}

void KernelEmitter::emitBody() {
  size_t argument = 0;
  for (unsigned input : graph.inputs) {
    inputs[input] = function->getArg(argument);
    pointers.push_back(function->getArg(argument++));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    // One pointer to memory that is read and written, so that the optimiser knows.
    const InPlace *place = graph.findInPlace(i);
    pointers.push_back(place ? pointers[place->argument] : function->getArg(argument));
    ++argument;
  }
  for (unsigned param : graph.params)
    params[param] = function->getArg(argument++);
  errorPointer = function->getArg(function->arg_size() - 1);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
  auto *start = BasicBlock::Create(module.getContext(), "start", function);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  scopes.emplace_back();
  for (const Output &output : plan.outputs)
    outputsOf[output.element] = &output;
  collectBreaks();
  if (isGpu())
    emitTeamRows(function->getArg(argument));
  else
    emitRows(function->getArg(argument), function->getArg(argument + 1), constantInt(1));
}

void KernelEmitter::emitRows(Value low, Value high, Value step) {
  Loop loop = openLoop(low, high, std::nullopt, /*isRows=*/true, step);
  emitRow(loop.counter);
  closeLoop(loop);
}

/// The row of a number.
void KernelEmitter::emitRow(Value number) {
  scopes.emplace_back();
  baseScope = scopes.size() - 1;
  // A GPU divides numbers of 32 bits several times as fast.
  if (isGpu() && plan.getTiles() <= std::numeric_limits<int32_t>::max())
    number = b.CreateZExt(b.CreateTrunc(number, b.getInt32Ty()), b.getInt64Ty());
  for (VarId row : llvm::reverse(plan.rows)) {
    bool isFirst = row == plan.rows.front();
    Value extent = constantInt(plan.getExtent(row));
    varValues[row] = isFirst ? number : b.CreateURem(number, extent);
    varScopes[row] = baseScope;
    if (!isFirst)
      number = b.CreateUDiv(number, extent);
  }
  emitRowParts(0);
  scopes.pop_back();
}

/// Emits the row once for each part of concatenations that the row's number decides, under its
/// condition.
void KernelEmitter::emitRowParts(size_t row) {
  if (row == plan.rows.size())
    return emitRow();
  VarId loop = plan.rows[row];
  llvm::SmallVector<Range> parts = getParts(loop);
  if (parts.size() == 1)
    return emitRowParts(row + 1);
  Range whole = plan.vars[loop].range;
  for (Range part : parts) {
    plan.vars.get(loop).range = part;
    Value isHere = b.CreateAnd(b.CreateICmpSGE(varValues[loop], constantInt(part.low)),
                               b.CreateICmpSLE(varValues[loop], constantInt(part.high)));
    branch(isHere, [&] { emitRowParts(row + 1); });
  }
  plan.vars.get(loop).range = whole;
}

void KernelEmitter::emitRow() {
  slots.clear();
  laneArrays.clear();
  bufferArrays.clear();
  if (plan.lane) {
    laneLow = evaluate(plan.firstLane());
    laneHigh = b.CreateNSWAdd(laneLow, constantInt(plan.laneWidth));
    if (plan.laneTotal % plan.laneWidth != 0)
      laneHigh =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, laneHigh, constantInt(plan.laneTotal));
    if (isGpu())
      chooseLane();
  }
  emitChecks();
  for (unsigned stage = 0; stage < plan.stages; ++stage)
    emitStage(stage);
}

void KernelEmitter::branch(Value condition, Body onTrue) {
  auto *then = BasicBlock::Create(module.getContext(), "part", function);
  auto *after = BasicBlock::Create(module.getContext(), "after", function);
  scopes.back().end = b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  scopes.emplace_back();
  unsigned outer = baseScope;
  baseScope = scopes.size() - 1;
  onTrue();
  b.CreateBr(after);
  baseScope = outer;
  scopes.pop_back();
  scopes.back().end = nullptr;
  b.SetInsertPoint(after);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Opens `for (counter = low; counter < high; counter += step)`, tested at its end. The step is 1
/// unless it is given.
KernelEmitter::Loop KernelEmitter::openLoop(Value low, Value high, std::optional<VarId> var,
                                            bool isRows, Value step) {
  Loop loop;
  loop.high = high;
  loop.step = step ? step : constantInt(1);
  loop.body = BasicBlock::Create(module.getContext(), isRows ? "row" : "loop", function);
  loop.exit = BasicBlock::Create(module.getContext(), "exit", function);
  auto *before = b.GetInsertBlock();
  bool runs = llvm::isa<llvm::ConstantInt>(low) && llvm::isa<llvm::ConstantInt>(high);
  scopes.back().end = runs ? llvm::cast<llvm::Instruction>(b.CreateBr(loop.body))
                           : b.CreateCondBr(b.CreateICmpSLT(low, high), loop.body, loop.exit);
  b.SetInsertPoint(loop.body);
  loop.counter = b.CreatePHI(b.getInt64Ty(), 2);
  loop.counter->addIncoming(low, before);
  scopes.emplace_back();
  if (var) {
    varValues[*var] = loop.counter;
    varScopes[*var] = scopes.size() - 1;
  }
  return loop;
}

llvm::MDNode *KernelEmitter::describeLoop(ArrayRef<LoopFact> facts) const {
  llvm::LLVMContext &context = module.getContext();
  llvm::SmallVector<llvm::Metadata *> all{nullptr};
  for (auto [name, value] : facts) {
    llvm::SmallVector<llvm::Metadata *, 2> fact{llvm::MDString::get(context, name)};
    if (value)
      fact.push_back(llvm::ConstantAsMetadata::get(value));
    all.push_back(llvm::MDNode::get(context, fact));
  }
  auto *id = llvm::MDNode::getDistinct(context, all);
  id->replaceOperandWith(0, id);
  return id;
}

/// How a core's loop that ends here is to be vectorised.
llvm::MDNode *KernelEmitter::getLoopFacts(bool sums) {
  // Rows are never joined to vectors: how they are shared out must not change their bits.
  if (scopes.size() == 2)
    return describeLoop(
        {{"llvm.loop.vectorize.enable", b.getInt1(false)}, {"llvm.loop.unroll.disable", nullptr}});
  // The order of a sum must not depend on what else the loop computes: a value that is computed
  // again, in another kernel, is the same bit for bit.
  if (sums)
    return describeLoop({{"llvm.loop.vectorize.width", b.getInt32(sumWidth)},
                         {"llvm.loop.interleave.count", b.getInt32(sumParts)},
                         {"llvm.loop.unroll.disable", nullptr}});
  return nullptr;
}

void KernelEmitter::closeLoop(const Loop &loop, bool sums) {
  Value next = b.CreateNSWAdd(loop.counter, loop.step);
  loop.counter->addIncoming(next, b.GetInsertBlock());
  llvm::Instruction *latch = b.CreateCondBr(b.CreateICmpSLT(next, loop.high), loop.body, loop.exit);
  if (llvm::MDNode *facts = isGpu() ? nullptr : getLoopFacts(sums))
    latch->setMetadata(llvm::LLVMContext::MD_loop, facts);
  b.SetInsertPoint(loop.exit);
  scopes.pop_back();
  scopes.back().end = nullptr;
}

/// The body in a nest of loops over whole ranges; `before` and `after` stand around each run of the
/// innermost loop.
void KernelEmitter::nest(ArrayRef<VarId> loops, Body body, Body before, Body after) {
  if (loops.empty()) {
    if (before)
      before();
    body();
    if (after)
      after();
    return;
  }
  if (loops.size() == 1)
    return innermost(loops.front(), body, before, after);
  for (Range part : getParts(loops.front()))
    overPart(loops.front(), constantInt(part.low), constantInt(part.high + 1), [&] {
      Range whole = plan.vars[loops.front()].range;
      plan.vars.get(loops.front()).range = part;
      nest(loops.drop_front(), body, before, after);
      plan.vars.get(loops.front()).range = whole;
    });
}

void KernelEmitter::overPart(VarId loop, Value low, Value high, Body body, bool sums) {
  Loop open = openLoop(low, high, loop);
  body();
  closeLoop(open, sums);
}

void KernelEmitter::innermost(VarId loop, Body body, Body before, Body after) {
  if (loop == plan.lane)
    return overPart(loop, laneLow, laneHigh, body);
  Range whole = plan.vars[loop].range;
  for (Range part : getParts(loop)) {
    plan.vars.get(loop).range = part;
    if (!before) {
      overPart(loop, constantInt(part.low), constantInt(part.high + 1), body);
    } else if (part.high - part.low < 2 * sumChunk) {
      before();
      overPart(loop, constantInt(part.low), constantInt(part.high + 1), body, /*sums=*/true);
      after();
    } else {
      int64_t length = part.high - part.low + 1;
      Loop chunks =
          openLoop(constantInt(0), constantInt(llvm::divideCeil(length, sumChunk)), std::nullopt);
      Value low = b.CreateNSWAdd(b.CreateNSWMul(chunks.counter, constantInt(sumChunk)),
                                 constantInt(part.low));
      Value end = b.CreateNSWAdd(low, constantInt(sumChunk));
      Value high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, constantInt(part.high + 1));
      before();
      overPart(loop, low, high, body, /*sums=*/true);
      after();
      closeLoop(chunks);
    }
  }
  plan.vars.get(loop).range = whole;
}

void KernelEmitter::withLanes(ArrayRef<VarId> loops, Body body, Body before, Body after) {
  llvm::SmallVector<VarId> all(loops);
  if (plan.lane && !isGpu())
    all.push_back(*plan.lane);
  nest(all, body, before, after);
}

/// Finds where loops enter another part of a concatenation or of a padded tensor.
void KernelEmitter::collectBreaks() {
  std::set<Element> seen;
  std::vector<Element> stack;
  for (const Output &output : plan.outputs)
    stack.push_back(output.element);
  auto add = [&](const Affine &value, int64_t border) {
    if (value.terms.size() != 1 || value.terms.front().second < 1)
      return;
    auto [id, coefficient] = value.terms.front();
    if (plan.vars[id].kind == Var::Loop && id != plan.lane)
      breaks[id].insert(llvm::divideCeilSigned(border - value.constant, coefficient));
  };
  while (!stack.empty()) {
    Element element = stack.back();
    stack.pop_back();
    if (!seen.insert(element).second)
      continue;
    auto &[number, index] = element;
    const Node &node = graph[number];
    if (node.isReduction()) {
      for (auto [operand, at] :
           llvm::zip(node.operands, plan.getLoops(graph, number, index).operands))
        stack.push_back({operand, at});
      continue;
    }
    if (node.isOrdered())
      continue;
    int64_t border = 0;
    const auto *concat = node.get<Concat>();
    for (unsigned operand = 0; operand < node.operands.size(); ++operand) {
      if (concat)
        add(index[concat->axis], border += graph.operand(node, operand).shape[concat->axis]);
      if (!node.is<GatherNd>() || operand == 0)
        stack.push_back(
            {node.operands[operand], getOperandIndex(graph, plan.vars, number, operand, index)});
    }
    if (const auto *pad = node.get<Pad>())
      for (auto [value, low, extent] :
           llvm::zip_equal(index, pad->low, graph.operand(node, 0).shape)) {
        add(value, low);
        add(value, low + extent);
      }
  }
}

llvm::SmallVector<Range> KernelEmitter::getParts(VarId loop) {
  Range whole = plan.vars[loop].range;
  llvm::SmallVector<Range> parts;
  int64_t low = whole.low;
  for (int64_t border : breaks[loop])
    if (border > low && border <= whole.high) {
      parts.push_back({low, border - 1});
      low = border;
    }
  parts.push_back({low, whole.high});
  return parts.size() <= maxParts ? parts : llvm::SmallVector<Range>{whole};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void KernelEmitter::emitChecks() {
  for (const IndexCheck &check : plan.checks)
    emitCheck(check);
}

void KernelEmitter::emitCheck(const IndexCheck &check) {
  llvm::SmallVector<VarId> used, loops;
  for (const Affine &index : check.element.second)
    plan.vars.collectLoops(index, used);
  bool inLanes = false;
  for (VarId loop : used) {
    inLanes |= loop == plan.lane;
    if (!llvm::is_contained(plan.rows, loop) && loop != plan.lane)
      loops.push_back(loop);
  }
  if (inLanes && !isGpu())
    loops.push_back(*plan.lane);
  const Node &indices = graph[check.element.first];
  shareLoops(loops, [&] {
    Value value =
        b.CreateIntCast(evaluate(check.element), b.getInt64Ty(), !isZeroExtended(indices.type));
    const KernelCheck &limits = graph.checks[check.check];
    Value isBad = b.CreateOr(b.CreateICmpSLT(value, constantInt(limits.low)),
                             b.CreateICmpSGE(value, constantInt(limits.high)));
    fail(isBad, check.check, value,
         evaluate(plan.vars.linearise(check.element.second, indices.shape)));
  });
}

void KernelEmitter::fail(Value isBad, int64_t check, Value value, Value position) {
  if (isGpu())
    return recordFailure(isBad, {constantInt(check), value, position});
  auto *bad = BasicBlock::Create(module.getContext(), "bad", function);
  auto *good = BasicBlock::Create(module.getContext(), "good", function);
  b.CreateCondBr(isBad, bad, good);
  b.SetInsertPoint(bad);
  Value fields[] = {constantInt(check), value, position};
  for (auto [field, content] : llvm::enumerate(fields))
    b.CreateStore(content, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), errorPointer, field));
  b.CreateRet(b.getInt32(check < 0 ? -1 : check + 1));
  b.SetInsertPoint(good);
}

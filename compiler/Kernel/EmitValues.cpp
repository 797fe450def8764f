//===- EmitValues.cpp - values of kernels at indices ----------------------===//

#include "compiler/Kernel/Arithmetic.h"
#include "compiler/Kernel/KernelEmitter.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

unsigned KernelEmitter::scopeOf(const Affine &value) {
  if (plan.nested)
    return scopes.size() - 1;
  llvm::SmallVector<VarId> loops;
  plan.vars.collectLoops(value, loops);
  unsigned scope = baseScope;
  for (VarId loop : loops)
    scope = std::max(scope, varScopes.at(loop));
  return scope;
}

unsigned KernelEmitter::scopeOf(const Index &index) {
  unsigned scope = baseScope;
  for (const Affine &value : index)
    scope = std::max(scope, scopeOf(value));
  return scope;
}

llvm::Value *KernelEmitter::inScope(unsigned scope, llvm::function_ref<Value()> make) {
  if (!scopes[scope].end)
    return make();
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(scopes[scope].end);
  return make();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

llvm::Value *KernelEmitter::evaluate(const Affine &value) {
  if (value.isConstant())
    return constantInt(value.constant);
  unsigned scope = scopeOf(value);
  auto it = scopes[scope].indices.find(value);
  if (it != scopes[scope].indices.end())
    return it->second;
  Value result = inScope(scope, [&] {
    Value sum = nullptr;
    for (auto [id, coefficient] : value.terms) {
      Value term = evaluateVar(id);
      if (coefficient != 1)
        term = b.CreateNSWMul(term, constantInt(coefficient));
      sum = sum ? b.CreateNSWAdd(sum, term) : term;
    }
    return value.constant ? b.CreateNSWAdd(sum, constantInt(value.constant)) : sum;
  });
  scopes[scope].indices[value] = result;
  return result;
}

llvm::Value *KernelEmitter::evaluateVar(VarId id) {
  const Var &var = plan.vars[id];
  if (var.kind == Var::Loop)
    return varValues.at(id);
  if (var.kind == Var::Data)
    return clamp(evaluateRawIndex(var), var.range.high + 1);
  // A dividend that may be negative is raised by multiples of the divisor: both round down.
  int64_t low = plan.vars.range(var.base).low;
  int64_t raised = low < 0 ? llvm::divideCeil(-low, var.divisor) : 0;
  Value base = evaluate(var.base + Affine(raised * var.divisor));
  Value divisor = constantInt(var.divisor);
  if (var.kind == Var::Remainder)
    return b.CreateURem(base, divisor);
  Value quotient = b.CreateUDiv(base, divisor);
  return raised ? b.CreateSub(quotient, constantInt(raised)) : quotient;
}

/// The number of the check of an index that a gather reads.
static unsigned getCheck(const Node &gather, const Element &index) {
  if (const auto *elements = gather.get<GatherElements>())
    return elements->check;
  if (const auto *tuples = gather.get<GatherNd>())
    return tuples->firstCheck + index.second.back().constant;
  return gather.as<Gather>().check;
}

/// The index that a gather reads, from the start of what this device holds, not yet clamped.
llvm::Value *KernelEmitter::evaluateRawIndex(const Var &var) {
  const Node &owner = graph[var.owner];
  const Node &indices = graph[var.element.first];
  Value raw = b.CreateIntCast(evaluate(var.element), b.getInt64Ty(), !isZeroExtended(indices.type));
  int64_t extent = graph.checks[getCheck(owner, var.element)].high;
  Value wrapped = b.CreateAdd(raw, constantInt(extent));
  Value index = b.CreateSelect(b.CreateICmpSLT(raw, constantInt(0)), wrapped, raw);
  if (owner.is<Gather>() && owner.operands.size() > 2)
    index = b.CreateSub(index, evaluate(owner.operands[2], {}));
  return index;
}

llvm::Value *KernelEmitter::clamp(Value index, int64_t extent) {
  Value least = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index, constantInt(0));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, constantInt(extent - 1));
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// The address of an input's element. Where the plan cannot rule out that the index is outside (a
/// part of a concatenation that is not selected), it is clamped.
llvm::Value *KernelEmitter::address(const Element &element) {
  const Node &node = graph[element.first];
  Affine exact;
  llvm::SmallVector<std::pair<size_t, int64_t>> clamped;
  for (auto [dim, stride] : llvm::enumerate(node.as<Input>().strides)) {
    const Affine &value = element.second[dim];
    Range range = plan.vars.range(value);
    if (range.low >= 0 && range.high < node.shape[dim])
      exact = exact + value * stride;
    else
      clamped.push_back({dim, stride});
  }
  Value result = evaluate(plan.vars.recombine(std::move(exact)));
  for (auto [dim, stride] : clamped) {
    Value index = clamp(evaluate(element.second[dim]), node.shape[dim]);
    result = b.CreateNSWAdd(result, b.CreateNSWMul(index, constantInt(stride)));
  }
  return result;
}

llvm::Value *KernelEmitter::loadInput(const Element &element) {
  const Node &node = graph[element.first];
  return load(node.type, elementPointer(node.type, inputs.at(element.first), address(element)));
}

static llvm::Constant *getElement(const Node &node, int64_t position, llvm::Type *type) {
  const char *bytes = node.as<Constant>().bytes.data() + position * elementBytes(node.type);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, elementBytes(node.type));
  switch (node.type) {
  case DType::F64: {
    double value;
    std::memcpy(&value, bytes, sizeof(value));
    return llvm::ConstantFP::get(type, llvm::APFloat(value));
  }
  case DType::F32:
  case DType::BF16: {
    uint32_t wide = node.type == DType::BF16 ? uint32_t(bits) << 16 : uint32_t(bits);
    return llvm::ConstantFP::get(type,
                                 llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, wide)));
  }
  case DType::F16: {
    llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool inexact;
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return llvm::ConstantFP::get(type, value);
  }
  default:
    return llvm::ConstantInt::get(type,
                                  llvm::APInt(64, bits).zextOrTrunc(type->getIntegerBitWidth()));
  }
}

/// An infinity that LLVM does not know. It would make max(m, select(visible, x, -inf)) a select
/// between m and max(m, x), a reduction that its vectoriser does not know.
llvm::Value *KernelEmitter::hideInfinity(llvm::ConstantFP *value) {
  auto *hidden = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/false,
                                          llvm::GlobalValue::InternalLinkage, value);
  hidden->setExternallyInitialized(true);
  return b.CreateLoad(value->getType(), hidden);
}

llvm::Value *KernelEmitter::loadConstant(const Element &element) {
  const Node &node = graph[element.first];
  llvm::Type *type = getType(node.type);
  if (node.as<Constant>().bytes.size() == static_cast<size_t>(elementBytes(node.type))) {
    llvm::Constant *value = getElement(node, 0, type);
    auto *number = llvm::dyn_cast<llvm::ConstantFP>(value);
    return number && number->isInfinity() && !isGpu() ? hideInfinity(number) : value;
  }
  Value &table = constants[element.first];
  bool isBool = node.type == DType::I1;
  llvm::Type *stored = isBool ? b.getInt8Ty() : type;
  if (!table) {
    llvm::SmallVector<llvm::Constant *> values;
    for (int64_t i = 0; i < node.size(); ++i)
      values.push_back(getElement(node, i, stored));
    auto *array = llvm::ConstantArray::get(llvm::ArrayType::get(stored, values.size()), values);
    table = new llvm::GlobalVariable(module, array->getType(), /*isConstant=*/true,
                                     llvm::GlobalValue::PrivateLinkage, array);
  }
  Affine linear = plan.vars.linearise(element.second, node.shape);
  Range range = plan.vars.range(linear);
  Value index = evaluate(linear);
  if (range.low < 0 || range.high >= node.size())
    index = clamp(index, node.size());
  Value value = b.CreateLoad(stored, b.CreateInBoundsGEP(stored, table, index));
  return isBool ? b.CreateTrunc(value, type) : value;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The position of the present inner element (and lane) in a row's buffers.
Affine KernelEmitter::innerPosition() const {
  Affine position;
  for (VarId loop : plan.inner)
    position = position * plan.getExtent(loop) + Affine::var(loop);
  return plan.lane && !isGpu() ? position * plan.laneWidth + laneInBlock() : position;
}

int64_t KernelEmitter::bufferLength() const {
  int64_t length = laneArrayLength();
  for (VarId loop : plan.inner)
    length *= plan.getExtent(loop);
  return isShared() ? llvm::divideCeil(length, countParts()) : length;
}

llvm::Value *KernelEmitter::bufferPosition() {
  return isShared() ? b.CreateUDiv(sharedPosition, constantInt(countParts()))
                    : evaluate(innerPosition());
}

/// A value that an earlier stage left: a reduction, a lane's value, a buffer, or an output.
llvm::Value *KernelEmitter::findKept(const Element &element) {
  auto at = [&](DType type, Value base, Value index) {
    return load(type, elementPointer(type, base, index));
  };
  // Kept values are kept in the type in which they are computed.
  DType type = graph[element.first].type;
  DType computed = getComputedType(type);
  if (auto slot = slots.find(element); slot != slots.end()) {
    Value value = load(slot->second.type, accumulatorAt(slot->second));
    return isFloat(type) ? b.CreateFPCast(value, getType(type)) : value;
  }
  if (auto array = laneArrays.find(element); array != laneArrays.end())
    return at(computed, array->second.first, evaluate(laneInBlock()));
  if (auto buffer = bufferArrays.find(element);
      buffer != bufferArrays.end() && buffer->second.second < currentStage)
    return at(computed, buffer->second.first, bufferPosition());
  if (auto output = outputsOf.find(element);
      output != outputsOf.end() && output->second->stage < currentStage && computed == type)
    return at(type, pointers[graph.inputs.size() + output->second->number],
              evaluate(output->second->address));
  return nullptr;
}

llvm::Value *KernelEmitter::evaluate(const Element &element) {
  unsigned scope = scopeOf(element.second);
  auto it = scopes[scope].values.find(element);
  if (it != scopes[scope].values.end())
    return it->second;
  Value result = inScope(scope, [&] {
    Value kept = findKept(element);
    return kept ? kept : compute(element);
  });
  scopes[scope].values[element] = result;
  return result;
}

llvm::Value *KernelEmitter::compute(const Element &element) {
  auto &[number, index] = element;
  const Node &node = graph[number];
  if (node.is<Input>())
    return loadInput(element);
  if (node.is<Param>())
    return b.CreateTrunc(params.at(number), getType(node.type));
  if (node.is<Constant>())
    return loadConstant(element);
  if (const auto *iota = node.get<Iota>()) {
    Value position = evaluate(index[iota->dim]);
    return call(getCastName(DType::I64, node.type), node.type, position);
  }
  if (node.is<Identity>())
    return getIdentity(getReduceKind(node), getComputedType(node.type));
  if (node.is<Concat>())
    return computeConcat(element);
  if (node.is<Pad>())
    return computePad(element);
  if (node.is<Gather, GatherElements, GatherNd>())
    return computeGather(element);
  if (node.isReduction())
    return computeNested(element);
  llvm::SmallVector<Value> in;
  for (unsigned operand = 0; operand < node.operands.size(); ++operand)
    in.push_back(evaluate(node.operands[operand],
                          getOperandIndex(graph, plan.vars, number, operand, index)));
  const auto *elementwise = node.get<Elementwise>();
  return elementwise ? call(elementwise->function, node.type, in) : in[0];
}

/// A value to store. What a cast would only round as storing it does is not rounded twice.
llvm::Value *KernelEmitter::evaluateResult(const Output &output) {
  auto &[number, index] = output.element;
  const Node &node = graph[number];
  const auto *elementwise = node.get<Elementwise>();
  DType computed = getComputedType(node.type);
  if (elementwise && computed != node.type &&
      elementwise->function == getCastName(computed, node.type))
    return evaluate(node.operands[0], getOperandIndex(graph, plan.vars, number, 0, index));
  return evaluate(output.element);
}

llvm::Value *KernelEmitter::computeConcat(const Element &element) {
  auto &[number, index] = element;
  const Node &node = graph[number];
  int64_t axis = node.as<Concat>().axis;
  const Affine &position = index[axis];
  Range range = plan.vars.range(position);
  auto part = [&](unsigned operand) {
    return evaluate(node.operands[operand],
                    getOperandIndex(graph, plan.vars, number, operand, index));
  };
  int64_t begin = 0;
  Value result = nullptr;
  // The first part that ends behind the position is its own: selects from the last part on.
  llvm::SmallVector<std::pair<unsigned, int64_t>> candidates;
  for (unsigned operand = 0; operand < node.operands.size(); ++operand) {
    int64_t end = begin + graph.operand(node, operand).shape[axis];
    if (end > begin && range.high >= begin && range.low < end)
      candidates.push_back({operand, end});
    begin = end;
  }
  for (auto [operand, end] : llvm::reverse(candidates)) {
    Value value = part(operand);
    result = result ? b.CreateSelect(b.CreateICmpSLT(evaluate(position), constantInt(end)), value,
                                     result)
                    : value;
  }
  return result;
}

llvm::Value *KernelEmitter::computePad(const Element &element) {
  auto &[number, index] = element;
  const Node &node = graph[number];
  const Node &input = graph[node.operands[0]];
  auto fill = [&] { return evaluate(node.operands[1], {}); };
  Value inside = nullptr;
  for (auto [dim, value] : llvm::enumerate(index)) {
    Range range = plan.vars.range(value);
    int64_t low = node.as<Pad>().low[dim], high = low + input.shape[dim];
    if (range.high < low || range.low >= high)
      return fill();
    if (range.low >= low && range.high < high)
      continue;
    Value position = evaluate(value);
    Value within = b.CreateAnd(b.CreateICmpSGE(position, constantInt(low)),
                               b.CreateICmpSLT(position, constantInt(high)));
    inside = inside ? b.CreateAnd(inside, within) : within;
  }
  Value result = evaluate(node.operands[0], getOperandIndex(graph, plan.vars, number, 0, index));
  return inside ? b.CreateSelect(inside, result, fill()) : result;
}

llvm::Value *KernelEmitter::computeGather(const Element &element) {
  auto &[number, index] = element;
  const Node &node = graph[number];
  Index at = getOperandIndex(graph, plan.vars, number, 0, index);
  Value result = evaluate(node.operands[0], at);
  const auto *gather = node.get<Gather>();
  if (!gather || node.operands.size() < 3)
    return result;
  // A shard of a table: rows outside it are zero.
  const Affine &data = at[gather->axis];
  Value raw =
      inScope(scopeOf(data), [&] { return evaluateRawIndex(plan.vars[data.terms.front().first]); });
  Value within = b.CreateICmpULT(raw, constantInt(graph.operand(node, 0).shape[gather->axis]));
  return b.CreateSelect(within, result, llvm::Constant::getNullValue(result->getType()));
}

/// A reduction for one element that reads it: loops right here.
llvm::Value *KernelEmitter::computeNested(const Element &element) {
  Reduction reduction{element, plan.getLoops(graph, element.first, element.second), 0};
  const Node &node = graph[element.first];
  Accumulator accumulator{nullptr, nullptr, getComputedType(node.type)};
  accumulator.total = allocate(getStorageType(accumulator.type), 1);
  store(accumulator.type, getIdentity(getReduceKind(node), accumulator.type), accumulator.total);
  nest(reduction.loops.vars, [&] { accumulate(reduction, accumulator); });
  return load(accumulator.type, accumulator.total);
}

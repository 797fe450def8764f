//===- EmitStages.cpp - passes over a kernel's rows -----------------------===//

#include "compiler/Kernel/KernelEmitter.h"
#include "compiler/Kernel/StridedView.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Reductions and outputs
//===----------------------------------------------------------------------===//

void KernelEmitter::emitStage(unsigned stage) {
  currentStage = stage;
  const Node &first = graph[graph.outputs.front()];
  if (first.is<Cumsum>())
    return emitScan();
  if (first.is<ScatterElements>())
    return emitScatterElements();
  if (first.is<ScatterNd>())
    return emitScatterNd();
  if (first.is<Sort>())
    return emitSort();
  emitLaneValues(stage);
  emitInnerLoops(stage);
  for (const Reduction &reduction : plan.reductions)
    if (reduction.stage == stage && !reduction.loops.isInner)
      emitReduction(reduction);
  emitRowOutputs(stage);
}

void KernelEmitter::emitLaneValues(unsigned stage) {
  for (const Kept &kept : plan.laneValues) {
    if (kept.stage != stage)
      continue;
    DType computed = getComputedType(graph[kept.element.first].type);
    Value array = allocate(getStorageType(computed), laneArrayLength());
    withLanes({}, [&] {
      store(computed, evaluate(kept.element),
            elementPointer(computed, array, evaluate(laneInBlock())));
    });
    laneArrays[kept.element] = {array, stage};
  }
}

KernelEmitter::Accumulator KernelEmitter::startReduction(const Reduction &reduction) {
  const Node &node = graph[reduction.element.first];
  ReduceKind kind = getReduceKind(node);
  bool isSum = kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  Accumulator accumulator{nullptr, nullptr, getComputedType(node.type)};
  accumulator.hasLanes = !isGpu() && (plan.vars.depends(reduction.element.second) & InLanes);
  // Products of narrow floats stay in f32; every other sum of f32 ends in f64.
  if (isSum && accumulator.type == DType::F32 && (!node.is<Dot>() || node.type == DType::F32))
    accumulator.type = DType::F64;
  accumulator.total =
      allocate(getStorageType(accumulator.type), accumulator.hasLanes ? plan.laneWidth : 1);
  if (accumulator.type != getComputedType(node.type) && !accumulator.hasLanes)
    accumulator.part = allocate(b.getFloatTy(), 1);
  Value identity = getIdentity(kind, accumulator.type);
  auto clear = [&] { store(accumulator.type, identity, accumulatorAt(accumulator)); };
  if (accumulator.hasLanes)
    withLanes({}, clear);
  else
    clear();
  return accumulator;
}

llvm::Value *KernelEmitter::accumulatorAt(const Accumulator &accumulator) {
  if (!accumulator.hasLanes)
    return accumulator.total;
  return elementPointer(accumulator.type, accumulator.total, evaluate(laneInBlock()));
}

llvm::Value *KernelEmitter::getIdentity(ReduceKind reduce, DType type) {
  llvm::Type *computed = getType(type);
  if (reduce == ReduceKind::Sum)
    return llvm::Constant::getNullValue(computed);
  bool isMax = reduce == ReduceKind::Max;
  if (isFloat(type))
    return reduce == ReduceKind::Prod ? llvm::ConstantFP::get(computed, 1.0)
                                      : llvm::ConstantFP::getInfinity(computed, isMax);
  if (reduce == ReduceKind::Prod)
    return llvm::ConstantInt::get(computed, 1);
  unsigned width = computed->getIntegerBitWidth();
  if (isZeroExtended(type))
    return llvm::ConstantInt::get(computed, isMax ? llvm::APInt::getZero(width)
                                                  : llvm::APInt::getMaxValue(width));
  return llvm::ConstantInt::get(computed, isMax ? llvm::APInt::getSignedMinValue(width)
                                                : llvm::APInt::getSignedMaxValue(width));
}

void KernelEmitter::accumulate(const Reduction &reduction, const Accumulator &into) {
  const Node &node = graph[reduction.element.first];
  Value term = evaluate(node.operands[0], reduction.loops.operands[0]);
  DType type = into.part ? DType::F32 : into.type;
  auto widen = [&](Value value) {
    return isFloat(type) ? b.CreateFPCast(value, getType(type)) : value;
  };
  term = widen(term);
  if (node.is<Dot>())
    term = join(ReduceKind::Prod, type, term,
                widen(evaluate(node.operands[1], reduction.loops.operands[1])));
  Value slot = into.part ? into.part : accumulatorAt(into);
  store(type, join(getReduceKind(node), type, load(type, slot), term, /*anyOrder=*/true), slot);
}

/// Starts the f32 sum of a chunk, or adds it to the f64 total at the chunk's end.
void KernelEmitter::emitReductionPart(const Reduction &reduction, Accumulator &into, bool isStart) {
  if (!into.part)
    return;
  ReduceKind kind = getReduceKind(graph[reduction.element.first]);
  if (isStart)
    return store(DType::F32, getIdentity(kind, DType::F32), into.part);
  Value part = b.CreateFPExt(load(DType::F32, into.part), b.getDoubleTy());
  Value total = join(kind, DType::F64, load(DType::F64, into.total), part, /*anyOrder=*/true);
  store(DType::F64, total, into.total);
}

void KernelEmitter::emitReduction(const Reduction &reduction) {
  Accumulator accumulator = startReduction(reduction);
  auto body = [&] { accumulate(reduction, accumulator); };
  auto before = [&] { emitReductionPart(reduction, accumulator, /*isStart=*/true); };
  auto after = [&] { emitReductionPart(reduction, accumulator, /*isStart=*/false); };
  if (accumulator.hasLanes)
    withLanes(reduction.loops.vars, body);
  else
    shareLoops(reduction.loops.vars, body, before, after);
  joinTeam(reduction, accumulator);
  slots[reduction.element] = accumulator;
}

/// The pass of a stage over the row's inner elements: its reductions, outputs and buffers together.
void KernelEmitter::emitInnerLoops(unsigned stage) {
  std::vector<std::pair<const Reduction *, Accumulator>> open;
  for (const Reduction &reduction : plan.reductions)
    if (reduction.stage == stage && reduction.loops.isInner)
      open.push_back({&reduction, startReduction(reduction)});
  llvm::SmallVector<const Output *> outputs;
  for (const Output &output : plan.outputs)
    if (output.stage == stage && !output.isRow)
      outputs.push_back(&output);
  if (open.empty() && outputs.empty())
    return;
  llvm::SmallVector<std::pair<const Kept *, Value>> buffers;
  for (const Kept &kept : plan.buffers) {
    if (kept.stage == stage) {
      DType computed = getComputedType(graph[kept.element.first].type);
      buffers.push_back({&kept, allocate(getStorageType(computed), bufferLength())});
    }
  }
  auto body = [&] {
    for (auto &[reduction, accumulator] : open)
      accumulate(*reduction, accumulator);
    emitOutputs(outputs);
    for (auto &[kept, array] : buffers) {
      DType computed = getComputedType(graph[kept->element.first].type);
      store(computed, evaluate(kept->element), elementPointer(computed, array, bufferPosition()));
    }
  };
  auto parts = [&](bool isStart) {
    for (auto &[reduction, accumulator] : open)
      emitReductionPart(*reduction, accumulator, isStart);
  };
  auto before = [&] { parts(/*isStart=*/true); };
  auto after = [&] { parts(/*isStart=*/false); };
  Body none = nullptr;
  if (isShared())
    shareLoops(plan.inner, body, open.empty() ? none : before, open.empty() ? none : after);
  else
    withLanes(plan.inner, body, open.empty() ? none : before, open.empty() ? none : after);
  for (auto &[reduction, accumulator] : open) {
    joinTeam(*reduction, accumulator);
    slots[reduction->element] = accumulator;
  }
  for (auto &[kept, array] : buffers)
    bufferArrays[kept->element] = {array, stage};
}

void KernelEmitter::storeOutput(const Output &output, Value value) {
  DType type = graph[output.element.first].type;
  Value pointer = pointers[graph.inputs.size() + output.number];
  store(type, value, elementPointer(type, pointer, evaluate(output.address)));
}

void KernelEmitter::emitRowOutputs(unsigned stage) {
  llvm::SmallVector<const Output *> outputs;
  for (const Output &output : plan.outputs)
    if (output.stage == stage && output.isRow)
      outputs.push_back(&output);
  if (isShared() && !outputs.empty())
    emitTeamOutputs(outputs, /*isLast=*/stage + 1 == plan.stages);
  else if (!outputs.empty())
    withLanes({}, [&] { emitOutputs(outputs); });
}

/// Computes elements of all outputs before any is stored: an argument that others need may lie
/// where one of them goes.
void KernelEmitter::emitOutputs(ArrayRef<const Output *> outputs) {
  llvm::SmallVector<Value> values;
  for (const Output *output : outputs)
    values.push_back(evaluateResult(*output));
  if (hasLane)
    branch(hasLane, [&] { storeOutputs(outputs, values); });
  else
    storeOutputs(outputs, values);
}

void KernelEmitter::storeOutputs(ArrayRef<const Output *> outputs, ArrayRef<Value> values) {
  for (auto [output, value] : llvm::zip_equal(outputs, values))
    storeOutput(*output, value);
}

//===----------------------------------------------------------------------===//
// Scans and scatters
//===----------------------------------------------------------------------===//

/// Sums along a row, by a team each thread along its part: what the threads before it have summed
/// comes first.
void KernelEmitter::emitScan() {
  const Output &output = plan.outputs.front();
  const Node &node = graph[output.element.first];
  auto [axis, isExclusive, isReverse] = node.as<Cumsum>();
  VarId loop = plan.inner.front();
  Index index = output.element.second;
  if (isReverse)
    index[axis] = Affine(node.shape[axis] - 1) - Affine::var(loop);
  else
    index[axis] = Affine::var(loop);
  DType wide = isFloat(node.type) ? DType::F64 : node.type;
  Value sum = allocate(getStorageType(wide), 1);
  auto run = [&, axis = axis](Body body) {
    if (!isShared())
      return nest(loop, body);
    Value each = constantInt(llvm::divideCeil(node.shape[axis], plan.team));
    Value low = b.CreateNSWMul(member, each), high = b.CreateNSWAdd(low, each);
    overPart(loop, low,
             b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, high, constantInt(node.shape[axis])),
             body);
  };
  auto add = [&] {
    Value term = evaluate(node.operands[0], index);
    Value before = load(wide, sum);
    Value after = join(ReduceKind::Sum, wide, before,
                       isFloat(wide) ? b.CreateFPCast(term, getType(wide)) : term);
    store(wide, after, sum);
    return std::pair(before, after);
  };
  store(wide, llvm::Constant::getNullValue(getType(wide)), sum);
  if (isShared()) {
    run([&] { add(); });
    store(wide, joinBefore(wide, load(wide, sum)), sum);
  }
  Affine position = plan.vars.linearise(index, node.shape);
  run([&, isExclusive = isExclusive] {
    auto [before, after] = add();
    Value result = isExclusive ? before : after;
    if (isFloat(wide))
      result = b.CreateFPCast(result, getType(node.type));
    Value pointer = pointers[graph.inputs.size()];
    store(node.type, result, elementPointer(node.type, pointer, evaluate(position)));
  });
}

/// The row of a scatter's result that the index at `element` names, and whether there is one. An
/// index outside the whole tensor leaves the kernel unless such ones are dropped; in a shard the
/// rows of others are left out.
std::pair<llvm::Value *, llvm::Value *>
KernelEmitter::scatterRow(const Node &scatter, unsigned check, bool drops, bool isShard,
                          const Element &element, int64_t rows) {
  const Node &indices = graph[element.first];
  const KernelCheck &limits = graph.checks[check];
  Value row = b.CreateIntCast(evaluate(element), b.getInt64Ty(), !isZeroExtended(indices.type));
  Value isBad = b.CreateOr(b.CreateICmpSLT(row, constantInt(limits.low)),
                           b.CreateICmpSGE(row, constantInt(limits.high)));
  if (!drops) {
    fail(isBad, check, row, evaluate(plan.vars.linearise(element.second, indices.shape)));
    Value wrapped = b.CreateAdd(row, constantInt(limits.high));
    row = b.CreateSelect(b.CreateICmpSLT(row, constantInt(0)), wrapped, row);
  }
  // A GPU's thread goes on where a check has failed.
  Value isThere = drops || isGpu() ? b.CreateNot(isBad) : b.getTrue();
  if (isShard) {
    row = b.CreateSub(row, evaluate(scatter.operands[3], {}));
    isThere = b.CreateAnd(isThere, b.CreateICmpULT(row, constantInt(rows)));
  }
  return {row, isThere};
}

/// Joins an update with what is there, or puts it in its place.
void KernelEmitter::scatterInto(const Node &scatter, Value address, Value update) {
  const auto *elements = scatter.get<ScatterElements>();
  std::optional<ReduceKind> kind = elements ? elements->join : scatter.as<ScatterNd>().join;
  Value target = elementPointer(scatter.type, pointers[graph.inputs.size()], address);
  if (kind)
    update = join(*kind, getComputedType(scatter.type), load(scatter.type, target), update);
  store(scatter.type, update, target);
}

/// How the result of a scatter lies.
static llvm::SmallVector<int64_t, 6> getScatterStrides(const Graph &graph) {
  const InPlace *place = graph.findInPlace(0);
  return place ? place->strides : weft::getRowMajorStrides(graph[graph.outputs.front()].shape);
}

/// A row is all positions along the axis: copied, unless they are there, then updated in order.
void KernelEmitter::emitScatterElements() {
  const Output &output = plan.outputs.front();
  const Node &node = graph[output.element.first];
  const Node &indices = graph[node.operands[1]];
  const ScatterElements &scatter = node.as<ScatterElements>();
  size_t axis = scatter.axis;
  Index index = output.element.second;
  index[axis] = Affine::var(plan.inner.front());
  llvm::SmallVector<int64_t, 6> strides = getScatterStrides(graph);
  if (graph.inPlace.empty())
    nest(plan.inner, [&] {
      Value value = evaluate(node.operands[0], index);
      Value address = evaluate(plan.vars.linearise(index, node.shape));
      store(node.type, value, elementPointer(node.type, pointers[graph.inputs.size()], address));
    });
  Affine first; // where the row begins
  for (size_t dim = 0; dim < index.size(); ++dim)
    if (dim != axis)
      first = first + index[dim] * strides[dim];
  // Indices may cover fewer rows than the input has.
  Value isCovered = b.getTrue();
  for (size_t dim = 0; dim < index.size(); ++dim)
    if (dim != axis && indices.shape[dim] < node.shape[dim])
      isCovered = b.CreateAnd(
          isCovered, b.CreateICmpSLT(evaluate(index[dim]), constantInt(indices.shape[dim])));
  if (indices.shape[axis] == 0)
    return;
  branch(isCovered, [&] {
    VarId loop = plan.vars.addLoop(indices.shape[axis], InInner);
    Index at = index;
    at[axis] = Affine::var(loop);
    nest(loop, [&] {
      auto [row, isThere] = scatterRow(node, scatter.check, scatter.drops, node.operands.size() > 3,
                                       {node.operands[1], at}, node.shape[axis]);
      Value address = evaluate(plan.vars.recombine(first));
      Value step = b.CreateMul(row, constantInt(strides[axis]));
      Value target = b.CreateAdd(address, step), update = evaluate(node.operands[2], at);
      branch(isThere, [&] { scatterInto(node, target, update); });
    });
  });
}

/// The slices of a scatter that are this row's, where rows share them.
std::optional<KernelEmitter::SliceRange> KernelEmitter::getOwnSlices(int64_t slices) {
  if (plan.rows.size() == 1)
    return std::nullopt;
  int64_t each = llvm::divideCeil(slices, plan.getExtent(plan.rows.front()));
  Value low = b.CreateNSWMul(varValues.at(plan.rows.front()), constantInt(each));
  Value high = b.CreateNSWAdd(low, constantInt(each));
  return SliceRange{low, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, high, constantInt(slices))};
}

/// Copies what an updated slice begins with, lane by lane.
void KernelEmitter::copySlices(const Node &node, int64_t slices,
                               const std::optional<SliceRange> &own) {
  VarId copied = plan.vars.addLoop(slices, InInner);
  auto copy = [&] {
    Affine position = Affine::var(copied) * plan.laneTotal + Affine::var(*plan.lane);
    Value value = evaluate(node.operands[0], plan.vars.delinearise(position, node.shape));
    store(node.type, value,
          elementPointer(node.type, pointers[graph.inputs.size()], evaluate(position)));
  };
  if (own)
    overPart(copied, own->low, own->high, copy);
  else
    withLanes(copied, copy);
}

/// Where the slice that the tuple at `at` names begins, and whether it is there and this row's.
std::pair<llvm::Value *, llvm::Value *>
KernelEmitter::findSlice(const Node &node, const Index &at, ArrayRef<int64_t> strides,
                         const std::optional<SliceRange> &own) {
  const ScatterNd &scatter = node.as<ScatterNd>();
  size_t depth = graph[node.operands[1]].shape.back();
  Value address = constantInt(0), number = constantInt(0), isThere = b.getTrue();
  for (size_t dim = 0; dim < depth; ++dim) {
    Index part = at;
    part.push_back(Affine(dim));
    bool isShard = dim == 0 && node.operands.size() > 3;
    auto [row, isHere] = scatterRow(node, scatter.firstCheck + dim, scatter.drops, isShard,
                                    {node.operands[1], part}, node.shape[dim]);
    address = b.CreateAdd(address, b.CreateMul(row, constantInt(strides[dim])));
    number = b.CreateAdd(b.CreateMul(number, constantInt(node.shape[dim])), row);
    isThere = b.CreateAnd(isThere, isHere);
  }
  if (own)
    isThere = b.CreateAnd(isThere, b.CreateAnd(b.CreateICmpSGE(number, own->low),
                                               b.CreateICmpSLT(number, own->high)));
  return {address, isThere};
}

/// A row is a block of neighbouring elements of every slice, on a GPU an element of some slices:
/// all copied, unless they are there, then updated in order.
void KernelEmitter::emitScatterNd() {
  const Node &node = graph[graph.outputs.front()];
  ArrayRef<int64_t> tupleShape = ArrayRef(graph[node.operands[1]].shape).drop_back();
  size_t depth = graph[node.operands[1]].shape.back();
  ArrayRef<int64_t> slice = ArrayRef(node.shape).drop_front(depth);
  int64_t slices = 1, tuples = 1;
  for (int64_t extent : ArrayRef(node.shape).take_front(depth))
    slices *= extent;
  for (int64_t extent : tupleShape)
    tuples *= extent;
  llvm::SmallVector<int64_t, 6> strides = getScatterStrides(graph);
  std::optional<SliceRange> own = getOwnSlices(slices);
  if (graph.inPlace.empty())
    copySlices(node, slices, own);
  if (tuples == 0)
    return;
  VarId tuple = plan.vars.addLoop(tuples, InInner);
  Index at = plan.vars.delinearise(Affine::var(tuple), tupleShape);
  nest(tuple, [&] {
    auto [target, isThere] = findSlice(node, at, strides, own);
    branch(isThere, [&, target = target] {
      withLanes({}, [&] {
        Index source = at, inSlice = plan.vars.delinearise(Affine::var(*plan.lane), slice);
        llvm::append_range(source, inSlice);
        Affine offset;
        for (auto [index, stride] : llvm::zip_equal(inSlice, ArrayRef(strides).drop_front(depth)))
          offset = offset + index * stride;
        Value address = b.CreateAdd(target, evaluate(plan.vars.recombine(std::move(offset))));
        scatterInto(node, address, evaluate(node.operands[2], source));
      });
    });
  });
}

//===- LoopIndices.cpp - where operations read their operands -------------===//

#include "compiler/Kernel/LoopPlan.h"

using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::SmallVector;

/// As getOperandIndex, of the operations that read an operand where another one says.
static Index getGatheredIndex(const Graph &graph, Vars &vars, unsigned number, unsigned operand,
                              const Index &index) {
  const Node &node = graph[number];
  const Node &read = graph[node.operands[operand]];
  Index result;
  if (node.op == Opcode::Gather) {
    size_t axis = node.ints[0], rank = graph[node.operands[1]].shape.size();
    if (operand == 2)
      return result;
    Index position(index.begin() + axis, index.begin() + axis + rank);
    if (operand == 1)
      return position;
    result.append(index.begin(), index.begin() + axis);
    result.push_back(vars.data(number, {node.operands[1], position}, read.shape[axis]));
    result.append(index.begin() + axis + rank, index.end());
    return result;
  }
  if (node.op == Opcode::GatherElements) {
    result = index;
    if (operand == 0)
      result[node.ints[0]] = vars.data(number, {node.operands[1], index}, read.shape[node.ints[0]]);
    return result;
  }
  const Node &indices = graph[node.operands[1]];
  size_t batch = node.ints[0], rank = indices.shape.size() - 1;
  if (operand == 1)
    llvm_unreachable("a tuple has several elements");
  result.append(index.begin(), index.begin() + batch);
  for (int64_t part = 0; part < indices.shape.back(); ++part) {
    Index position(index.begin(), index.begin() + rank);
    position.push_back(part);
    result.push_back(vars.data(number, {node.operands[1], position}, read.shape[batch + part]));
  }
  result.append(index.begin() + rank, index.end());
  return result;
}

Index weft::kernel::getOperandIndex(const Graph &graph, Vars &vars, unsigned number,
                                    unsigned operand, const Index &index) {
  const Node &node = graph[number];
  const Node &read = graph[node.operands[operand]];
  Index result;
  switch (node.op) {
  case Opcode::Broadcast:
    for (auto [dim, extent] : llvm::zip_equal(node.ints, read.shape))
      result.push_back(extent == 1 ? Affine() : index[dim]);
    return result;
  case Opcode::Concat: {
    result = index;
    for (unsigned before = 0; before < operand; ++before)
      result[node.ints[0]].constant -= graph[node.operands[before]].shape[node.ints[0]];
    return result;
  }
  case Opcode::Pad:
    if (operand == 1)
      return result;
    result = index;
    for (auto [value, low] : llvm::zip_equal(result, node.ints))
      value.constant -= low;
    return result;
  case Opcode::Reshape:
    return vars.delinearise(vars.linearise(index, node.shape), read.shape);
  case Opcode::Reverse:
    result = index;
    for (int64_t dim : node.ints)
      result[dim] = Affine(node.shape[dim] - 1) - result[dim];
    return result;
  case Opcode::Slice:
    for (size_t dim = 0; dim < index.size(); ++dim)
      result.push_back(index[dim] * node.ints[index.size() + dim] + Affine(node.ints[dim]));
    return result;
  case Opcode::Transpose:
    result.resize(index.size());
    for (size_t dim = 0; dim < index.size(); ++dim)
      result[node.ints[dim]] = index[dim];
    return result;
  case Opcode::Windows:
    for (size_t dim = 0; dim < read.shape.size(); ++dim) {
      ArrayRef<int64_t> ints = ArrayRef(node.ints).slice(4 * dim, 4);
      result.push_back(index[ints[1]] * ints[0]);
      if (ints[3] >= 0)
        result.back() = result.back() + index[ints[3]] * ints[2];
    }
    return result;
  case Opcode::Gather:
  case Opcode::GatherElements:
  case Opcode::GatherNd:
    return getGatheredIndex(graph, vars, number, operand, index);
  default:
    return index;
  }
}

/// The reduced extents of a Reduce (or the contracted ones of a Dot).
static SmallVector<int64_t, 4> getReducedExtents(const Graph &graph, const Node &node) {
  const Node &read = graph[node.operands[0]];
  SmallVector<int64_t, 4> extents;
  ArrayRef<int64_t> dims = node.ints;
  if (node.op == Opcode::Dot)
    dims = dims.slice(2 + 2 * node.ints[0], node.ints[1]);
  for (int64_t dim : dims)
    extents.push_back(read.shape[dim]);
  return extents;
}

/// Puts `loops` at the positions `dims` and `kept` at the others, in order.
static Index interleave(size_t rank, ArrayRef<int64_t> dims, ArrayRef<Affine> loops,
                        ArrayRef<Affine> kept) {
  Index result;
  for (size_t dim = 0; dim < rank; ++dim) {
    auto it = llvm::find(dims, static_cast<int64_t>(dim));
    if (it != dims.end()) {
      result.push_back(loops[it - dims.begin()]);
    } else {
      result.push_back(kept.front());
      kept = kept.drop_front();
    }
  }
  return result;
}

static void addDotOperands(const Graph &graph, const Node &node, const Index &index,
                           ArrayRef<Affine> loops, ReductionLoops &result) {
  size_t batch = node.ints[0], contract = node.ints[1];
  ArrayRef<int64_t> dims = ArrayRef(node.ints).drop_front(2);
  ArrayRef<Affine> rest(index.begin() + batch, index.end());
  for (unsigned side = 0; side < 2; ++side) {
    size_t rank = graph[node.operands[side]].shape.size();
    SmallVector<int64_t> fixed(dims.slice(side * batch, batch));
    llvm::append_range(fixed, dims.slice(2 * batch + side * contract, contract));
    Index values(index.begin(), index.begin() + batch);
    llvm::append_range(values, loops);
    size_t own = rank - batch - contract;
    result.operands.push_back(interleave(rank, fixed, values, rest.take_front(own)));
    rest = rest.drop_front(own);
  }
}

ReductionLoops LoopPlan::getLoops(const Graph &graph, unsigned number, const Index &index) {
  const Node &node = graph[number];
  SmallVector<int64_t, 4> extents = getReducedExtents(graph, node);
  ReductionLoops result;
  int64_t reduced = 1, innerSize = 1;
  for (int64_t extent : extents)
    reduced *= extent;
  for (VarId loop : inner)
    innerSize *= getExtent(loop);
  bool readsRow = !(vars.depends(index) & InInner);
  Index loops;
  bool hasLanes = vars.depends(index) & InLanes;
  if (readsRow && node.op == Opcode::Reduce && reduced == innerSize && (!lane || hasLanes) &&
      (!lane || ArrayRef(extents) == ArrayRef(innerDims))) {
    result.isInner = true;
    result.vars.assign(inner.begin(), inner.end());
    Affine linear;
    for (VarId loop : inner)
      linear = linear * getExtent(loop) + Affine::var(loop);
    loops = vars.delinearise(linear, extents);
  } else {
    auto [it, isNew] = ownLoops.try_emplace(number);
    if (isNew)
      for (int64_t extent : extents)
        it->second.push_back(vars.addLoop(extent, InInner));
    result.vars = it->second;
    for (VarId loop : it->second)
      loops.push_back(Affine::var(loop));
  }
  if (node.op == Opcode::Dot)
    addDotOperands(graph, node, index, loops, result);
  else
    result.operands.push_back(
        interleave(graph[node.operands[0]].shape.size(), node.ints, loops, index));
  return result;
}

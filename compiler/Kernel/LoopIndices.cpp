//===- LoopIndices.cpp - where operations read their operands -------------===//

#include "compiler/Kernel/LoopPlan.h"

using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Where an operand of a node is read, by the node's kind: getOperandIndex.
struct OperandIndex {
  const Graph &graph;
  Vars &vars;
  unsigned number;  ///< the node's
  unsigned operand; ///< which of its operands
  const Index &index;

  const Node &node() const { return graph[number]; }
  const Node &read() const { return graph.operand(node(), operand); }
  Affine data(unsigned indices, const Index &position, int64_t extent) const {
    return vars.data(number, {node().operands[indices], position}, extent);
  }

  /// Elementwise: the same place.
  template <typename Kind> Index operator()(const Kind &) const { return index; }

  Index operator()(const Broadcast &broadcast) const {
    Index result;
    for (auto [dim, extent] : llvm::zip_equal(broadcast.dims, read().shape))
      result.push_back(extent == 1 ? Affine() : index[dim]);
    return result;
  }
  Index operator()(const Concat &concat) const {
    Index result = index;
    for (unsigned before = 0; before < operand; ++before)
      result[concat.axis].constant -= graph.operand(node(), before).shape[concat.axis];
    return result;
  }
  Index operator()(const Pad &pad) const {
    if (operand == 1)
      return {};
    Index result = index;
    for (auto [value, low] : llvm::zip_equal(result, pad.low))
      value.constant -= low;
    return result;
  }
  Index operator()(const Reshape &) const {
    return vars.delinearise(vars.linearise(index, node().shape), read().shape);
  }
  Index operator()(const Reverse &reverse) const {
    Index result = index;
    for (int64_t dim : reverse.dims)
      result[dim] = Affine(node().shape[dim] - 1) - result[dim];
    return result;
  }
  Index operator()(const Slice &slice) const {
    Index result;
    for (auto [at, start, stride] : llvm::zip_equal(index, slice.starts, slice.strides))
      result.push_back(at * stride + Affine(start));
    return result;
  }
  Index operator()(const Transpose &transpose) const {
    Index result(index.size());
    for (auto [at, dim] : llvm::zip_equal(index, transpose.permutation))
      result[dim] = at;
    return result;
  }
  Index operator()(const Windows &windows) const {
    Index result;
    for (const Windows::Dim &dim : windows.dims) {
      result.push_back(index[dim.positionDim] * dim.stride);
      if (dim.elementDim)
        result.back() = result.back() + index[*dim.elementDim] * dim.dilation;
    }
    return result;
  }
  Index operator()(const Gather &gather) const {
    Index result;
    size_t axis = gather.axis, rank = graph.operand(node(), 1).shape.size();
    if (operand == 2)
      return result;
    Index position(index.begin() + axis, index.begin() + axis + rank);
    if (operand == 1)
      return position;
    result.append(index.begin(), index.begin() + axis);
    result.push_back(data(1, position, read().shape[axis]));
    result.append(index.begin() + axis + rank, index.end());
    return result;
  }
  Index operator()(const GatherElements &gather) const {
    Index result = index;
    if (operand == 0)
      result[gather.axis] = data(1, index, read().shape[gather.axis]);
    return result;
  }
  Index operator()(const GatherNd &gather) const {
    if (operand == 1)
      llvm_unreachable("a tuple has several elements");
    const Node &indices = graph.operand(node(), 1);
    size_t batch = gather.batchDims, rank = indices.shape.size() - 1;
    Index result(index.begin(), index.begin() + batch);
    for (int64_t part = 0; part < indices.shape.back(); ++part) {
      Index position(index.begin(), index.begin() + rank);
      position.push_back(part);
      result.push_back(data(1, position, read().shape[batch + part]));
    }
    result.append(index.begin() + rank, index.end());
    return result;
  }
};

} // namespace

Index weft::kernel::getOperandIndex(const Graph &graph, Vars &vars, unsigned number,
                                    unsigned operand, const Index &index) {
  return std::visit(OperandIndex{graph, vars, number, operand, index}, graph[number].kind);
}

/// The reduced extents of a Reduce (or the contracted ones of a Dot).
static Dims getReducedExtents(const Graph &graph, const Node &node) {
  const auto *dot = node.get<Dot>();
  Dims extents;
  for (int64_t dim : dot ? dot->lhsContract : node.as<Reduce>().dims)
    extents.push_back(graph.operand(node, 0).shape[dim]);
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
  const Dot &dot = node.as<Dot>();
  size_t batch = dot.lhsBatch.size();
  ArrayRef<Affine> rest(index.begin() + batch, index.end());
  Index values(index.begin(), index.begin() + batch);
  llvm::append_range(values, loops);
  auto add = [&](unsigned side, ArrayRef<int64_t> batchDims, ArrayRef<int64_t> contracted) {
    size_t rank = graph.operand(node, side).shape.size();
    Dims fixed(batchDims);
    llvm::append_range(fixed, contracted);
    size_t own = rank - fixed.size();
    result.operands.push_back(interleave(rank, fixed, values, rest.take_front(own)));
    rest = rest.drop_front(own);
  };
  add(0, dot.lhsBatch, dot.lhsContract);
  add(1, dot.rhsBatch, dot.rhsContract);
}

ReductionLoops LoopPlan::getLoops(const Graph &graph, unsigned number, const Index &index) {
  const Node &node = graph[number];
  Dims extents = getReducedExtents(graph, node);
  ReductionLoops result;
  int64_t reduced = 1, innerSize = 1;
  for (int64_t extent : extents)
    reduced *= extent;
  for (VarId loop : inner)
    innerSize *= getExtent(loop);
  bool readsRow = !(vars.depends(index) & InInner);
  Index loops;
  bool hasLanes = vars.depends(index) & InLanes;
  if (readsRow && node.is<Reduce>() && reduced == innerSize && (!lane || hasLanes) &&
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
  if (node.is<Dot>())
    addDotOperands(graph, node, index, loops, result);
  else
    result.operands.push_back(
        interleave(graph.operand(node, 0).shape.size(), node.as<Reduce>().dims, loops, index));
  return result;
}

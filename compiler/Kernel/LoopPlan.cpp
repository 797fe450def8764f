#include "compiler/Kernel/LoopPlan.h"

#include "compiler/Kernel/LoopDomain.h"
#include "compiler/Kernel/StridedView.h"

using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A value is kept in a buffer when computing it again costs more than this many additions.
static constexpr int64_t cheapAgain = 6;
/// Buffers of one row hold at most this many bytes together: they lie on the stack.
static constexpr int64_t maxBufferBytes = 256 * 1024;

static int64_t getCost(Opcode op) {
  switch (op) {
  case Opcode::Constant:
  case Opcode::Identity:
  case Opcode::Iota:
  case Opcode::Param:
  case Opcode::Broadcast:
  case Opcode::Reshape:
  case Opcode::Transpose:
  case Opcode::Slice:
  case Opcode::Reverse:
    return 0;
  case Opcode::Acos:
  case Opcode::Asin:
  case Opcode::Atan:
  case Opcode::Cos:
  case Opcode::Cosh:
  case Opcode::Erf:
  case Opcode::Exp:
  case Opcode::Log:
  case Opcode::Log1p:
  case Opcode::Pow:
  case Opcode::Rem:
  case Opcode::Sin:
  case Opcode::Sinh:
  case Opcode::Tan:
  case Opcode::Tanh:
    return 10;
  case Opcode::Div:
  case Opcode::Rsqrt:
  case Opcode::Sqrt:
  case Opcode::Gather:
  case Opcode::GatherElements:
  case Opcode::GatherNd:
    return 4;
  default:
    return 1;
  }
}

int64_t weft::kernel::countFlops(const Graph &graph) {
  int64_t flops = 0;
  for (const Node &node : graph.nodes) {
    if (isElementwise(node.op) || node.op == Opcode::Cumsum)
      flops += node.size();
    else if (node.op == Opcode::Reduce)
      flops += graph[node.operands[0]].size();
    else if (node.op == Opcode::Dot) {
      int64_t depth = 1;
      for (int64_t i = 0; i < node.ints[1]; ++i)
        depth *= graph[node.operands[0]].shape[node.ints[2 + 2 * node.ints[0] + i]];
      flops += 2 * node.size() * depth;
    }
  }
  return flops;
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
  case Opcode::Gather: {
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
  case Opcode::GatherElements:
    result = index;
    if (operand == 0)
      result[node.ints[0]] = vars.data(number, {node.operands[1], index}, read.shape[node.ints[0]]);
    return result;
  case Opcode::GatherNd: {
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
  default:
    return index;
  }
}

int64_t LoopPlan::getTiles() const {
  int64_t tiles = 1;
  for (VarId row : rows)
    tiles *= getExtent(row);
  return tiles;
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

namespace weft::kernel {

class Planner {
public:
  Planner(const Graph &graph, LoopPlan &plan) : graph(graph), plan(plan) {}

  void run(const Domain &domain) {
    setLoops(domain);
    for (auto [number, node] : llvm::enumerate(graph.outputs))
      plan.outputs.push_back(makeOutput(domain, number, node));
    for (Output &output : plan.outputs) {
      output.stage = getReady(output.element);
      plan.stages = std::max(plan.stages, output.stage + 1);
    }
    chooseBuffers();
  }

  /// Every affine expression that decides what is read, for Domain::simplify.
  std::vector<Affine> collectUses() {
    std::set<Affine> uses;
    std::set<Element> seen;
    for (const Output &output : plan.outputs) {
      uses.insert(output.address);
      collectUses(output.element, uses, seen);
    }
    for (const Reduction &reduction : plan.reductions)
      for (auto [operand, index] :
           llvm::zip(graph[reduction.element.first].operands, reduction.loops.operands))
        collectUses({operand, index}, uses, seen);
    return {uses.begin(), uses.end()};
  }

private:
  void setLoops(const Domain &domain) {
    for (int64_t extent : domain.rows)
      plan.rows.push_back(plan.vars.addLoop(extent, InRows));
    if (domain.laneTotal > 0) {
      plan.laneTotal = domain.laneTotal;
      plan.laneWidth = domain.laneWidth;
      plan.block = plan.vars.addLoop(llvm::divideCeil(domain.laneTotal, domain.laneWidth), InRows);
      plan.rows.push_back(plan.block);
    }
    for (int64_t extent : domain.inner)
      plan.inner.push_back(plan.vars.addLoop(extent, InInner));
    plan.innerDims.assign(domain.inner.begin(), domain.inner.end());
    if (domain.laneTotal > 0)
      plan.lane = plan.vars.addLoop(domain.laneWidth, InLanes);
  }

  Affine linear(ArrayRef<VarId> loops) const {
    Affine result;
    for (VarId loop : loops)
      result = result * plan.getExtent(loop) + Affine::var(loop);
    return result;
  }

  /// The position of this row (lane) among all of them.
  Affine rowPosition() const {
    if (!plan.lane)
      return linear(plan.rows);
    Affine position = linear(ArrayRef(plan.rows).drop_back()) * plan.laneTotal;
    return position + Affine::var(plan.block) * plan.laneWidth + Affine::var(*plan.lane);
  }

  Output makeOutput(const Domain &domain, unsigned number, unsigned node) {
    const Node &result = graph[node];
    Output output{number, {node, {}}, rowPosition(), true, 0};
    if (!plan.inner.empty() && result.size() != domain.rowCount()) {
      output.isRow = false;
      output.address = !domain.shape.empty()
                           ? columnAddress(domain)
                           : output.address * domain.innerCount() + linear(plan.inner);
    }
    output.element.second = plan.vars.delinearise(output.address, result.shape);
    return output;
  }

  /// The address of an element of a tensor of which `inner` are dimensions between the kept ones.
  Affine columnAddress(const Domain &domain) const {
    Affine address;
    size_t row = 0, loop = 0;
    for (auto [dim, extent] : llvm::enumerate(domain.shape)) {
      Affine value;
      if (domain.isReduced(dim))
        value = Affine::var(plan.inner[loop++]);
      else if (plan.lane && dim == domain.lastKept())
        value = Affine::var(plan.block) * plan.laneWidth + Affine::var(*plan.lane);
      else
        value = Affine::var(plan.rows[row++]);
      address = address * extent + value;
    }
    return address;
  }

  /// The first stage in which the element can be computed; plans the reductions that it needs.
  unsigned getReady(const Element &element) {
    auto it = ready.find(element);
    if (it != ready.end())
      return it->second;
    unsigned result = computeReady(element);
    ready[element] = result;
    return result;
  }

  unsigned computeReady(const Element &element) {
    auto &[number, index] = element;
    const Node &node = graph[number];
    if (node.op == Opcode::Reduce || node.op == Opcode::Dot)
      return planReduction(element);
    if (node.op >= Opcode::Cumsum)
      return 0;
    unsigned result = 0;
    for (const Element &child : getChildren(element)) {
      unsigned stage = getReady(child);
      result = std::max(result, stage);
      keepLaneValue(index, child, stage);
    }
    addChecks(element);
    return result;
  }

  unsigned planReduction(const Element &element) {
    auto &[number, index] = element;
    ReductionLoops loops = plan.getLoops(graph, number, index);
    unsigned stage = 0;
    for (auto [operand, at] : llvm::zip(graph[number].operands, loops.operands)) {
      unsigned own = getReady({operand, at});
      keepLaneValue(at, {operand, at}, own);
      stage = std::max(stage, own);
    }
    if (plan.vars.depends(index) & InInner) {
      plan.nested = true;
      return stage;
    }
    plan.reductions.push_back({element, loops, stage});
    return stage + 1;
  }

  /// With lanes, a value of a lane that comes from a reduction is computed once, not for each inner
  /// element.
  void keepLaneValue(const Index &reader, const Element &value, unsigned stage) {
    bool changes = plan.vars.depends(reader) & InInner;
    bool trivial = graph[value.first].op == Opcode::Reduce || graph[value.first].op == Opcode::Dot;
    if (!plan.lane || stage == 0 || !changes || trivial ||
        (plan.vars.depends(value.second) & InInner) || !(plan.vars.depends(value.second) & InLanes))
      return;
    if (keptLanes.insert(value).second)
      plan.laneValues.push_back({value, stage});
  }

  SmallVector<Element, 3> getChildren(const Element &element) {
    auto &[number, index] = element;
    const Node &node = graph[number];
    SmallVector<Element, 3> children;
    for (unsigned operand = 0; operand < node.operands.size(); ++operand)
      if (node.op != Opcode::GatherNd || operand == 0)
        children.push_back(
            {node.operands[operand], getOperandIndex(graph, plan.vars, number, operand, index)});
    if (node.op == Opcode::GatherNd)
      for (const Affine &value : children.front().second)
        for (auto [var, coefficient] : value.terms)
          if (plan.vars[var].kind == Var::Data && plan.vars[var].owner == number)
            children.push_back(plan.vars[var].element);
    return children;
  }

  void addChecks(const Element &element) {
    auto &[number, index] = element;
    const Node &node = graph[number];
    if (node.op == Opcode::Gather || node.op == Opcode::GatherElements) {
      addCheck(node.ints[1],
               {node.operands[1], getOperandIndex(graph, plan.vars, number, 1, index)});
    } else if (node.op == Opcode::GatherNd) {
      SmallVector<Element, 3> children = getChildren(element);
      for (auto [part, child] : llvm::enumerate(ArrayRef(children).drop_front()))
        addCheck(node.ints[1] + part, child);
    }
  }

  void addCheck(unsigned check, const Element &element) {
    if (checked.insert({check, element}).second)
      plan.checks.push_back({check, element});
  }

  //===--- Buffers ---------------------------------------------------------===//

  /// Walks stage by stage what is computed over the inner elements; what a later stage meets again
  /// is kept.
  void chooseBuffers() {
    int64_t length = plan.laneWidth;
    for (VarId loop : plan.inner)
      length *= plan.getExtent(loop);
    int64_t budget = maxBufferBytes;
    std::map<Element, unsigned> firstStage;
    for (unsigned stage = 0; stage < plan.stages; ++stage) {
      std::vector<Element> stack;
      std::set<Element> visited;
      for (const Reduction &reduction : plan.reductions)
        if (reduction.stage == stage && reduction.loops.isInner)
          stack.push_back(
              {graph[reduction.element.first].operands[0], reduction.loops.operands[0]});
      for (const Output &output : plan.outputs)
        if (output.stage == stage && !output.isRow)
          stack.push_back(output.element);
      while (!stack.empty()) {
        Element element = stack.back();
        stack.pop_back();
        if (!(plan.vars.depends(element.second) & InInner) || buffered.contains(element) ||
            !visited.insert(element).second)
          continue;
        auto [it, isNew] = firstStage.try_emplace(element, stage);
        int64_t bytes = length * getBytes(graph[element.first].type);
        if (!isNew && it->second < stage && getAgainCost(element) > cheapAgain && bytes <= budget) {
          budget -= bytes;
          buffered.insert(element);
          plan.buffers.push_back({element, it->second});
          continue;
        }
        Opcode op = graph[element.first].op;
        if (op != Opcode::Reduce && op != Opcode::Dot)
          llvm::append_range(stack, getChildren(element));
      }
    }
  }

  /// Operations to compute an element again; more than `cheapAgain` is not counted further.
  int64_t getAgainCost(const Element &element) {
    Opcode op = graph[element.first].op;
    int64_t cost = getCost(op);
    if (buffered.contains(element) || op == Opcode::Reduce || op == Opcode::Dot ||
        !(plan.vars.depends(element.second) & (InInner | InLanes)))
      return 0;
    for (const Element &child : getChildren(element)) {
      if (cost > cheapAgain)
        break;
      cost += getAgainCost(child);
    }
    return cost;
  }

  void collectUses(const Element &element, std::set<Affine> &uses, std::set<Element> &seen) {
    if (!seen.insert(element).second)
      return;
    auto &[number, index] = element;
    const Node &node = graph[number];
    auto use = [&](const Affine &value) { addUse(value, uses); };
    switch (node.op) {
    case Opcode::Input: {
      Affine address;
      for (auto [value, stride] : llvm::zip_equal(index, node.ints))
        address = address + value * stride;
      return use(address);
    }
    case Opcode::Constant:
      return node.data.size() == getBytes(node.type) ? void()
                                                     : use(plan.vars.linearise(index, node.shape));
    case Opcode::Iota:
      return use(index[node.ints[0]]);
    case Opcode::Concat:
      use(index[node.ints[0]]);
      break;
    case Opcode::Pad:
      llvm::for_each(index, use);
      break;
    case Opcode::Reduce:
    case Opcode::Dot:
      llvm::for_each(index, use);
      for (auto [operand, at] :
           llvm::zip(node.operands, plan.getLoops(graph, number, index).operands))
        collectUses({operand, at}, uses, seen);
      return;
    default:
      break;
    }
    for (const Element &child : getChildren(element))
      collectUses(child, uses, seen);
  }

  void addUse(const Affine &value, std::set<Affine> &uses) {
    if (!uses.insert(value).second)
      return;
    for (auto [id, coefficient] : value.terms)
      if (plan.vars[id].kind == Var::Quotient || plan.vars[id].kind == Var::Remainder)
        addUse(plan.vars[id].base, uses);
  }

  const Graph &graph;
  LoopPlan &plan;
  std::map<Element, unsigned> ready;
  std::set<Element> keptLanes, buffered;
  std::set<std::pair<unsigned, Element>> checked;
};

} // namespace weft::kernel

llvm::Expected<LoopPlan> LoopPlan::make(const Graph &graph) {
  llvm::Expected<Domain> domain = Domain::choose(graph);
  if (!domain)
    return domain.takeError();
  if (domain->shape.empty()) {
    LoopPlan draft;
    Planner planner(graph, draft);
    planner.run(*domain);
    domain->simplify(draft, planner.collectUses());
  }
  LoopPlan plan;
  Planner(graph, plan).run(*domain);
  return plan;
}

#include "compiler/Kernel/LoopPlan.h"

#include "compiler/Kernel/LoopDomain.h"
#include "compiler/Kernel/StridedView.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A value is kept in a buffer when computing it again costs more than this many additions.
static constexpr int64_t cheapAgain = 6;
/// Buffers of one row hold at most this many bytes together: they lie on the stack.
static constexpr int64_t maxBufferBytes = 256 * 1024;

/// Rough operations for each element of a sorted row.
static constexpr int64_t sortCost = 32;

/// What computing an element of the node costs beside its operands, in additions.
static int64_t getCost(const Node &node) {
  if (const auto *elementwise = node.get<Elementwise>())
    return elementwise->cost;
  if (node.is<Constant, Identity, Iota, Param, Broadcast, Reshape, Reverse, Slice, Transpose,
              Windows>())
    return 0;
  return node.is<Gather, GatherElements, GatherNd>() ? 4 : 1;
}

int64_t weft::kernel::countFlops(const Graph &graph) {
  int64_t flops = 0;
  for (const Node &node : graph.nodes) {
    if (const auto *elementwise = node.get<Elementwise>())
      flops += elementwise->cost * node.size();
    else if (node.is<Cumsum>())
      flops += node.size();
    else if (node.is<Sort>())
      flops += sortCost * graph.operand(node, 0).size();
    else if (node.is<Reduce>())
      flops += graph.operand(node, 0).size();
    else if (const auto *dot = node.get<Dot>()) {
      int64_t depth = 1;
      for (int64_t dim : dot->lhsContract)
        depth *= graph.operand(node, 0).shape[dim];
      flops += 2 * node.size() * depth;
    }
  }
  return flops;
}

/// How many elements of an operand make `read` elements of the node.
static int64_t countElementsRead(const Graph &graph, const Node &node, size_t operand,
                                 int64_t read) {
  int64_t all = graph[node.operands[operand]].size();
  bool passesOn = node.is<Concat, Elementwise, Pad, Reshape, Reverse, Slice, Transpose>();
  bool chooses = node.is<Gather, GatherElements, GatherNd>() && operand == 0;
  return passesOn || chooses ? std::min(all, read) : all;
}

SmallVector<int64_t> weft::kernel::countElementsRead(const Graph &graph) {
  std::vector<int64_t> read(graph.nodes.size());
  for (unsigned output : graph.outputs)
    read[output] = graph[output].size();
  for (size_t number = graph.nodes.size(); number-- > 0;) {
    const Node &node = graph.nodes[number];
    for (auto [operand, from] : llvm::enumerate(node.operands))
      read[from] = std::min(graph[from].size(),
                            read[from] + ::countElementsRead(graph, node, operand, read[number]));
  }
  SmallVector<int64_t> inputs;
  for (unsigned input : graph.inputs)
    inputs.push_back(read[input]);
  return inputs;
}

int64_t LoopPlan::getTiles() const {
  int64_t tiles = 1;
  for (VarId row : rows)
    tiles *= getExtent(row);
  return tiles;
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
      plan.lane = plan.vars.addLoop(domain.laneTotal, InLanes);
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
    return position + Affine::var(*plan.lane);
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
        value = Affine::var(*plan.lane);
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
    if (node.isReduction())
      return planReduction(element);
    if (node.isOrdered())
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
    bool trivial = graph[value.first].isReduction();
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
      if (!node.is<GatherNd>() || operand == 0)
        children.push_back(
            {node.operands[operand], getOperandIndex(graph, plan.vars, number, operand, index)});
    if (node.is<GatherNd>())
      for (const Affine &value : children.front().second)
        for (auto [var, coefficient] : value.terms)
          if (plan.vars[var].kind == Var::Data && plan.vars[var].owner == number)
            children.push_back(plan.vars[var].element);
    return children;
  }

  void addChecks(const Element &element) {
    auto &[number, index] = element;
    const Node &node = graph[number];
    auto addIndex = [&](unsigned check) {
      addCheck(check, {node.operands[1], getOperandIndex(graph, plan.vars, number, 1, index)});
    };
    if (const auto *gather = node.get<Gather>()) {
      addIndex(gather->check);
    } else if (const auto *gather = node.get<GatherElements>()) {
      addIndex(gather->check);
    } else if (const auto *gather = node.get<GatherNd>()) {
      SmallVector<Element, 3> children = getChildren(element);
      for (auto [part, child] : llvm::enumerate(ArrayRef(children).drop_front()))
        addCheck(gather->firstCheck + part, child);
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
        int64_t bytes = length * elementBytes(graph[element.first].type);
        if (!isNew && it->second < stage && getAgainCost(element) > cheapAgain && bytes <= budget) {
          budget -= bytes;
          buffered.insert(element);
          plan.buffers.push_back({element, it->second});
          continue;
        }
        if (!graph[element.first].isReduction())
          llvm::append_range(stack, getChildren(element));
      }
    }
  }

  /// Operations to compute an element again; more than `cheapAgain` is not counted further.
  int64_t getAgainCost(const Element &element) {
    const Node &node = graph[element.first];
    int64_t cost = getCost(node);
    if (buffered.contains(element) || node.isReduction() ||
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
    if (const auto *input = node.get<Input>()) {
      Affine address;
      for (auto [value, stride] : llvm::zip_equal(index, input->strides))
        address = address + value * stride;
      return use(address);
    }
    if (const auto *constant = node.get<Constant>()) {
      bool isSplat = constant->bytes.size() == static_cast<size_t>(elementBytes(node.type));
      return isSplat ? void() : use(plan.vars.linearise(index, node.shape));
    }
    if (const auto *iota = node.get<Iota>())
      return use(index[iota->dim]);
    if (const auto *concat = node.get<Concat>())
      use(index[concat->axis]);
    if (node.is<Pad>() || node.isReduction())
      llvm::for_each(index, use);
    if (node.isReduction()) {
      for (auto [operand, at] :
           llvm::zip(node.operands, plan.getLoops(graph, number, index).operands))
        collectUses({operand, at}, uses, seen);
      return;
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

llvm::Expected<LoopPlan> LoopPlan::make(const Graph &graph, KernelMachine machine) {
  llvm::Expected<Domain> domain = Domain::choose(graph, machine);
  if (!domain)
    return domain.takeError();
  if (domain->shape.empty()) {
    LoopPlan draft;
    Planner planner(graph, draft);
    planner.run(*domain);
    domain->simplify(draft, planner.collectUses());
  }
  LoopPlan plan;
  plan.team = domain->chooseTeam();
  Planner(graph, plan).run(*domain);
  return plan;
}

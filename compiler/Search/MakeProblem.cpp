#include "compiler/Search/MakeProblem.h"

#include "compiler/Kernel/FusionGroups.h"
#include "compiler/Search/ProgramWork.h"
#include "compiler/Sharding/BackwardPass.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/WeightView.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

namespace {
/// Fills in what a function's operations say.
class ProblemMaker {
public:
  explicit ProblemMaker(const PlannedPart &part)
      : part(part), function(*part.function), graph(function.graph) {
    problem.graph = &graph;
  }

  ShardingProblem make();
  std::vector<uint64_t> listKinds();

private:
  void addKinds();
  void addWork();
  void addPlaceless();
  bool isNextState(Value value) const;
  void addEager();
  void addFreeReads();
  void addRequired();
  void tellPinsApart();
  void addFreeNodes();
  void addStates();
  void addBrought();
  llvm::SmallVector<unsigned, 2> listReads(unsigned load) const;
  void addKept();
  std::vector<bool> findPutOff() const;
  void addReadLate();
  void addShared();
  void addReaders();
  void addEnds();

  const PlannedPart &part;
  const FunctionGraph &function;
  const ShardingGraph &graph;
  ShardingProblem problem;
  std::vector<bool> isView;   ///< by node: of a weight, without arithmetic
  std::vector<bool> isChange; ///< by node: only what changes states comes of it
};
} // namespace

/// What makes operations equal, as far as they themselves go: not which weight they load or store.
static uint64_t hashKind(Operation &op) {
  llvm::hash_code hash = llvm::hash_combine(
      op.getName(), isa<LoadOp, StoreOp>(op) ? llvm::hash_code(0) : op.hashProperties());
  for (Type type : llvm::concat<Type>(SmallVector<Type>(op.getOperandTypes()),
                                      SmallVector<Type>(op.getResultTypes())))
    hash = llvm::hash_combine(hash, type);
  return hash;
}

static int64_t getElements(const ShardingGraph &graph, unsigned tensor) {
  return graph.tensors[tensor].bytes() / graph.tensors[tensor].elementBytes;
}

void ProblemMaker::addKinds() {
  for (Operation *op : function.operations)
    problem.kinds.push_back(hashKind(*op));
}

void ProblemMaker::addWork() {
  problem.work = listWork(part.main, function);
  for (Operation *op : function.operations) {
    problem.isSum.push_back(isa<dist::AccumulateOp>(op));
    problem.isBarrier.push_back(isa<BarrierOp>(op));
  }
}

/// What kernels make where they read it, and next states.
void ProblemMaker::addPlaceless() {
  func::FuncOp main = part.main;
  FusionGroups groups(main.getBody().front(), *findTarget(cpuTarget));
  llvm::DenseSet<Value> held;
  for (const FusionUnit &unit : groups.units)
    held.insert(unit.outputs.begin(), unit.outputs.end());
  for (Value value : function.values)
    problem.isPlaceless.push_back(value.getDefiningOp() &&
                                  (!held.contains(value) || isNextState(value)));
}

/// Whether a value is made to be a state's next one, of which there is a value before.
bool ProblemMaker::isNextState(Value value) const {
  return !value.getDefiningOp<LoadOp>() && llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto store = dyn_cast<StoreOp>(user);
    auto state = store ? function.states.find(store.getWeight()) : function.states.end();
    return state != function.states.end() && llvm::any_of(state->second, [&](unsigned tensor) {
             return isa_and_nonnull<LoadOp>(function.values[tensor].getDefiningOp());
           });
  });
}

/// Weights that do not change, views of them, and what is built where it is used.
void ProblemMaker::addFreeReads() {
  llvm::DenseMap<Value, WeightView> views;
  problem.isReadFreely.assign(graph.tensors.size(), false);
  auto isFixed = [&](const WeightView &view) {
    return !function.states.contains(view.weight.getValue());
  };
  for (auto [tensor, value] : llvm::enumerate(function.values))
    if (auto load = value.getDefiningOp<LoadOp>())
      views[value] =
          WeightView::whole(load.getWeightAttr(), cast<ShapedType>(load.getType()).getShape());
  for (auto [op, node] : llvm::zip_equal(function.operations, graph.nodes)) {
    bool isSource = node.operands.empty() && node.results.size() == 1;
    auto from = op->getNumOperands() == 1 ? views.find(op->getOperand(0)) : views.end();
    std::optional<WeightView> view = from == views.end() ? std::nullopt : from->second.through(op);
    isView.push_back(view.has_value());
    if (isSource || (view && isFixed(*view)))
      problem.isReadFreely[node.results.front()] = true;
    if (view)
      views[op->getResult(0)] = std::move(*view);
  }
}

/// What people decided of weights that do not change holds for all that reads them, through views
/// as far as it can be seen there.
void ProblemMaker::addRequired() {
  problem.required.assign(graph.tensors.size(), std::nullopt);
  llvm::StringMap<dist::ShardingAttr> storage;
  ModuleOp module = part.module;
  for (auto weight : module.getOps<WeightOp>())
    storage[weight.getSymName()] = dist::getStorageSharding(weight, part.mesh.name);
  for (auto [tensor, value] : llvm::enumerate(function.values)) {
    auto load = value.getDefiningOp<LoadOp>();
    if (!problem.isReadFreely[tensor] || !load)
      continue;
    dist::ShardingAttr attr = storage.lookup(load.getWeight());
    std::optional<TensorSharding> &own = problem.required[tensor];
    if (problem.pinned[tensor])
      own = problem.pinned[tensor];
    else if (attr)
      own = fromAttr(attr, part.mesh);
    if (own && llvm::is_contained(function.parameters.lookup(load.getWeight()), tensor))
      for (AxisList &dim : own->dims) // gathered where it is computed with
        dim = headWithout(dim, graph.batchAxes);
  }
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    if (node.results.size() != 1 || !problem.isReadFreely[node.results.front()])
      continue;
    std::optional<TensorSharding> &own = problem.required[node.results.front()];
    if (problem.pinned[node.results.front()]) {
      own = problem.pinned[node.results.front()];
    } else if (node.operands.size() == 1 && problem.required[node.operands.front()]) {
      own = seeThrough(function.operations[index], node.rule,
                       *problem.required[node.operands.front()]);
      if (!own && !problem.hides)
        problem.hides = index;
    }
  }
}

/// Equal operations are not split alike where people decided otherwise of one.
void ProblemMaker::tellPinsApart() {
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    const std::optional<TensorSharding> &form =
        problem.required[tensor] ? problem.required[tensor] : problem.pinned[tensor];
    const std::optional<TensorSharding> &left = problem.left[tensor];
    if (!form && !left)
      continue;
    uint64_t pin =
        llvm::hash_combine(form ? str(part.mesh, *form) : "", left ? str(part.mesh, *left) : "");
    auto mark = [&](unsigned node) {
      problem.kinds[node] = llvm::hash_combine(problem.kinds[node], pin);
    };
    if (graph.tensors[tensor].producer != ShardingGraph::none)
      mark(graph.tensors[tensor].producer);
    llvm::for_each(graph.tensors[tensor].users, mark);
  }
}

/// What only stores come of, an optimizer's arithmetic, and what is computed of parameters alone
/// before it is used, as they are in another type: tensors without batch. A view computes nothing
/// that could be done in parts. What has no batch goes beside what has one.
void ProblemMaker::addFreeNodes() {
  BatchDimensions batch(graph);
  if (!function.parameters.empty() && batch.size() > 0)
    for (const llvm::BitVector &dims : batch.all())
      problem.isBeside.push_back(dims.none());
  problem.isFree.assign(graph.nodes.size(), false);
  isChange.assign(graph.nodes.size(), false);
  std::vector<bool> isStored(graph.tensors.size(), false);
  for (size_t index = graph.nodes.size(); index-- > 0;) {
    const ShardingGraph::Node &node = graph.nodes[index];
    bool hasBatch = llvm::any_of(graph.tensorsOf(node),
                                 [&](unsigned tensor) { return batch.all()[tensor].any(); });
    bool ends = llvm::all_of(node.results, [&](unsigned tensor) { return isStored[tensor]; });
    bool isOfWeights = !isView[index] && llvm::all_of(graph.tensorsOf(node), [&](unsigned tensor) {
      return graph.tensors[tensor].weight;
    });
    if (hasBatch || !(ends || isOfWeights) || function.parameters.empty())
      continue;
    problem.isFree[index] = true;
    isChange[index] = ends;
    if (!ends)
      continue;
    for (unsigned operand : node.operands)
      isStored[operand] = true;
  }
}

/// Sums over microbatches, and, of a step of one, what changes states: a gradient is gone when its
/// parameter is updated. Behind a sum it waits for the last microbatch.
void ProblemMaker::addEager() {
  std::vector<bool> waits(graph.tensors.size(), false);
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    bool isBehind = problem.isSum[index] ||
                    llvm::any_of(node.operands, [&](unsigned operand) { return waits[operand]; });
    for (unsigned result : node.results)
      waits[result] = isBehind;
    problem.isEager.push_back(problem.isSum[index] || (isChange[index] && !isBehind));
  }
}

/// In the order of their loads: names say nothing.
void ProblemMaker::addStates() {
  llvm::StringSet<> onHost;
  ModuleOp module = part.module;
  for (auto weight : module.getOps<WeightOp>())
    if (weight.getSpace() == MemorySpace::Host)
      onHost.insert(weight.getSymName());
  std::vector<std::pair<llvm::SmallVector<unsigned, 2>, bool>> states;
  for (const auto &[symbol, tensors] : function.states) {
    auto &[loads, isOnHost] = states.emplace_back();
    loads = function.parameters.lookup(symbol);
    for (unsigned tensor : tensors)
      if (function.values[tensor].getDefiningOp<LoadOp>())
        loads.push_back(tensor);
    isOnHost = onHost.contains(symbol);
  }
  llvm::sort(states);
  for (auto &[loads, isOnHost] : states) {
    problem.states.push_back(std::move(loads));
    problem.isOnHost.push_back(isOnHost);
  }
}

/// The passes' reads of each state.
void ProblemMaker::addBrought() {
  BackwardPass backward(part.main);
  for (ArrayRef<unsigned> loads : problem.states) {
    llvm::SmallVector<unsigned, 2> passes[2];
    for (unsigned load : loads)
      passes[backward.reads(function.values[load].getDefiningOp())].push_back(load);
    for (llvm::SmallVector<unsigned, 2> &pass : passes)
      if (!pass.empty())
        problem.brought.push_back(std::move(pass));
  }
}

/// What the backward pass reads of the forward pass, or views of it: neither inputs nor weights.
void ProblemMaker::addKept() {
  Operation *loss = BackwardPass(part.main).getLoss();
  if (!loss)
    return;
  auto isBehind = [&](Operation *op) { return loss->isBeforeInBlock(op); };
  std::vector<bool> isRead; // by the backward pass
  for (Value value : function.values)
    isRead.push_back(llvm::any_of(value.getUsers(), isBehind));
  problem.isKept.assign(graph.tensors.size(), false);
  for (size_t index = graph.nodes.size(); index-- > 0;) {
    const ShardingGraph::Node &node = graph.nodes[index];
    for (unsigned result : node.results) {
      bool isMade = !node.operands.empty() && !problem.isReadFreely[result] &&
                    !problem.isPlaceless[result] && !isBehind(function.operations[index]);
      problem.isKept[result] = isMade && isRead[result];
      if (node.view && isRead[result])
        isRead[node.operands.front()] = true;
    }
  }
}

/// By node: whether it may be put off, as gradients of weights are: products of which only sums
/// over microbatches come, and what only they need (StagePhases::putOffWeights).
std::vector<bool> ProblemMaker::findPutOff() const {
  std::vector<bool> isLate(graph.nodes.size()), hasProduct(graph.nodes.size());
  auto find = [&](auto goesOn) {
    for (size_t index = graph.nodes.size(); index-- > 0;) {
      const ShardingGraph::Node &node = graph.nodes[index];
      isLate[index] =
          !problem.isSum[index] && !node.results.empty() &&
          llvm::all_of(node.results, [&](unsigned tensor) {
            ArrayRef<unsigned> users = graph.tensors[tensor].users;
            return !problem.isReturned[tensor] && !users.empty() && llvm::all_of(users, goesOn);
          });
    }
  };
  find([&](unsigned user) { return problem.isSum[user] || isLate[user]; });
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    auto comesOfOne = [&](unsigned operand) {
      unsigned producer = graph.tensors[operand].producer;
      return producer != ShardingGraph::none && isLate[producer] && hasProduct[producer];
    };
    hasProduct[index] =
        (isLate[index] && node.rule.contracts()) || llvm::any_of(node.operands, comesOfOne);
  }
  find([&](unsigned user) { return problem.isSum[user] ? hasProduct[user] : isLate[user]; });
  return isLate;
}

/// What the backward pass makes and what is put off reads, or views of it.
void ProblemMaker::addReadLate() {
  Operation *loss = BackwardPass(part.main).getLoss();
  if (!loss)
    return;
  std::vector<bool> isLate = findPutOff(), isRead(graph.tensors.size(), false);
  problem.isReadLate.assign(graph.tensors.size(), false);
  for (size_t index = graph.nodes.size(); index-- > 0;) {
    const ShardingGraph::Node &node = graph.nodes[index];
    bool isMade = !isLate[index] && !node.operands.empty() &&
                  loss->isBeforeInBlock(function.operations[index]);
    for (unsigned result : node.results)
      problem.isReadLate[result] =
          isMade && isRead[result] && !problem.isReadFreely[result] && !problem.isPlaceless[result];
    bool isSeen = node.view && isRead[node.results.front()];
    for (unsigned operand : node.operands)
      if (isLate[index] || isSeen)
        isRead[operand] = true;
  }
}

/// The tensors, a load and views of it, as which operations read all of a weight.
llvm::SmallVector<unsigned, 2> ProblemMaker::listReads(unsigned load) const {
  llvm::SmallVector<unsigned, 2> read, stack{load};
  while (!stack.empty()) {
    unsigned tensor = stack.pop_back_val();
    if (getElements(graph, tensor) != getElements(graph, load))
      continue;
    for (unsigned user : graph.tensors[tensor].users)
      for (unsigned result : graph.nodes[user].results)
        if (problem.isReadFreely[result])
          stack.push_back(result);
        else if (!llvm::is_contained(read, tensor))
          read.push_back(tensor);
  }
  return read;
}

/// Weights that several operations read whole, as a table and as a head.
void ProblemMaker::addShared() {
  for (const auto &[symbol, loads] : part.loads) {
    llvm::SmallVector<unsigned, 2> read;
    unsigned users = 0;
    for (unsigned load : loads)
      if (problem.isReadFreely[load])
        llvm::append_range(read, listReads(load));
    for (unsigned tensor : read)
      users += graph.tensors[tensor].users.size();
    if (users > 1)
      problem.shared.push_back(std::move(read));
  }
}

/// How often each weight is read: for one pass and the other, and for each of its slices.
void ProblemMaker::addReaders() {
  problem.readers.assign(graph.tensors.size(), 1);
  for (const auto &[symbol, loads] : part.loads) {
    llvm::SmallVector<unsigned, 4> shown;
    for (unsigned load : loads)
      if (problem.isReadFreely[load])
        shown.push_back(load);
    unsigned readers = 0;
    for (size_t next = 0; next < shown.size(); ++next)
      for (unsigned user : graph.tensors[shown[next]].users)
        if (isView[user] && problem.isReadFreely[graph.nodes[user].results.front()])
          shown.push_back(graph.nodes[user].results.front());
        else
          ++readers;
    for (unsigned tensor : shown)
      problem.readers[tensor] = std::max(readers, 1u);
  }
}

/// What is returned, and what people decided.
void ProblemMaker::addEnds() {
  problem.isReturned.assign(graph.tensors.size(), false);
  func::FuncOp main = part.main;
  problem.left.resize(graph.tensors.size());
  for (OpOperand &end : main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned tensor = function.tensors.lookup(end.get());
    problem.isReturned[tensor] = true;
    if (auto attr = main.getResultAttrOfType<dist::ShardingAttr>(end.getOperandNumber(),
                                                                 dist::kShardingAttr))
      problem.left[tensor] = fromAttr(attr, part.mesh);
  }
  for (auto [tensor, value] : llvm::enumerate(function.values)) {
    bool isPinned = part.shardings->isPinned(tensor);
    problem.pinned.push_back(isPinned ? std::optional(part.shardings->get(tensor)) : std::nullopt);
    auto sum = value.getDefiningOp<dist::AccumulateOp>();
    problem.isMadeSo.push_back(sum && sum->hasAttr(dist::kShardingAttr));
  }
}

ShardingProblem ProblemMaker::make() {
  addKinds();
  addWork();
  addPlaceless();
  addFreeReads();
  addFreeNodes();
  addEager();
  addStates();
  addBrought();
  addKept();
  addShared();
  addReaders();
  addEnds();
  addReadLate();
  addRequired();
  tellPinsApart();
  for (unsigned tensor = 0; function.parameters.empty() && tensor < graph.tensors.size(); ++tensor)
    problem.pins.push_back(problem.required[tensor] ? problem.required[tensor]
                                                    : problem.pinned[tensor]);
  return std::move(problem);
}

std::vector<uint64_t> ProblemMaker::listKinds() {
  addKinds();
  addFreeReads();
  addEnds();
  addRequired();
  tellPinsApart();
  return std::move(problem.kinds);
}

ShardingProblem weft::makeProblem(const PlannedPart &part) { return ProblemMaker(part).make(); }

std::vector<uint64_t> weft::listKinds(const PlannedPart &part) {
  return ProblemMaker(part).listKinds();
}

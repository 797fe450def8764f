#include "compiler/Search/StrategyGraph.h"

#include "compiler/Search/FoldNodes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>
#include <map>

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The solver counts in picoseconds.
static constexpr double unitsPerSecond = 1e12;
/// What holding a byte costs beside moving it: next to nothing, so that of equal answers the one of
/// less memory is taken.
static constexpr double holdingShare = 1e-3;
/// How far around an operation another one must look the same to be split alike, and the number of
/// operations from which on that is looked for.
static constexpr unsigned foldingSteps = 8, foldingFrom = 400;

static int64_t toUnits(double seconds) {
  return std::isfinite(seconds) ? std::llround(seconds * unitsPerSecond) : solver::forbidden;
}

static int64_t addUnits(int64_t a, int64_t b) {
  return a >= solver::forbidden || b >= solver::forbidden ? solver::forbidden : a + b;
}

namespace {
/// What is chosen at once: of each strategy its price, and the forms of the tensors it touches.
struct Variable {
  std::vector<double> seconds;              ///< by strategy
  std::vector<std::vector<unsigned>> forms; ///< by slot, then strategy
  std::vector<OperationSplit> splits;       ///< by strategy, of operations
  std::vector<double> held;                 ///< by strategy: B where most is held
};

/// A tensor as one variable makes or takes it.
struct Slot {
  unsigned variable = 0, slot = 0;
  auto operator<=>(const Slot &) const = default;
};

class Searcher {
public:
  Searcher(const ShardingProblem &problem, MeshPrices &prices, const SearchOptions &options)
      : problem(problem), graph(*problem.graph), prices(prices), options(options),
        strategies(graph, prices.getMesh(), problem.isFree) {}

  ShardingAnswer run();

private:
  FormTable &tableOf(unsigned tensor) {
    return tables.of(graph.tensors[tensor].shape, graph.tensors[tensor].elementBytes);
  }
  void fold();
  void addOperations();
  Variable makeOperation(unsigned node, double times);
  double getSeconds(unsigned node, const OperationSplit &split) const;
  std::optional<FactorAxes> getRequired(const ShardingGraph::Node &node) const;
  double getCutSeconds(unsigned tensor, const TensorSharding &form);
  unsigned addTensor(unsigned tensor, std::vector<unsigned> forms);
  std::vector<unsigned> listForms(unsigned tensor, bool isStorage);
  std::vector<unsigned> listPassed(unsigned tensor);
  void addLeaves();
  void addStates();
  void addKept();
  void addReturned();
  unsigned countUses(unsigned tensor) const;
  bool isLeaf(unsigned tensor) const;
  std::optional<Slot> makerOf(unsigned tensor) const;
  void link(Slot maker, Slot taker, unsigned tensor, double times);
  void linkNode(unsigned node);

  void findPeak();
  void addHeld();
  void hold(Slot slot, unsigned tensor, double count);
  bool mayFit() const;
  solver::Instance makeInstance();
  void addEdges(solver::Instance &instance, std::vector<std::vector<int64_t>> &costs);
  void addLink(const Slot &maker, const Slot &taker, unsigned tensor, double times,
               std::vector<int64_t> &table, bool isOwn);
  ShardingAnswer read(const solver::Result &result) const;

  const ShardingProblem &problem;
  const ShardingGraph &graph;
  MeshPrices &prices;
  const SearchOptions &options;
  Strategies strategies;
  FormTables tables;

  std::optional<unsigned> stuck;        ///< a node that has no strategy
  std::vector<unsigned> classes;        ///< of nodes
  std::vector<unsigned> operationOf;    ///< variables, by class
  std::vector<std::optional<Slot>> own; ///< by tensor: who makes it
  std::vector<std::optional<Slot>> kept, returned, stored;
  std::map<Slot, unsigned> keptOf, returnedOf; ///< variables, by maker
  std::vector<Variable> variables;
  std::vector<bool> isLive; ///< by tensor: where the whole program holds most
  /// A tensor between two slots, and how often a step.
  std::map<std::pair<Slot, Slot>, std::pair<unsigned, double>> links;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Searcher::fold() {
  if (options.folds && graph.nodes.size() >= foldingFrom) {
    classes = foldNodes(graph, problem.kinds, foldingSteps);
    return;
  }
  classes.resize(graph.nodes.size());
  for (unsigned node = 0; node < classes.size(); ++node)
    classes[node] = node;
}

/// Seconds of one shard, and of holding what it makes and reads of weights.
double Searcher::getSeconds(unsigned index, const OperationSplit &split) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  double held = 0;
  for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
    if (position >= node.operands.size() || problem.isReadFreely[tensor])
      held += getBlockBytes(graph, node, position, split.axes);
  return getShardSeconds(graph, node, problem.work[index], split.axes, prices.getDevice(),
                         prices.getConstants()) +
         holdingShare * held / prices.getDevice().copy;
}

/// Seconds to cut what an operation without operands makes, where its rule does not split so: it is
/// made whole.
double Searcher::getCutSeconds(unsigned tensor, const TensorSharding &form) {
  unsigned producer = graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none || !graph.nodes[producer].operands.empty() ||
      graph.tensors[tensor].weight || form.isReplicated() ||
      splitSource(graph.nodes[producer].rule, form))
    return 0;
  FormTable &forms = tableOf(tensor);
  unsigned whole = forms.add(TensorSharding::replicated(form.dims.size()));
  return forms.getSeconds(whole, forms.add(form), prices);
}

/// The axes of factors that follow from how operands must be read; none where they exclude each
/// other.
std::optional<FactorAxes> Searcher::getRequired(const ShardingGraph::Node &node) const {
  FactorAxes given(node.rule.factors.size());
  for (auto [index, tensor] : llvm::enumerate(node.operands)) {
    if (!problem.required[tensor])
      continue;
    ToFactors read =
        projectToFactors(node.rule, node.rule.operands[index], *problem.required[tensor]);
    if (!read.exact)
      return std::nullopt;
    for (auto [axes, more] : llvm::zip_equal(given, read.axes)) {
      if (!rest(more, axes) && !rest(axes, more))
        return std::nullopt;
      axes = more.size() > axes.size() ? more : axes;
    }
  }
  return given;
}

Variable Searcher::makeOperation(unsigned index, double times) {
  const ShardingGraph::Node &node = graph.nodes[index];
  Variable variable;
  if (std::optional<FactorAxes> given = getRequired(node))
    variable.splits = strategies.list(index, *given);
  if (variable.splits.empty() && !stuck)
    stuck = index;
  variable.forms.resize(node.operands.size() + node.results.size());
  for (const OperationSplit &split : variable.splits) {
    double seconds = getSeconds(index, split);
    for (auto [slot, tensor] : llvm::enumerate(node.operands))
      seconds += getCutSeconds(tensor, getOperandForm(node.rule, slot, split));
    variable.seconds.push_back(times * seconds);
    for (auto [slot, tensor] : llvm::enumerate(graph.tensorsOf(node)))
      variable.forms[slot].push_back(
          tableOf(tensor).add(slot < node.operands.size()
                                  ? getOperandForm(node.rule, slot, split)
                                  : getResultForm(node.rule, slot - node.operands.size(), split)));
  }
  return variable;
}

void Searcher::addOperations() {
  std::vector<unsigned> first;
  std::vector<double> times;
  for (auto [node, number] : llvm::enumerate(classes)) {
    if (number == first.size()) {
      first.push_back(node);
      times.push_back(0);
    }
    times[number] += static_cast<double>(problem.work[node].times);
  }
  operationOf.assign(first.size(), ShardingGraph::none);
  for (auto [number, node] : llvm::enumerate(first)) {
    bool isFree = llvm::all_of(graph.nodes[node].results, [&](unsigned tensor) {
      return problem.isReadFreely[tensor] || isLeaf(tensor);
    });
    if (isFree) // stores, loads, and what is built where it is used
      continue;
    operationOf[number] = variables.size();
    variables.push_back(makeOperation(node, times[number]));
  }
  own.resize(graph.tensors.size());
  for (auto [node, number] : llvm::enumerate(classes))
    for (auto [result, tensor] : llvm::enumerate(graph.nodes[node].results))
      if (operationOf[number] != ShardingGraph::none)
        own[tensor] = Slot{operationOf[number],
                           static_cast<unsigned>(graph.nodes[node].operands.size() + result)};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Whether nothing computes the tensor: inputs, and what is loaded.
bool Searcher::isLeaf(unsigned tensor) const {
  unsigned producer = graph.tensors[tensor].producer;
  return producer == ShardingGraph::none || graph.nodes[producer].operands.empty();
}

unsigned Searcher::addTensor(unsigned tensor, std::vector<unsigned> forms) {
  Variable variable;
  for (unsigned form : forms)
    variable.seconds.push_back(holdingShare * tableOf(tensor).getBytes(form) /
                               prices.getDevice().copy);
  variable.forms = {std::move(forms)};
  variables.push_back(std::move(variable));
  return variables.size() - 1;
}

std::vector<unsigned> Searcher::listForms(unsigned tensor, bool isStorage) {
  if (problem.pinned[tensor])
    return {tableOf(tensor).add(*problem.pinned[tensor])};
  std::vector<unsigned> forms;
  for (const TensorSharding &form : strategies.listForms(tensor, isStorage))
    forms.push_back(tableOf(tensor).add(form));
  return forms;
}

/// Inputs.
void Searcher::addLeaves() {
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor)
    if (graph.tensors[tensor].input)
      own[tensor] = Slot{addTensor(tensor, listForms(tensor, /*isStorage=*/false)), 0};
}

/// States of equal layers are stored alike: of those whose readers are the same.
void Searcher::addStates() {
  stored.resize(graph.tensors.size());
  std::map<std::vector<unsigned>, unsigned> known;
  for (ArrayRef<unsigned> loads : problem.states) {
    if (loads.empty())
      continue;
    std::vector<unsigned> key;
    for (unsigned load : loads)
      for (unsigned user : graph.tensors[load].users)
        key.push_back(classes[user]);
    auto [entry, isNew] = known.try_emplace(key, variables.size());
    const unsigned *pin =
        llvm::find_if(loads, [&](unsigned load) { return problem.pinned[load].has_value(); });
    if (unsigned shown = pin == loads.end() ? loads.front() : *pin; isNew)
      addTensor(shown, listForms(shown, /*isStorage=*/true));
    for (unsigned load : loads)
      own[load] = stored[load] = Slot{entry->second, 0};
  }
}

unsigned Searcher::countUses(unsigned tensor) const {
  unsigned uses = problem.isReturned[tensor];
  for (unsigned user : graph.tensors[tensor].users)
    uses += llvm::count(graph.nodes[user].operands, tensor);
  return uses;
}

/// The forms in which a value is made or taken.
std::vector<unsigned> Searcher::listPassed(unsigned tensor) {
  if (problem.pinned[tensor])
    return {tableOf(tensor).add(*problem.pinned[tensor])};
  std::vector<unsigned> forms;
  auto addSlot = [&](unsigned variable, unsigned slot) {
    llvm::append_range(forms, variables[variable].forms[slot]);
  };
  addSlot(own[tensor]->variable, own[tensor]->slot);
  for (unsigned user : graph.tensors[tensor].users)
    for (auto [slot, operand] : llvm::enumerate(graph.nodes[user].operands))
      if (operand == tensor && operationOf[classes[user]] != ShardingGraph::none)
        addSlot(operationOf[classes[user]], slot);
  llvm::sort(forms);
  forms.erase(llvm::unique(forms), forms.end());
  return forms;
}

/// Values that several operations use.
void Searcher::addKept() {
  kept.resize(graph.tensors.size());
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    bool isMade = own[tensor] && !isLeaf(tensor);
    if (!isMade || (countUses(tensor) < 2 && !problem.pinned[tensor]))
      continue;
    auto [entry, isNew] = keptOf.try_emplace(*own[tensor], variables.size());
    if (isNew)
      addTensor(tensor, listPassed(tensor));
    kept[tensor] = Slot{entry->second, 0};
  }
}

/// Results are whole sums.
void Searcher::addReturned() {
  returned.resize(graph.tensors.size());
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    if (!problem.isReturned[tensor] || !own[tensor] || isLeaf(tensor))
      continue;
    auto [entry, isNew] = returnedOf.try_emplace(*makerOf(tensor), variables.size());
    if (isNew) {
      std::vector<unsigned> forms = listPassed(tensor);
      llvm::erase_if(forms,
                     [&](unsigned form) { return !tableOf(tensor).get(form).partial.empty(); });
      if (forms.empty())
        forms.push_back(
            tableOf(tensor).add(TensorSharding::replicated(graph.tensors[tensor].shape.size())));
      addTensor(tensor, std::move(forms));
    }
    returned[tensor] = Slot{entry->second, 0};
  }
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

/// The variable from which users take a tensor; none of what they read as they want it.
std::optional<Slot> Searcher::makerOf(unsigned tensor) const {
  return kept[tensor] ? kept[tensor] : own[tensor];
}

void Searcher::link(Slot maker, Slot taker, unsigned tensor, double times) {
  auto [entry, isNew] = links.try_emplace({maker, taker}, tensor, 0);
  entry->second.second += times;
}

void Searcher::linkNode(unsigned index) {
  const ShardingGraph::Node &node = graph.nodes[index];
  auto times = static_cast<double>(problem.work[index].times);
  if (node.results.empty()) { // a store: the loads, then what is stored
    std::optional<Slot> maker = makerOf(node.operands.back()),
                        place = stored[node.operands.front()];
    if (maker && place && node.operands.size() > 1)
      link(*maker, *place, node.operands.back(), times);
    return;
  }
  unsigned variable = operationOf[classes[index]];
  if (variable == ShardingGraph::none)
    return;
  for (auto [slot, operand] : llvm::enumerate(node.operands))
    if (std::optional<Slot> maker = makerOf(operand))
      link(*maker, {variable, static_cast<unsigned>(slot)}, operand, times);
  for (auto [result, tensor] : llvm::enumerate(node.results)) {
    if (kept[tensor])
      link(*own[tensor], *kept[tensor], tensor, times);
    if (returned[tensor])
      link(*makerOf(tensor), *returned[tensor], tensor, times);
  }
}

/// Adds the prices of the ways between two slots to a table, row-major over the maker's strategies,
/// or, within one variable, to its strategies' costs.
void Searcher::addLink(const Slot &maker, const Slot &taker, unsigned tensor, double times,
                       std::vector<int64_t> &table, bool isOwn) {
  FormTable &forms = tableOf(tensor);
  ArrayRef<unsigned> from = variables[maker.variable].forms[maker.slot];
  ArrayRef<unsigned> to = variables[taker.variable].forms[taker.slot];
  auto price = [&](unsigned a, unsigned b) {
    double seconds = forms.getSeconds(a, b, prices);
    return std::isfinite(seconds) ? toUnits(times * seconds) : solver::forbidden;
  };
  if (isOwn) {
    for (unsigned strategy = 0; strategy < table.size(); ++strategy)
      table[strategy] = addUnits(table[strategy], price(from[strategy], to[strategy]));
    return;
  }
  for (unsigned row = 0; row < from.size(); ++row)
    for (unsigned column = 0; column < to.size(); ++column) {
      int64_t &entry = table[row * to.size() + column];
      entry = addUnits(entry, price(from[row], to[column]));
    }
}

void Searcher::addEdges(solver::Instance &instance, std::vector<std::vector<int64_t>> &costs) {
  std::map<std::pair<unsigned, unsigned>, std::vector<int64_t>> edges;
  for (const auto &[ends, carried] : links) {
    const auto &[maker, taker] = ends;
    if (maker.variable == taker.variable) {
      addLink(maker, taker, carried.first, carried.second, costs[maker.variable], /*isOwn=*/true);
      continue;
    }
    std::vector<int64_t> &table = edges[{maker.variable, taker.variable}];
    table.resize(variables[maker.variable].seconds.size() *
                 variables[taker.variable].seconds.size());
    addLink(maker, taker, carried.first, carried.second, table, /*isOwn=*/false);
  }
  for (auto &[ends, table] : edges) {
    instance.edges.values.insert(instance.edges.values.end(), {ends.first, ends.second});
    instance.edges.close();
    for (int64_t cost : table)
      instance.edgeCosts.values.push_back(options.leastMemory && cost < solver::forbidden ? 0
                                                                                          : cost);
    instance.edgeCosts.close();
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The tensors that are there when most is, were nothing split.
void Searcher::findPeak() {
  size_t end = graph.nodes.size();
  auto begins = [&](unsigned tensor) {
    return isLeaf(tensor) ? 0 : static_cast<size_t>(graph.tensors[tensor].producer);
  };
  auto ends = [&](unsigned tensor) { // the node that reads it last
    ArrayRef<unsigned> users = graph.tensors[tensor].users;
    return problem.isReturned[tensor] ? end : users.empty() ? begins(tensor) : users.back();
  };
  std::vector<double> change(end + 2);
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    auto bytes = static_cast<double>(graph.tensors[tensor].bytes());
    change[begins(tensor)] += bytes;
    change[ends(tensor) + 1] -= bytes;
  }
  size_t peak = 0;
  double live = 0, most = 0;
  for (size_t node = 0; node < end; ++node) {
    live += change[node];
    if (live > most) {
      most = live;
      peak = node;
    }
  }
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor)
    isLive.push_back(begins(tensor) <= peak && peak <= ends(tensor));
}

/// Adds so many tensors like this one to what a variable holds.
void Searcher::hold(Slot slot, unsigned tensor, double count) {
  Variable &variable = variables[slot.variable];
  FormTable &table = tableOf(tensor);
  for (auto [held, form] : llvm::zip_equal(variable.held, variable.forms[slot.slot]))
    held += count * table.getBytes(form);
}

void Searcher::addHeld() {
  findPeak();
  for (Variable &variable : variables)
    variable.held.assign(variable.seconds.size(), 0);
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    unsigned variable = operationOf[classes[index]];
    if (variable == ShardingGraph::none)
      continue;
    for (auto [slot, operand] : llvm::enumerate(node.operands))
      if (problem.isReadFreely[operand] && graph.tensors[operand].weight)
        hold({variable, static_cast<unsigned>(slot)}, operand, 1);
    for (unsigned result : node.results)
      if (isLive[result] && !node.view)
        hold(*makerOf(result), result, 1);
  }
  for (ArrayRef<unsigned> loads : problem.states)
    if (!loads.empty())
      hold(*own[loads.front()], loads.front(), 1);
}

/// Whether the memory would do, if each variable alone held its least.
bool Searcher::mayFit() const {
  double least = 0;
  for (const Variable &variable : variables)
    least += *llvm::min_element(variable.held);
  return options.memoryLimit <= 0 || least <= options.memoryLimit;
}

solver::Instance Searcher::makeInstance() {
  solver::Instance instance;
  std::vector<std::vector<int64_t>> costs;
  for (const Variable &variable : variables) {
    std::vector<int64_t> &own = costs.emplace_back();
    llvm::transform(variable.seconds, std::back_inserter(own), toUnits);
  }
  addEdges(instance, costs);
  for (auto [own, variable] : llvm::zip_equal(costs, variables)) {
    for (auto [cost, held] : llvm::zip_equal(own, variable.held)) {
      bool isAllowed = cost < solver::forbidden;
      instance.costs.values.push_back(options.leastMemory && isAllowed ? static_cast<int64_t>(held)
                                                                       : cost);
      instance.usages.values.push_back(static_cast<int64_t>(held));
    }
    instance.costs.close();
    instance.usages.close();
    instance.intervals.push_back({0, 1});
  }
  if (options.memoryLimit > 0)
    instance.usageLimit = static_cast<int64_t>(options.memoryLimit);
  return instance;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

ShardingAnswer Searcher::read(const solver::Result &result) const {
  ShardingAnswer answer;
  answer.status = result.status;
  answer.numVariables = variables.size();
  answer.lowerBound = static_cast<double>(result.progress.lowerBound) / unitsPerSecond;
  if (result.answer.empty())
    return answer;
  answer.seconds = static_cast<double>(*result.progress.cost) / unitsPerSecond;
  for (auto [variable, strategy] : llvm::zip_equal(variables, result.answer))
    answer.memory += variable.held[strategy];
  for (auto [node, number] : llvm::enumerate(classes)) {
    unsigned variable = operationOf[number];
    answer.splits.push_back(variable == ShardingGraph::none
                                ? OperationSplit::whole(graph.nodes[node].rule)
                                : variables[variable].splits[result.answer[variable]]);
  }
  auto formOf = [&](std::optional<Slot> slot, unsigned tensor) -> std::optional<TensorSharding> {
    if (!slot)
      return std::nullopt;
    unsigned form = variables[slot->variable].forms[slot->slot][result.answer[slot->variable]];
    const ShardingGraph::Tensor &described = graph.tensors[tensor];
    return const_cast<FormTables &>(tables).of(described.shape, described.elementBytes).get(form);
  };
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    answer.forms.push_back(formOf(isLeaf(tensor) ? own[tensor] : kept[tensor], tensor));
    answer.returned.push_back(formOf(returned[tensor], tensor));
  }
  return answer;
}

ShardingAnswer Searcher::run() {
  fold();
  addOperations();
  if (stuck) {
    ShardingAnswer answer;
    answer.status = solver::Status::Infeasible;
    answer.stuck = stuck;
    return answer;
  }
  addLeaves();
  addStates();
  addKept();
  addReturned();
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    linkNode(node);
  addHeld();
  if (!mayFit()) {
    ShardingAnswer none;
    none.status = solver::Status::Infeasible;
    return none;
  }
  solver::Options limits;
  limits.iterations = options.rounds;
  limits.timeLimit = options.timeLimit;
  limits.threads = options.threads;
  return read(solver::solve(makeInstance(), limits));
}

ShardingAnswer weft::searchShardings(const ShardingProblem &problem, MeshPrices &prices,
                                     const SearchOptions &options) {
  return Searcher(problem, prices, options).run();
}

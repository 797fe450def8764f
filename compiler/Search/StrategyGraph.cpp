#include "compiler/Search/FoldNodes.h"
#include "compiler/Search/Searcher.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

/// What holding a byte costs beside moving it: next to nothing, so that of equal answers the one of
/// less memory is taken.
static constexpr double holdingShare = 1e-3;
/// The number of operations from which on it is looked for what may be split alike.
static constexpr unsigned foldingFrom = 400;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Searcher::fold() {
  if (options.folds && (graph.nodes.size() >= foldingFrom || !problem.counts.empty())) {
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

/// Seconds that weights cost by being held, as they are read.
double Searcher::getHeldSeconds(unsigned index, const OperationSplit &split) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  double held = 0;
  for (auto [position, tensor] : llvm::enumerate(node.operands))
    if (problem.isReadFreely[tensor] && graph.tensors[tensor].weight && !isHeld[tensor])
      held += getBlockBytes(graph, node, position, split.axes);
  return options.weightSeconds * held;
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

/// Seconds to bring a weight that is pinned, or a view of it, from where that has it to how it is
/// taken.
double Searcher::getJoinSeconds(unsigned tensor, const TensorSharding &form) {
  const std::optional<TensorSharding> &required = problem.required[tensor];
  if (!required || *required == form)
    return 0;
  FormTable &forms = tableOf(tensor);
  return forms.getSeconds(forms.add(*required), forms.add(form), prices);
}

/// The axes of factors that follow from how operands, or one of them, must be read; none where they
/// exclude each other.
std::optional<FactorAxes> Searcher::getRequired(const ShardingGraph::Node &node,
                                                std::optional<unsigned> only) const {
  FactorAxes given(node.rule.factors.size());
  for (auto [index, tensor] : llvm::enumerate(node.operands)) {
    if (!problem.required[tensor] || (only && *only != index))
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

/// Whether a split reads what is pinned of an operation's operands as it is pinned, no more split.
static bool readsAsPinned(const ShardingProblem &problem, const ShardingGraph::Node &node,
                          const OperationSplit &split) {
  return llvm::all_of(llvm::enumerate(node.operands), [&](const auto &operand) {
    const std::optional<TensorSharding> &required = problem.required[operand.value()];
    return !required || getOperandForm(node.rule, operand.index(), split) == *required;
  });
}

/// Where all else is equal, sums wait through what scales them: then nothing but a result waits for
/// their messages, which may go with others.
static double getTieSeconds(const ShardingGraph::Node &node, const OperationSplit &split) {
  bool mayWait = node.rule.linearity != SumLinearity::None;
  return mayWait && !llvm::is_contained(split.sums.operands, true) ? 1 / unitsPerSecond : 0;
}

/// The splits of an operation that read and make what is pinned as it is pinned.
std::vector<OperationSplit> Searcher::listSplits(unsigned index) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  std::vector<OperationSplit> splits;
  if (std::optional<FactorAxes> given = getRequired(node))
    splits = strategies.list(index, *given);
  llvm::erase_if(splits,
                 [&](const OperationSplit &split) { return !readsAsPinned(problem, node, split); });
  if (splits.empty()) { // what cannot be read as it is pinned is brought there first
    splits = strategies.list(index);
    for (unsigned slot = 0; slot < node.operands.size(); ++slot)
      if (std::optional<FactorAxes> given = getRequired(node, slot))
        for (OperationSplit &split : strategies.list(index, *given))
          if (!llvm::is_contained(splits, split))
            splits.push_back(std::move(split));
  }
  if (options.splitsBatch)
    strategies.keepBatch(index, splits);
  for (auto [number, tensor] : llvm::enumerate(node.results))
    if (problem.isMadeSo[tensor])
      llvm::erase_if(splits, [&](const OperationSplit &split) {
        return getResultForm(node.rule, number, split) != *problem.pinned[tensor];
      });
  return splits;
}

/// Of operations that look alike, so many, which run so often in all.
StrategyVariable Searcher::makeOperation(unsigned index, double times, double count) {
  const ShardingGraph::Node &node = graph.nodes[index];
  StrategyVariable variable;
  variable.splits = listSplits(index);
  if (variable.splits.empty() && !stuck)
    stuck = index;
  variable.forms.resize(node.operands.size() + node.results.size());
  for (const OperationSplit &split : variable.splits) {
    double seconds = getSeconds(index, split);
    for (auto [slot, tensor] : llvm::enumerate(node.operands)) {
      TensorSharding form = getOperandForm(node.rule, slot, split);
      seconds += getCutSeconds(tensor, form) + getJoinSeconds(tensor, form);
    }
    variable.seconds.push_back(times * seconds + count * getHeldSeconds(index, split) +
                               getTieSeconds(node, split));
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
  std::vector<double> times, counts;
  for (auto [node, number] : llvm::enumerate(classes)) {
    if (number == first.size()) {
      first.push_back(node);
      times.push_back(0);
      counts.push_back(0);
    }
    counts[number] += getCount(node);
    times[number] += getCount(node) * static_cast<double>(problem.work[node].times);
  }
  operationOf.assign(first.size(), ShardingGraph::none);
  for (auto [number, node] : llvm::enumerate(first)) {
    bool isFree = llvm::all_of(graph.nodes[node].results, [&](unsigned tensor) {
      return problem.isReadFreely[tensor] || isLeaf(tensor);
    });
    if (isFree) // stores, loads, and what is built where it is used
      continue;
    operationOf[number] = variables.size();
    variables.push_back(makeOperation(node, times[number], counts[number]));
  }
  own.resize(graph.tensors.size());
  for (auto [node, number] : llvm::enumerate(classes))
    for (auto [result, tensor] : llvm::enumerate(graph.nodes[node].results))
      if (operationOf[number] != ShardingGraph::none)
        own[tensor] = StrategySlot{
            operationOf[number], static_cast<unsigned>(graph.nodes[node].operands.size() + result)};
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
  StrategyVariable variable;
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

/// Inputs. What parts hand over once a step each device is sent as it takes it: less where split.
void Searcher::addLeaves() {
  for (unsigned number = 0; number < graph.tensors.size(); ++number) {
    const ShardingGraph::Tensor &tensor = graph.tensors[number];
    if (!tensor.input)
      continue;
    bool isOnce = tensor.handed && tensor.batchDim < 0;
    auto variable = addTensor(number, listForms(number, isOnce && options.splitsUpdates));
    own[number] = StrategySlot{variable, 0};
    for (auto [seconds, form] :
         llvm::zip_equal(variables[variable].seconds, variables[variable].forms.front()))
      seconds += isOnce ? prices.getMessageSeconds(tableOf(number).getBytes(form)) : 0;
  }
}

/// States of equal layers are stored alike: of those whose readers are the same.
void Searcher::addStates() {
  stored.resize(graph.tensors.size());
  std::map<std::vector<unsigned>, unsigned> known;
  for (auto [number, loads] : llvm::enumerate(problem.states)) {
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
      addTensor(shown, listForms(shown, /*isStorage=*/options.splitsStates));
    StrategyVariable &variable = variables[entry->second];
    for (auto [seconds, form] : llvm::zip_equal(variable.seconds, variable.forms.front())) {
      double bytes = tableOf(loads.front()).getBytes(form);
      seconds += getCount(graph.tensors[loads.front()].producer) *
                 (options.weightSeconds * bytes + getFetchSeconds(number, bytes));
    }
    for (unsigned load : loads)
      own[load] = stored[load] = StrategySlot{entry->second, 0};
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

/// Where operations read these tensors.
std::vector<StrategySlot> Searcher::listReaders(ArrayRef<unsigned> tensors) const {
  std::vector<StrategySlot> readers;
  for (unsigned tensor : tensors)
    for (unsigned user : graph.tensors[tensor].users)
      for (auto [slot, operand] : llvm::enumerate(graph.nodes[user].operands))
        if (unsigned variable = operationOf[classes[user]];
            operand == tensor && variable != ShardingGraph::none)
          readers.push_back({variable, static_cast<unsigned>(slot)});
  return readers;
}

/// How often a step these tensors, which lie alike, are read by an operation that reads most often.
double Searcher::countReads(ArrayRef<unsigned> tensors) const {
  double most = 0;
  for (unsigned tensor : tensors)
    for (unsigned user : graph.tensors[tensor].users)
      if (operationOf[classes[user]] != ShardingGraph::none)
        most = std::max(most, getCount(user) * static_cast<double>(problem.work[user].times));
  return most;
}

/// States that a pass reads more than once: those of equal layers are brought alike.
void Searcher::addBrought() {
  std::map<std::vector<StrategySlot>, unsigned> known;
  for (ArrayRef<unsigned> loads : problem.brought) {
    std::vector<StrategySlot> key = listReaders(loads);
    if (key.size() < 2 || !own[loads.front()])
      continue;
    StrategySlot state = *own[loads.front()];
    std::vector<unsigned> forms;
    for (const StrategySlot &reader : key)
      llvm::append_range(forms, variables[reader.variable].forms[reader.slot]);
    llvm::sort(forms);
    forms.erase(llvm::unique(forms), forms.end());
    key.push_back(state);
    auto [entry, isNew] = known.try_emplace(std::move(key), variables.size());
    if (isNew)
      addTensor(loads.front(), std::move(forms));
    StrategySlot brought{entry->second, 0};
    link(state, brought, loads.front(), countReads(loads));
    for (unsigned load : loads)
      kept[load] = brought;
  }
}

/// Values that several operations use.
void Searcher::addKept() {
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    bool isMade = own[tensor] && !isLeaf(tensor);
    if (!isMade || (countUses(tensor) < 2 && !problem.pinned[tensor]))
      continue;
    auto [entry, isNew] = keptOf.try_emplace(*own[tensor], variables.size());
    if (isNew)
      addTensor(tensor, listPassed(tensor));
    kept[tensor] = StrategySlot{entry->second, 0};
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
      std::vector<unsigned> forms = problem.left[tensor]
                                        ? std::vector{tableOf(tensor).add(*problem.left[tensor])}
                                        : listPassed(tensor);
      llvm::erase_if(forms,
                     [&](unsigned form) { return !tableOf(tensor).get(form).partial.empty(); });
      if (forms.empty())
        forms.push_back(
            tableOf(tensor).add(TensorSharding::replicated(graph.tensors[tensor].shape.size())));
      addTensor(tensor, std::move(forms));
    }
    returned[tensor] = StrategySlot{entry->second, 0};
  }
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

/// The variable from which users take a tensor; none of what they read as they want it.
std::optional<StrategySlot> Searcher::makerOf(unsigned tensor) const {
  return kept[tensor] ? kept[tensor] : own[tensor];
}

void Searcher::link(StrategySlot maker, StrategySlot taker, unsigned tensor, double times) {
  auto [entry, isNew] = links.try_emplace({maker, taker}, tensor, 0);
  entry->second.second += times;
}

void Searcher::linkNode(unsigned index) {
  const ShardingGraph::Node &node = graph.nodes[index];
  double count = getCount(index), times = count * static_cast<double>(problem.work[index].times);
  if (node.results.empty()) { // a store: the loads, then what is stored
    std::optional<StrategySlot> maker = makerOf(node.operands.back()),
                                place = stored[node.operands.front()];
    if (maker && place && node.operands.size() > 1)
      link(*maker, *place, node.operands.back(), times);
    return;
  }
  unsigned variable = operationOf[classes[index]];
  if (variable == ShardingGraph::none)
    return;
  // A sum over microbatches is there once, what it adds with each of them.
  auto readTimes = [&](unsigned operand) {
    unsigned producer = graph.tensors[operand].producer;
    return producer == ShardingGraph::none
               ? times
               : std::max(times, count * static_cast<double>(problem.work[producer].times));
  };
  for (auto [slot, operand] : llvm::enumerate(node.operands))
    if (std::optional<StrategySlot> maker = makerOf(operand))
      link(*maker, {variable, static_cast<unsigned>(slot)}, operand, readTimes(operand));
  for (auto [result, tensor] : llvm::enumerate(node.results)) {
    if (kept[tensor])
      link(*own[tensor], *kept[tensor], tensor, times);
    if (returned[tensor])
      link(*makerOf(tensor), *returned[tensor], tensor, times);
  }
}

bool Searcher::build() {
  stuck = problem.hides;
  if (stuck)
    return false;
  fold();
  if (options.splitsBatch)
    strategies.follow(problem.pins);
  if (options.splitsExperts)
    strategies.placeExperts();
  isHeld.assign(graph.tensors.size(), false);
  for (const auto &tensors :
       llvm::concat<const SmallVector<unsigned, 2>>(problem.shared, problem.states))
    for (unsigned tensor : tensors)
      isHeld[tensor] = true;
  addOperations();
  if (stuck)
    return false;
  addLeaves();
  addStates();
  kept.resize(graph.tensors.size());
  addBrought();
  addKept();
  addReturned();
  addShared();
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    linkNode(node);
  addHeld();
  findFixed();
  return true;
}

/// Whether the memory will not do, which needs no strategies to be known.
static bool isTooLarge(const ShardingProblem &problem, MeshPrices &prices,
                       const SearchOptions &options) {
  return options.memoryLimit > 0 && getLeastBytes(problem, prices.getMesh().devices(),
                                                  options.residentShare) > options.memoryLimit;
}

ShardingAnswer Searcher::run() {
  if (!build()) {
    ShardingAnswer answer;
    answer.status = solver::Status::Infeasible;
    answer.stuck = stuck;
    return answer;
  }
  if (!mayFit() || !mayBeFast()) {
    ShardingAnswer none;
    none.status = mayFit() ? solver::Status::Unknown : solver::Status::Infeasible;
    return none;
  }
  solver::Options limits;
  limits.iterations = options.rounds;
  limits.timeLimit = options.timeLimit;
  limits.threads = options.threads;
  limits.workers = solverWorkers;
  limits.roundWork = options.roundWork;
  limits.gapLimit = options.gap;
  if (options.secondsLimit > 0 && !options.leastMemory)
    limits.costLimit = static_cast<int64_t>(options.secondsLimit * unitsPerSecond);
  if (options.hopefulSeconds > 0 && !options.leastMemory)
    limits.hopefulCost = static_cast<int64_t>(options.hopefulSeconds * unitsPerSecond);
  limits.firstIterations = options.firstRounds;
  solver::Result result = solver::solve(makeInstance(), limits);
  ShardingAnswer answer = read(result);
  answer.isThorough = result.progress.lowerBound < limits.hopefulCost;
  if (result.progress.cost) {
    answer.communication = countCommunication(answer, result.answer);
    answer.growth = getGrowth(answer);
  }
  return answer;
}

ShardingAnswer weft::searchShardings(const ShardingProblem &problem, MeshPrices &prices,
                                     const SearchOptions &options) {
  FormTables tables;
  return searchShardings(problem, prices, tables, options);
}

ShardingAnswer weft::searchShardings(const ShardingProblem &problem, MeshPrices &prices,
                                     FormTables &tables, const SearchOptions &options) {
  if (isTooLarge(problem, prices, options)) {
    ShardingAnswer none;
    none.status = solver::Status::Infeasible;
    return none;
  }
  return Searcher(problem, prices, tables, options).run();
}

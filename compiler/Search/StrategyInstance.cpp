#include "compiler/Cost/Instruction.h"
#include "compiler/Search/Searcher.h"
#include "compiler/Search/TensorLifetimes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace weft;
using llvm::ArrayRef;

static int64_t toUnits(double seconds) {
  return std::isfinite(seconds) ? std::llround(seconds * unitsPerSecond) : solver::forbidden;
}

static int64_t addUnits(int64_t a, int64_t b) {
  return a >= solver::forbidden || b >= solver::forbidden ? solver::forbidden : a + b;
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// How much dearer than its bytes it is to bring what only weights make, which never changes, from
/// one form to another, where weights' bytes have a price: that these save memory by being gathered
/// every step is no gain.
static constexpr double fixedShare = 1000;

/// Of the time in which weights are gathered and gradients summed up, the share that a step is
/// expected to take longer for it: programs do both beside computing. How much of it shows, only
/// the simulation of a program tells.
static constexpr double besideShare = 0.45;

/// Finds what comes of weights alone that do not change.
void Searcher::findFixed() {
  isFixed.assign(graph.tensors.size(), false);
  if (options.weightSeconds <= 0)
    return;
  std::vector<bool> isConstant = problem.isReadFreely;
  for (ArrayRef<unsigned> loads : problem.states)
    for (unsigned load : loads)
      isConstant[load] = false;
  for (const ShardingGraph::Node &node : graph.nodes)
    if (!node.operands.empty() &&
        llvm::all_of(node.operands, [&](unsigned operand) { return isConstant[operand]; }))
      for (unsigned result : node.results)
        isConstant[result] = isFixed[result] = true;
}

namespace {
/// The forms of a slot, each once, and which of them each strategy has.
struct DistinctForms {
  explicit DistinctForms(ArrayRef<unsigned> all) {
    llvm::SmallDenseMap<unsigned, unsigned, 32> known;
    for (unsigned form : all) {
      auto [entry, isNew] = known.try_emplace(form, forms.size());
      if (isNew)
        forms.push_back(form);
      numbers.push_back(entry->second);
    }
  }

  std::vector<unsigned> forms, numbers;
};
} // namespace

/// Adds the prices of the ways between two slots to a table, row-major over the maker's strategies,
/// or, within one variable, to its strategies' costs.
void Searcher::addLink(const StrategySlot &maker, const StrategySlot &taker, unsigned tensor,
                       double times, std::vector<int64_t> &table, bool isOwn) {
  FormTable &forms = tableOf(tensor);
  ArrayRef<unsigned> from = variables[maker.variable].forms[maker.slot];
  ArrayRef<unsigned> to = variables[taker.variable].forms[taker.slot];
  bool isBeside = !problem.isBeside.empty() && problem.isBeside[tensor];
  double share = isFixed[tensor] ? fixedShare : isBeside ? besideShare : 1;
  auto price = [&](unsigned a, unsigned b) {
    double way = a == b ? 0 : waySeconds + forms.getSeconds(a, b, prices);
    double seconds = way * share;
    return std::isfinite(seconds) ? toUnits(times * seconds) : solver::forbidden;
  };
  if (isOwn) {
    for (unsigned strategy = 0; strategy < table.size(); ++strategy)
      table[strategy] = addUnits(table[strategy], price(from[strategy], to[strategy]));
    return;
  }
  // Many strategies make or take a tensor alike.
  DistinctForms makes(from), takes(to);
  std::vector<int64_t> units;
  for (unsigned a : makes.forms)
    for (unsigned b : takes.forms)
      units.push_back(price(a, b));
  int64_t *entry = table.data();
  for (unsigned made : makes.numbers)
    for (unsigned taken : takes.numbers) {
      *entry = addUnits(*entry, units[made * takes.forms.size() + taken]);
      ++entry;
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
  for (const auto &[ends, read] : sharedReads) {
    std::vector<int64_t> &table = edges[{read.reader.variable, read.block}];
    table.resize(variables[read.reader.variable].seconds.size() *
                 variables[read.block].seconds.size());
    addSharedRead(read, table);
  }
  size_t entries = 0;
  for (const auto &[ends, table] : edges)
    entries += table.size();
  instance.edgeCosts.values.reserve(entries);
  for (auto &[ends, table] : edges) {
    instance.edges.values.insert(instance.edges.values.end(), {ends.first, ends.second});
    instance.edges.close();
    for (int64_t cost : table)
      instance.edgeCosts.values.push_back(options.leastMemory && cost < solver::forbidden ? 0
                                                                                          : cost);
    instance.edgeCosts.close();
    table = {}; // there are too many to have all twice
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// By tensor, how many are there when most is, were nothing split.
static std::vector<double> findLive(const ShardingProblem &problem) {
  std::vector<double> live = problem.live;
  if (!live.empty())
    return live;
  TensorLifetimes lifetimes(problem);
  size_t peak = lifetimes.findPeak();
  for (unsigned tensor = 0; tensor < problem.graph->tensors.size(); ++tensor)
    live.push_back(lifetimes.isLive(tensor, peak));
  return live;
}

/// Weights that are held as what is read of them. States are held as they lie; what is gathered of
/// them is there while it is read.
static std::vector<bool> findHeldAsRead(const ShardingProblem &problem) {
  std::vector<bool> isHeld = problem.isReadFreely;
  for (auto [tensor, described] : llvm::enumerate(problem.graph->tensors))
    isHeld[tensor] = isHeld[tensor] && described.weight;
  for (ArrayRef<unsigned> loads : problem.states)
    for (unsigned load : loads)
      isHeld[load] = false;
  return isHeld;
}

/// How often what a node reads of a weight that is held so is held.
static double countHeldReads(const ShardingProblem &problem, unsigned node, unsigned operand) {
  double count = problem.counts.empty() ? 1 : problem.counts[node];
  return count / (problem.readers.empty() ? 1 : problem.readers[operand]);
}

/// Whether a node's result is a sum over microbatches.
static bool isSum(const ShardingProblem &problem, unsigned node) {
  return !problem.isSum.empty() && problem.isSum[node];
}

/// Whether a device keeps a state. Of those that its host keeps it has a few at a time.
static bool takesMemory(const ShardingProblem &problem, unsigned state) {
  return !problem.states[state].empty() && (problem.isOnHost.empty() || !problem.isOnHost[state]);
}

double weft::getLeastBytes(const ShardingProblem &problem, int64_t devices, double residentShare) {
  const ShardingGraph &graph = *problem.graph;
  std::vector<double> live = findLive(problem);
  std::vector<bool> isHeldAsRead = findHeldAsRead(problem);
  double bytes = 0;
  auto add = [&](double count, unsigned tensor) {
    bytes += count * static_cast<double>(graph.tensors[tensor].bytes());
  };
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    bool isMade = !node.operands.empty() && llvm::any_of(node.results, [&](unsigned tensor) {
      return !problem.isReadFreely[tensor];
    });
    if (!isMade || node.view) // counted where it is read, or shown
      continue;
    for (unsigned operand : node.operands)
      if (isHeldAsRead[operand])
        add(residentShare * countHeldReads(problem, index, operand), operand);
    for (unsigned result : node.results)
      add((isSum(problem, index) ? residentShare : 1) * std::max(0.0, live[result]), result);
  }
  for (auto [number, loads] : llvm::enumerate(problem.states))
    if (takesMemory(problem, number)) {
      unsigned producer = graph.tensors[loads.front()].producer;
      add(residentShare * (problem.counts.empty() ? 1 : problem.counts[producer]), loads.front());
    }
  return bytes / static_cast<double>(devices);
}

/// What it takes to fetch a state and to write it back. The two ways between a device's memory and
/// the host's do not wait for each other; what lies in the device's own is copied by itself.
double Searcher::getFetchSeconds(unsigned state, double bytes) const {
  if (problem.isOnHost.empty() || !problem.isOnHost[state])
    return 0;
  const DeviceModel &device = prices.getDevice();
  return (device.hostCopy ? 1 : 2) * getHostCopySeconds(device, bytes);
}

/// B of a tensor by a variable's strategies: of a pinned weight as it is pinned.
std::vector<double> Searcher::getBytes(StrategySlot slot, unsigned tensor) const {
  FormTable &table = tableOf(tensor);
  const std::optional<TensorSharding> &pin = problem.required[tensor];
  std::optional<unsigned> pinned = pin ? std::optional(table.add(*pin)) : std::nullopt;
  std::vector<double> bytes;
  for (unsigned form : variables[slot.variable].forms[slot.slot])
    bytes.push_back(table.getBytes(pinned.value_or(form)));
  return bytes;
}

/// Adds so many tensors like this one to what a variable holds.
void Searcher::hold(StrategySlot slot, unsigned tensor, double count) {
  for (auto [held, bytes] : llvm::zip_equal(variables[slot.variable].held, getBytes(slot, tensor)))
    held += count * bytes;
}

/// What a value waits for; null: nothing.
double Waiting::*Searcher::findWaiting(unsigned tensor) const {
  auto isOf = [&](const std::vector<bool> &some) { return !some.empty() && some[tensor]; };
  return isOf(problem.isKept)       ? &Waiting::kept
         : isOf(problem.isReadLate) ? &Waiting::putOff
                                    : nullptr;
}

/// Notes what a value, of which there are so many, takes for each microbatch that waits. How many
/// more of it are held for these: below none where a schedule keeps less than a whole microbatch.
double Searcher::addWaiting(unsigned tensor, double count) {
  double Waiting::*kind = findWaiting(tensor);
  if (!kind)
    return 0;
  StrategySlot slot = findHolder(tensor);
  StrategyVariable &variable = variables[slot.variable];
  for (auto [waiting, bytes] : llvm::zip_equal(variable.waiting, getBytes(slot, tensor)))
    waiting.*kind += count * bytes;
  return count * (options.waiting.*kind - (kind == &Waiting::kept ? 1 : 0));
}

/// Who says in what form a value is held that waits for its last use.
StrategySlot Searcher::findHolder(unsigned tensor) const {
  auto isHolder = [&](unsigned user) {
    return !problem.isBarrier.empty() && problem.isBarrier[user] &&
           operationOf[classes[user]] != ShardingGraph::none;
  };
  ArrayRef<unsigned> users = graph.tensors[tensor].users;
  const unsigned *user = llvm::find_if(users, isHolder);
  if (user == users.end())
    return *makerOf(tensor);
  const auto &operands = graph.nodes[*user].operands;
  return {operationOf[classes[*user]],
          static_cast<unsigned>(llvm::find(operands, tensor) - operands.begin())};
}

void Searcher::addHeld() {
  live = findLive(problem);
  std::vector<bool> isHeldAsRead = findHeldAsRead(problem);
  for (StrategyVariable &variable : variables) {
    variable.held.assign(variable.seconds.size(), 0);
    variable.waiting.assign(variable.seconds.size(), Waiting{0, 0});
  }
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    unsigned variable = operationOf[classes[index]];
    if (variable == ShardingGraph::none)
      continue;
    for (auto [slot, operand] : llvm::enumerate(node.operands))
      if (isHeldAsRead[operand])
        hold({variable, static_cast<unsigned>(slot)}, operand,
             options.residentShare * countHeldReads(problem, index, operand));
    if (node.view)
      continue;
    // Sums over microbatches lie as each of them adds to them until the last is done.
    bool adds = isSum(problem, index);
    for (unsigned result : node.results) {
      double count =
          (adds ? options.residentShare : 1) * live[result] + addWaiting(result, getCount(index));
      if (count > 0)
        hold(adds ? *own[result] : findHolder(result), result, count);
    }
  }
  for (auto [number, loads] : llvm::enumerate(problem.states))
    if (takesMemory(problem, number))
      hold(*own[loads.front()], loads.front(),
           options.residentShare * getCount(graph.tensors[loads.front()].producer));
}

/// Whether the memory would do, if each variable alone held its least.
bool Searcher::mayFit() const {
  double least = 0;
  for (const StrategyVariable &variable : variables)
    least += *llvm::min_element(variable.held);
  return options.memoryLimit <= 0 || least <= options.memoryLimit;
}

/// Whether the time would do, if each variable alone took its least.
bool Searcher::mayBeFast() const {
  double least = 0;
  for (const StrategyVariable &variable : variables)
    least += *llvm::min_element(variable.seconds);
  return options.secondsLimit <= 0 || options.leastMemory || least <= options.secondsLimit;
}

solver::Instance Searcher::makeInstance() {
  solver::Instance instance;
  std::vector<std::vector<int64_t>> costs;
  for (const StrategyVariable &variable : variables) {
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

/// Views of weights are read as what they are for.
void Searcher::readViews(ShardingAnswer &answer) const {
  for (unsigned index = graph.nodes.size(); index-- > 0;) {
    const ShardingGraph::Node &node = graph.nodes[index];
    bool isView = node.operands.size() == 1 && node.results.size() == 1 &&
                  problem.isReadFreely[node.results.front()];
    if (!isView || graph.tensors[node.results.front()].users.empty())
      continue;
    unsigned user = graph.tensors[node.results.front()].users.front();
    const ShardingGraph::Node &reader = graph.nodes[user];
    unsigned slot = llvm::find(reader.operands, node.results.front()) - reader.operands.begin();
    ToFactors read = projectToFactors(node.rule, node.rule.results.front(),
                                      getOperandForm(reader.rule, slot, answer.splits[user]));
    OperationSplit split = OperationSplit::whole(node.rule);
    split.axes = read.axes;
    if (read.exact && check(node.rule, split, prices.getMesh()).empty())
      answer.splits[index] = std::move(split);
  }
}

ShardingAnswer Searcher::read(const solver::Result &result) const {
  ShardingAnswer answer;
  answer.status = result.status;
  answer.numVariables = variables.size();
  answer.lowerBound = static_cast<double>(result.progress.lowerBound) / unitsPerSecond;
  if (!result.progress.cost) // an answer without variables is empty, too
    return answer;
  answer.seconds = static_cast<double>(*result.progress.cost) / unitsPerSecond;
  for (auto [variable, strategy] : llvm::zip_equal(variables, result.answer)) {
    answer.memory += variable.held[strategy];
    for (double Waiting::*kind : {&Waiting::kept, &Waiting::putOff})
      answer.waitingBytes.*kind += variable.waiting[strategy].*kind;
  }
  for (auto [node, number] : llvm::enumerate(classes)) {
    unsigned variable = operationOf[number];
    answer.splits.push_back(variable == ShardingGraph::none
                                ? OperationSplit::whole(graph.nodes[node].rule)
                                : variables[variable].splits[result.answer[variable]]);
  }
  readViews(answer);
  auto formOf = [&](std::optional<StrategySlot> slot,
                    unsigned tensor) -> std::optional<TensorSharding> {
    if (!slot)
      return std::nullopt;
    unsigned form = variables[slot->variable].forms[slot->slot][result.answer[slot->variable]];
    const ShardingGraph::Tensor &described = graph.tensors[tensor];
    return tables.of(described.shape, described.elementBytes).get(form);
  };
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    answer.forms.push_back(formOf(isLeaf(tensor) ? own[tensor] : kept[tensor], tensor));
    answer.returned.push_back(formOf(returned[tensor], tensor));
  }
  return answer;
}

/// Seconds of all ways between the forms that were chosen.
double Searcher::countCommunication(const ShardingAnswer &answer, ArrayRef<int> chosen) {
  double seconds = 0;
  auto formOf = [&](StrategySlot slot) {
    return variables[slot.variable].forms[slot.slot][chosen[slot.variable]];
  };
  for (const auto &[ends, carried] : links)
    seconds += carried.second *
               tableOf(carried.first).getSeconds(formOf(ends.first), formOf(ends.second), prices);
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    if (operationOf[classes[index]] == ShardingGraph::none)
      continue;
    double times = getCount(index) * static_cast<double>(problem.work[index].times);
    for (auto [slot, tensor] : llvm::enumerate(node.operands)) {
      TensorSharding form = getOperandForm(node.rule, slot, answer.splits[index]);
      seconds += times * (getCutSeconds(tensor, form) + getJoinSeconds(tensor, form));
    }
  }
  return seconds;
}

double Searcher::getGrowth(const ShardingAnswer &answer) const {
  double own = 0, extended = 0;
  for (unsigned index = 0; index < graph.nodes.size(); ++index) {
    if (operationOf[classes[index]] == ShardingGraph::none)
      continue;
    double seconds =
        static_cast<double>(problem.work[index].times) * getSeconds(index, answer.splits[index]);
    own += seconds;
    extended += getCount(index) * seconds;
  }
  return own > 0 ? extended / own : 1;
}

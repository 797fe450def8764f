//===- Searcher.h - the strategy graph in the making ------------*- C++ -*-===//
//
// Private to StrategyGraph.cpp (variables and the ways between them) and StrategyInstance.cpp
// (their prices and memory as an instance of the solver). What they are: StrategyGraph.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SEARCHER_H
#define WEFT_COMPILER_SEARCH_SEARCHER_H

#include "compiler/Search/ParetoSearch.h"
#include "compiler/Search/StrategyGraph.h"
#include <map>

namespace weft {

/// The solver counts in picoseconds.
inline constexpr double unitsPerSecond = 1e12;

/// What it costs to bring a tensor from one form to another, whatever its bytes: next to nothing,
/// so that of equal answers on a cluster without latencies the one of fewer collectives is taken.
inline constexpr double waySeconds = 1e-11;

/// Of the solver, however many threads they run on: what is found depends on how many there are.
inline constexpr int solverWorkers = 2;

/// What is chosen at once: of each strategy its price, and the forms of the tensors it touches.
struct StrategyVariable {
  std::vector<double> seconds;              ///< by strategy
  std::vector<std::vector<unsigned>> forms; ///< by slot, then strategy
  std::vector<OperationSplit> splits;       ///< by strategy, of operations
  std::vector<double> held;                 ///< by strategy: B where most is held
  std::vector<Waiting> waiting;             ///< by strategy: B for each microbatch that waits
};

/// A tensor as one variable makes or takes it.
struct StrategySlot {
  unsigned variable = 0, slot = 0;
  auto operator<=>(const StrategySlot &) const = default;
};

/// Reads of a weight that several operations read: in its block, or in one that is held besides.
struct SharedRead {
  StrategySlot reader;
  unsigned block;  ///< variable
  unsigned tensor; ///< as what it is read
  double times;
};

/// Makes the problem of one program, and reads its answer.
class Searcher {
public:
  Searcher(const ShardingProblem &problem, MeshPrices &prices, FormTables &tables,
           const SearchOptions &options)
      : problem(problem), graph(*problem.graph), prices(prices), options(options),
        strategies(graph, prices.getMesh(),
                   options.splitsUpdates ? problem.isFree
                                         : std::vector<bool>(graph.nodes.size(), false)),
        tables(tables) {
    for (const ShardingGraph::Tensor &tensor : graph.tensors)
      formsOf.push_back(&tables.of(tensor.shape, tensor.elementBytes));
  }

  ShardingAnswer run();
  StepSplits runPareto(llvm::ArrayRef<Phase> phases, const EliminationLimits &limits);

private:
  /// Makes variables and links. False where an operation has no strategy.
  bool build();
  FormTable &tableOf(unsigned tensor) const { return *formsOf[tensor]; }
  void fold();
  double getCount(unsigned node) const { return problem.counts.empty() ? 1 : problem.counts[node]; }
  void addOperations();
  StrategyVariable makeOperation(unsigned node, double times, double count);
  double getSeconds(unsigned node, const OperationSplit &split) const;
  double getHeldSeconds(unsigned node, const OperationSplit &split) const;
  std::optional<FactorAxes> getRequired(const ShardingGraph::Node &node,
                                        std::optional<unsigned> only = std::nullopt) const;
  std::vector<OperationSplit> listSplits(unsigned node) const;
  double getCutSeconds(unsigned tensor, const TensorSharding &form);
  double getJoinSeconds(unsigned tensor, const TensorSharding &form);
  unsigned addTensor(unsigned tensor, std::vector<unsigned> forms);
  std::vector<unsigned> listForms(unsigned tensor, bool isStorage);
  std::vector<unsigned> listPassed(unsigned tensor);
  void addLeaves();
  void addStates();
  double getFetchSeconds(unsigned state, double bytes) const;
  std::vector<StrategySlot> listReaders(llvm::ArrayRef<unsigned> tensors) const;
  double countReads(llvm::ArrayRef<unsigned> tensors) const;
  void addBrought();
  void addKept();
  void addReturned();
  void addShared();
  void addBlock(llvm::ArrayRef<unsigned> tensors);
  std::optional<TensorSharding> findBlock(unsigned tensor, unsigned form);
  unsigned countUses(unsigned tensor) const;
  bool isLeaf(unsigned tensor) const;
  std::optional<StrategySlot> makerOf(unsigned tensor) const;
  void link(StrategySlot maker, StrategySlot taker, unsigned tensor, double times);
  void linkNode(unsigned node);

  void addHeld();
  std::vector<double> getBytes(StrategySlot slot, unsigned tensor) const;
  void hold(StrategySlot slot, unsigned tensor, double count);
  double Waiting::*findWaiting(unsigned tensor) const;
  double addWaiting(unsigned tensor, double count);
  StrategySlot findHolder(unsigned tensor) const;
  bool mayFit() const;
  bool mayBeFast() const;
  solver::Instance makeInstance();
  CostInstance makeCosts(llvm::ArrayRef<Phase> phases);
  void addCosts(unsigned node, Phase phase, std::vector<Costs> &costs);
  void findFixed();
  void addEdges(solver::Instance &instance, std::vector<std::vector<int64_t>> &costs);
  void addLink(const StrategySlot &maker, const StrategySlot &taker, unsigned tensor, double times,
               std::vector<int64_t> &table, bool isOwn);
  void addSharedRead(const SharedRead &read, std::vector<int64_t> &table);
  void readViews(ShardingAnswer &answer) const;
  ShardingAnswer read(const solver::Result &result) const;
  double countCommunication(const ShardingAnswer &answer, llvm::ArrayRef<int> chosen);
  double getGrowth(const ShardingAnswer &answer) const;

  const ShardingProblem &problem;
  const ShardingGraph &graph;
  MeshPrices &prices;
  const SearchOptions &options;
  Strategies strategies;
  FormTables &tables;
  std::vector<FormTable *> formsOf; ///< by tensor, of its shape

  std::optional<unsigned> stuck;                ///< a node that has no strategy
  std::vector<unsigned> classes;                ///< of nodes
  std::vector<unsigned> operationOf;            ///< variables, by class
  std::vector<std::optional<StrategySlot>> own; ///< by tensor: who makes it
  std::vector<std::optional<StrategySlot>> kept, returned, stored;
  std::map<StrategySlot, unsigned> keptOf, returnedOf; ///< variables, by maker
  std::vector<bool> isFixed; ///< by tensor: comes of weights alone that do not change
  std::vector<bool> isHeld;  ///< by tensor: a weight or state whose block is a variable of its own
  std::map<std::vector<unsigned>, unsigned> blocks; ///< variables, by their readers
  std::map<std::pair<StrategySlot, unsigned>, SharedRead> sharedReads; ///< and blocks
  std::vector<StrategyVariable> variables;
  std::vector<double> live; ///< by tensor: how many are there where the whole program holds most
  /// A tensor between two slots, and how often a step.
  std::map<std::pair<StrategySlot, StrategySlot>, std::pair<unsigned, double>> links;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SEARCHER_H

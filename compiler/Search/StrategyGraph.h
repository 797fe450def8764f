//===- StrategyGraph.h - the search for shardings as a graph ----*- C++ -*-===//
//
// A program on a mesh as a problem of the strategy solver. A variable is
//
// - an operation: its strategies are the splits of its factors (Strategies.h), priced by the time
// of
//   one shard;
// - an input or a state: the ways in which it may lie, a state's loads and what is stored alike;
// - a value that several operations use: the one form in which it is kept for them, sums that wait
//   among them. A form costs once, however many read it;
// - a state that a pass reads more than once: the one form in which it is brought to those that
//   want it so;
// - a result: how it is left;
// - a weight that is read more than once, where holding it costs: the block in which those read it
//   that need not hold another one.
//
// An edge stands between who makes a value and who takes it, priced by the seconds of the reshard
// path between the two forms, which of what goes beside computing counts in part. Weights that do
// not change are read as each operation wants them.
//
// Operations that look alike from near by (their neighbours, and theirs, some steps far) share one
// variable: all layers of a model but the first and the last ones. So the problem has the size of
// the distinct parts of a program.
//
// Memory is counted where the whole program holds most: weights, states, and the values that are
// still needed then.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_STRATEGYGRAPH_H
#define WEFT_COMPILER_SEARCH_STRATEGYGRAPH_H

#include "compiler/Search/FormTable.h"
#include "compiler/Search/Solver/Solver.h"
#include "compiler/Search/Strategies.h"
#include "compiler/Search/WorkPrices.h"
#include <limits>

namespace weft {

/// A program to be split.
struct ShardingProblem {
  const ShardingGraph *graph = nullptr;
  std::vector<NodeWork> work;  ///< by node
  std::vector<uint64_t> kinds; ///< by node: equal of equal operations
  std::vector<bool> isFree;    ///< by node: of no activations (Strategies.h)
  /// By node: computed as soon as what it reads is there, wherever it stands; empty: none.
  std::vector<bool> isEager;
  /// By node: adds to what is there from the first microbatch on; empty: none.
  std::vector<bool> isSum;
  /// By node: begins what is computed again. What it reads lies as it is read there from where it
  /// is made on. Empty: none.
  std::vector<bool> isBarrier;
  std::vector<bool> isReadFreely; ///< by tensor: what each use reads as it wants it
  /// By tensor: goes between devices beside computing, as parameters that are trained and their
  /// gradients do. Empty: none.
  std::vector<bool> isBeside;
  /// By tensor: has no memory of its own. What is built of nothing, and broadcasts, each kernel
  /// that reads it makes again; a state's next value lies where the one before it did. Empty: none.
  std::vector<bool> isPlaceless;
  /// By tensor that is read freely: how many operations read the weight that it is, or shows. It is
  /// held once for those that read the same block. Empty: one.
  std::vector<unsigned> readers;
  /// By tensor: made by the forward pass of a training step for the backward pass. Empty: none.
  std::vector<bool> isKept;
  /// By tensor: made by the backward pass, and read by what may be put off: gradients of weights,
  /// and what they alone need. Empty: none.
  std::vector<bool> isReadLate;
  std::vector<bool> isReturned;                      ///< by tensor
  std::vector<std::optional<TensorSharding>> pinned; ///< by tensor
  std::vector<std::optional<TensorSharding>> left;   ///< by tensor: as what it must be returned
  std::vector<bool> isMadeSo; ///< by tensor: pinned, and what makes it may not make it otherwise
  /// Of a short program that stands for a long one (Extrapolate.h): how many operations of that
  /// each node stands for, and how many tensors that are there when most is each tensor. Empty:
  /// itself.
  std::vector<double> counts, live;
  /// By tensor that is read freely: how it is held, because people decided so. Operations that can
  /// read it so do.
  std::vector<std::optional<TensorSharding>> required;
  /// A view behind which nothing says how a weight is held that people decided about.
  std::optional<unsigned> hides;
  /// By tensor, of a program that trains nothing: where people put axes.
  std::vector<std::optional<TensorSharding>> pins;
  /// The tensors that each state is loaded as.
  std::vector<llvm::SmallVector<unsigned, 2>> states;
  /// By state: kept in the host's memory, and fetched and written back in each step. Empty: none.
  std::vector<bool> isOnHost;
  /// Of these the ones that one pass reads, where there are more reads: what is gathered for one is
  /// there for all that want it so. Empty: each read gathers for itself.
  std::vector<llvm::SmallVector<unsigned, 2>> brought;
  /// Of each weight that is read freely, and whole, more than once: as what it is read.
  std::vector<llvm::SmallVector<unsigned, 2>> shared;
};

/// Of microbatches that wait, or what one of them takes: what the forward pass made is kept until
/// all gradients are there, since it lies in one frame with what else waits of its microbatch.
struct Waiting {
  double kept = 1;
  double putOff = 0; ///< of which the backward pass's values wait for gradients of weights

  bool operator==(const Waiting &) const = default;
};

/// An answer: everything that the partitioner needs.
struct ShardingAnswer {
  solver::Status status = solver::Status::Unknown;
  std::vector<OperationSplit> splits; ///< by node
  /// By tensor: of inputs, states, and values that are kept in a form of their own.
  std::vector<std::optional<TensorSharding>> forms;
  std::vector<std::optional<TensorSharding>> returned; ///< by tensor
  /// Of a step: of what goes beside computing the part that a step is expected to wait for.
  double seconds = 0;
  double communication = 0;   ///< s: all of collectives and cuts
  double lowerBound = 0;      ///< of `seconds`
  double memory = 0;          ///< B that a device holds, where the program holds most
  Waiting waitingBytes{0, 0}; ///< B of it for each microbatch that waits
  /// How many times as long as the program of the problem that for which it stands computes.
  double growth = 1;
  /// Whether the search ended only where there was no more to find, or nothing was left of it to
  /// do.
  bool isThorough = false;
  /// An operation that cannot read what it must as it must.
  std::optional<unsigned> stuck;
  size_t numVariables = 0; ///< of the problem that was solved
};

/// How far around an operation another one must look the same to be split alike: the nodes of a
/// colour (colorNodes) are split so.
inline constexpr unsigned foldingSteps = 4;

/// What the search of one of several plans leaves of a step's time, at most: programs say it no
/// better.
inline constexpr double trialGap = 3e-4;

struct SearchOptions {
  int64_t rounds = 4;             ///< of fixed work of the solver
  int64_t roundWork = 20'000'000; ///< table entries that one of its workers reads in each
  /// s. Rounds end by themselves: a limit makes of what is found a matter of how busy a machine is.
  double timeLimit = std::numeric_limits<double>::infinity();
  int threads = 2;
  bool folds = true;        ///< whether equal operations share their split
  double memoryLimit = 0;   ///< B that a device may hold; 0: any
  bool leastMemory = false; ///< searches for the split that holds least, whatever it takes
  /// Of weights, states, and sums over microbatches: the share that the devices hold where each of
  /// several stages has some of the layers. Of other values, those of as many microbatches of all
  /// layers as `waiting` says.
  double residentShare = 1;
  /// Of how many microbatches at a time values wait: of a stage.
  Waiting waiting;
  /// s that holding a byte of a weight or a state costs, besides what computing with it takes.
  double weightSeconds = 0;
  /// Whether axes of the batch may split what no batch is in: states; what only they come of; and
  /// whether they must split the batch, wherever an operation lets them.
  bool splitsStates = true, splitsUpdates = true, splitsBatch = false;
  /// Whether they may split sums over microbatches of which nobody decided so.
  bool splitsSums = true;
  /// Whether they may split experts.
  bool splitsExperts = false;
  /// s: a split that takes longer is not looked for; 0: any
  double secondsLimit = 0;
  /// After so many rounds, where it is above 0, a split is looked for only where one was found, and
  /// one may take less than so many s; 0: any.
  int64_t firstRounds = 0;
  double hopefulSeconds = 0;
  /// Of what a split takes: one that takes less by no more than this share is not looked for.
  double gap = 0;

  bool operator==(const SearchOptions &) const = default;
};

/// B that a device of so many holds at least where the program holds most, however it is split.
double getLeastBytes(const ShardingProblem &problem, int64_t devices, double residentShare = 1);

/// The split of a program over a mesh of a cluster that takes the fewest seconds a step.
ShardingAnswer searchShardings(const ShardingProblem &problem, MeshPrices &prices,
                               const SearchOptions &options);
/// The same with tables that keep, from one problem to the next on this mesh, what ways between
/// shardings take.
ShardingAnswer searchShardings(const ShardingProblem &problem, MeshPrices &prices,
                               FormTables &tables, const SearchOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_STRATEGYGRAPH_H

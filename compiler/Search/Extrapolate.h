//===- Extrapolate.h - a short program for a long one -----------*- C++ -*-===//
//
// A deep model and one with fewer of its layers (compiler/Graph/Shorten.h) have the same kinds of
// operations; of each kind the deep one has as many more as every further layer brings. So their
// problems are the same but for these numbers, and an answer to one is an answer to the other:
//
//   count(80 layers) = count(10) + 70 · (count(11) - count(10))
//
// for operations of equal surroundings (FoldNodes.h), and for those of their tensors that are there
// when most is. What is found is what the search of the deep model would find, at its prices, in
// the time that a short one takes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_EXTRAPOLATE_H
#define WEFT_COMPILER_SEARCH_EXTRAPOLATE_H

#include "compiler/Search/StrategyGraph.h"

namespace weft {

/// The problem of a program with one layer more of one kind, and how many more there are in all.
struct FurtherLayers {
  const ShardingProblem *problem = nullptr;
  double count = 0;
};

/// Lets a problem stand for that of a program with more layers: fills in `counts` and `live`. False
/// where some operation of a longer program looks like none of the shorter one's, or the other way
/// round: it has too few layers for one that is far from both ends.
bool extrapolate(ShardingProblem &problem, llvm::ArrayRef<FurtherLayers> further);

/// An answer, and the problem that it is to.
struct KnownAnswer {
  const ShardingProblem *problem = nullptr;
  ShardingAnswer answer;
};

/// The same answer to a program with other numbers of layers, by its operations and their kinds:
/// what looks alike is split alike. None where some operation looks like none of those that the
/// answer is about.
std::optional<ShardingAnswer> carryOver(const KnownAnswer &known, const ShardingGraph &graph,
                                        llvm::ArrayRef<uint64_t> kinds);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_EXTRAPOLATE_H

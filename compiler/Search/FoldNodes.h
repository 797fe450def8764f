//===- FoldNodes.h - operations that look alike -----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_FOLDNODES_H
#define WEFT_COMPILER_SEARCH_FOLDNODES_H

#include "compiler/Sharding/ShardingGraph.h"

namespace weft {

/// Gives nodes colours such that those of equal colour are of equal kind (`kinds`) and have
/// neighbours of equal kind, and so on `steps` far (colour refinement; Weisfeiler and Leman 1968).
/// How many users of one colour a tensor has is not looked at: a mask that all layers read is the
/// same for ten and for a hundred. Time: linear in the graph for each step.
std::vector<uint64_t> colorNodes(const ShardingGraph &graph, llvm::ArrayRef<uint64_t> kinds,
                                 unsigned steps);

/// Numbers of colours, by first appearance.
std::vector<unsigned> numberColors(llvm::ArrayRef<uint64_t> colors);

/// Numbers nodes by their colours.
std::vector<unsigned> foldNodes(const ShardingGraph &graph, llvm::ArrayRef<uint64_t> kinds,
                                unsigned steps);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_FOLDNODES_H

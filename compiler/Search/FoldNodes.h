//===- FoldNodes.h - operations that look alike -----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_FOLDNODES_H
#define WEFT_COMPILER_SEARCH_FOLDNODES_H

#include "compiler/Sharding/ShardingGraph.h"

namespace weft {

/// Numbers nodes such that those of equal number are of equal kind (`kinds`) and have neighbours of
/// equal kind, and so on `steps` far (colour refinement; Weisfeiler and Leman 1968). Numbers are
/// given by first appearance. Time: linear in the graph for each step.
std::vector<unsigned> foldNodes(const ShardingGraph &graph, llvm::ArrayRef<uint64_t> kinds,
                                unsigned steps);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_FOLDNODES_H

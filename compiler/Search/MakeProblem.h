//===- MakeProblem.h - what a program asks of the search --------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_MAKEPROBLEM_H
#define WEFT_COMPILER_SEARCH_MAKEPROBLEM_H

#include "compiler/Search/StrategyGraph.h"
#include "compiler/Sharding/PlannedModule.h"

namespace weft {

/// What a part of a program asks of the search. It refers to the part.
ShardingProblem makeProblem(const PlannedPart &part);

/// Of that only what makes operations equal (ShardingProblem::kinds).
std::vector<uint64_t> listKinds(const PlannedPart &part);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_MAKEPROBLEM_H

//===- ChooseDecisions.h - a plan from a mesh -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_CHOOSEDECISIONS_H
#define WEFT_COMPILER_SEARCH_CHOOSEDECISIONS_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Sharding/PlannedModule.h"

namespace weft {

/// Notes in the parts' graphs which dimension of what they are handed is the batch: what comes of
/// the batch of the model's inputs in the parts before.
void propagateBatch(PlannedModule &planned);

/// The greedy choice (GreedyChoice.h) for every axis that no pin of its part mentions, as
/// decisions of a plan, to which it adds them, with what it refused. Changes the shardings in
/// `planned`, not the module.
void chooseDecisions(PlannedModule &planned, plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_CHOOSEDECISIONS_H

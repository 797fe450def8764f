//===- SearchDecisions.h - a searched plan ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SEARCHDECISIONS_H
#define WEFT_COMPILER_SEARCH_SEARCHDECISIONS_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Plan/plan.pb.h"
#include "compiler/Search/Extrapolate.h"
#include "compiler/Sharding/PlannedModule.h"

#include <map>

namespace weft {

class FunctionNames;

/// B of a device, by the group of devices that parts of a model stand on: by the first of them.
using BytesByGroup = std::map<int64_t, double>;

/// Says of what parts are handed which dimension is the batch, as the parts that make it know.
void propagateBatch(PlannedModule &planned);

/// What a device may hold, in B, by a plan and its cluster; 0: any. Devices of one host share its
/// memory, which only a person can divide.
double getMemoryLimit(const plan::Plan &plan, const ClusterModel &cluster);

/// Has the search of a plan that asks for stages which are not cut yet count, of the whole model,
/// what a device of one of them holds.
void countStages(const plan::Plan &plan, SearchOptions &options);

/// Adds an answer to a part to the plan: the splits of all operations, and the forms of inputs,
/// states and values.
void addDecisions(const PlannedPart &part, const ShardingAnswer &answer, FunctionNames &names,
                  plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SEARCHDECISIONS_H

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

/// SearchOptions::residentShare of a plan that asks for stages which are not cut yet.
double getResidentShare(const plan::Plan &plan);

/// Searches for the split of a part over its mesh that takes the least time on a cluster, and adds
/// it to the plan: the splits of all operations, and the forms of inputs, states and values.
ShardingAnswer searchDecisions(const PlannedPart &part, const ClusterModel &cluster,
                               const SearchOptions &options, FunctionNames &names,
                               plan::Plan &plan);

/// Adds to the plan what is known of another number of layers (carryOver). None where that does not
/// tell of this part, whose operations are of these kinds (listKinds).
std::optional<ShardingAnswer> adoptDecisions(const PlannedPart &part,
                                             llvm::ArrayRef<uint64_t> kinds,
                                             const KnownAnswer &known, FunctionNames &names,
                                             plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SEARCHDECISIONS_H

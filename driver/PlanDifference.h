//===- PlanDifference.h - in what two plans differ --------------*- C++ -*-===//

#ifndef WEFT_DRIVER_PLANDIFFERENCE_H
#define WEFT_DRIVER_PLANDIFFERENCE_H

#include "compiler/Plan/plan.pb.h"
#include <string>
#include <vector>

namespace weft {

/// What two plans say of one thing; empty where one says nothing.
struct Difference {
  std::string what; ///< a field ("training.accumulate"), or the value of a decision
  std::string first, second;
};

struct PlanDifference {
  std::vector<Difference> options;   ///< meshes, cuts, training: all but the model and decisions
  std::vector<Difference> decisions; ///< shardings by value, in the order of names
  bool sameModel = true;             ///< by fingerprint
};

/// The sharding that a decision gives; of a model in parts with the mesh.
std::string describeSharding(const plan::Plan &plan, const plan::Decision &decision);

PlanDifference comparePlans(const plan::Plan &first, const plan::Plan &second);

} // namespace weft

#endif // WEFT_DRIVER_PLANDIFFERENCE_H

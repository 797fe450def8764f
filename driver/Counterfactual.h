//===- Counterfactual.h - what another choice would cost --------*- C++ -*-===//
//
// Why a value lies as it does: the plan is searched again with the value pinned to each other way
// in which it could lie, all else open, and the best of these is lowered and simulated like the
// plan itself. Where nothing is cheaper, that is why; and the difference says by what.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_COUNTERFACTUAL_H
#define WEFT_DRIVER_COUNTERFACTUAL_H

#include "driver/PlanAnswer.h"

namespace weft {

/// What a plan comes to, in short.
struct PlanCost {
  double seconds = 0; ///< of a step, simulated
  int64_t bytes = 0;  ///< that a device allocates
  std::vector<WaterfallStep> waterfall;
  std::vector<PricedCollective> collectives;
};

/// The best plan in which a value lies otherwise.
struct Alternative {
  std::string sharding;
  PlanCost cost;
};

struct Counterfactual {
  std::string cluster; ///< on which both were priced
  /// Of the plan; where that was not searched for on this cluster, of the best plan in which the
  /// value lies as it does in this one.
  PlanCost chosen;
  bool isPlan = true;                         ///< whether `chosen` is the plan's own
  std::optional<Alternative> best;            ///< none: no other way was found that can be
  std::vector<std::string> tried, impossible; ///< shardings
};

/// The ways in which a tensor could lie where one axis of the mesh is moved or left out. Axes of
/// the batch split of activations the batch alone.
std::vector<TensorSharding> listOtherForms(const PlannedPart &part, unsigned tensor);

/// Compares a plan with the best one in which the value of this name, a tensor of `part`, lies
/// otherwise. `model` is what the plan is of, a training step where it trains; `answer` tells what
/// the plan comes to on its cluster. `count` plans at most are simulated.
Counterfactual compareForms(mlir::ModuleOp model, const plan::Plan &plan, const PlanAnswer &answer,
                            const PlannedPart &part, unsigned tensor, const std::string &name);

} // namespace weft

#endif // WEFT_DRIVER_COUNTERFACTUAL_H

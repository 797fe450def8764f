//===- PlanState.h - the plan of a pipeline in progress ---------*- C++ -*-===//

#ifndef WEFT_PASSES_PLANNING_PLANSTATE_H
#define WEFT_PASSES_PLANNING_PLANSTATE_H

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Search/Extrapolate.h"
#include "compiler/Search/PartAnswers.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Sharding/PlannedModule.h"
#include "passes/Planning/Passes.h"

#include <limits>
#include <memory>
#include <set>
#include <string>

namespace weft {

/// What the planning passes of one pipeline share. The plan comes from whoever builds the pipeline,
/// or from options of weft-apply-plan; the passes complete it and obey it.
struct PlanState {
  plan::Plan plan;
  /// The plan is of this very model, with all that is written in it: nothing is added.
  bool isWhole = false;
  bool isTrial = false;     ///< one of several: nobody reads in detail why it does not fit
  bool leastMemory = false; ///< what holds least is searched for, without a limit
  /// What was found of the same program with fewer layers: it is taken instead of a search.
  std::shared_ptr<const KnownAnswer> known;
  /// What was found of parts for this cluster: of this module, and of others before.
  std::shared_ptr<PartAnswers> answers = std::make_shared<PartAnswers>();
  /// B that the split holds that holds least, where it is known already that this is more than a
  /// device may hold; 0: not known.
  double excessiveBytes = 0;
  BytesByGroup limits;  ///< what the search counts is held to, where that is less than may be held
  BytesByGroup counted; ///< behind weft-choose-shardings, where it searched for a cluster
  std::set<std::string> chosenAxes; ///< of the mesh, whose sizes nobody asked for
  double timeLimit = std::numeric_limits<double>::infinity(); ///< s of the search
  PlanStatus status = PlanStatus::Applied;                    ///< of the pass that failed
  /// A module of one part as weft-choose-shardings read it, for weft-propagate-shardings, which
  /// takes it: it need not be read anew but for the shardings.
  std::optional<PlannedModule> read;
  std::optional<PlannedModule> planned; ///< behind weft-propagate-shardings
};

/// Without a plan in `state`, it is the one that the options name.
std::unique_ptr<mlir::Pass> createApplyPlan(std::shared_ptr<PlanState> state,
                                            const ApplyPlanOptions &options = {});
std::unique_ptr<mlir::Pass> createChooseShardings(std::shared_ptr<PlanState> state);
std::unique_ptr<mlir::Pass> createPropagateShardings(std::shared_ptr<PlanState> state);
std::unique_ptr<mlir::Pass> createSplitMicrobatches(std::shared_ptr<PlanState> state);

} // namespace weft

#endif // WEFT_PASSES_PLANNING_PLANSTATE_H

//===- FitPlan.h - plans whose programs fit their devices -------*- C++ -*-===//
//
// The search counts values, the program allocates them. So a plan of the search may allocate more
// than a device may hold, and where it finds none a program may fit.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_FITPLAN_H
#define WEFT_DRIVER_FITPLAN_H

#include "driver/Diagnostics.h"
#include "driver/HeldForms.h"
#include "driver/PlanSearch.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace weft {

/// A module to which a plan was applied.
struct PricedModule {
  PlannedModule planned;
  std::optional<SimulatedProgram> program; ///< where it was lowered to be priced
  std::vector<BlockSplits> blocks;         ///< where they were listed meanwhile
  BytesByGroup counted;                    ///< by the search, where there was one
};

/// What the program of a plan that was priced allocates, where a device may not hold as much; ""
/// where it fits.
std::string describeExcess(const plan::Plan &plan);

/// Where hosts keep something, they must hold it: fails with Infeasible where one has too little
/// memory. Warns where devices' memory is their host's: nothing is saved.
Outcome checkHosts(mlir::MLIRContext &context, const plan::Plan &plan,
                   const Simulation &simulation);

/// Notes in a plan what the program of the module that it was applied to takes. Where that is not
/// the caller's answer, it is lowered once more, which then says what there is to say.
Result<SimulatedProgram> pricePlanned(mlir::ModuleOp module, plan::Plan &plan, bool isAnswer);

/// Puts a changed copy of a module in its place.
void takeCopy(mlir::ModuleOp module, mlir::ModuleOp copy);

/// The same of one that is planned.
void takeCopy(mlir::ModuleOp module, mlir::ModuleOp copy, PlannedModule &planned);

/// Finds plans that fit for a module that is still to be planned, a copy of which it keeps.
class PlanFitting {
public:
  PlanFitting(mlir::ModuleOp module, const PlanSearch &trials, bool isAnswer)
      : module(module), open(module.clone()), trials(trials), isAnswer(isAnswer) {}

  mlir::ModuleOp getOpen() const { return open.get(); }

  /// Takes a plan that fits for one whose program does not: the search held to less, or the
  /// smallest. Refuses where there is none.
  Outcome makeFit(plan::Plan &plan, PricedModule &result);

  /// Takes the plan whose program allocates least, on any mesh that is `asked` for. Where that does
  /// not fit, refuses, and says why and what would fit.
  Outcome takeSmallest(const plan::Plan &asked, plan::Plan &plan, PricedModule &result,
                       llvm::function_ref<Outcome()> refuse);

private:
  Result<bool> take(const plan::Plan &found, plan::Plan &plan, PricedModule &result);

  mlir::ModuleOp module;
  mlir::OwningOpRef<mlir::ModuleOp> open;
  const PlanSearch &trials;
  bool isAnswer;
};

} // namespace weft

#endif // WEFT_DRIVER_FITPLAN_H

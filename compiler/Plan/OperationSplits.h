//===- OperationSplits.h - how a plan splits operations ---------*- C++ -*-===//
//
// A searched plan says of each operation how it is computed (plan::Split). Operations of one split
// stand together: the layers of a model take as many lines as one.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_OPERATIONSPLITS_H
#define WEFT_COMPILER_PLAN_OPERATIONSPLITS_H

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/OperationSplit.h"
#include <map>
#include <string>

namespace weft {

/// Notes splits of the operations of one part in a plan.
class SplitWriter {
public:
  SplitWriter(const ValueNames &names, const MeshShape &mesh, plan::Plan &plan)
      : names(names), mesh(mesh), plan(plan) {}

  void add(mlir::Operation &op, const FactorRule &rule, const OperationSplit &split);

private:
  const ValueNames &names;
  const MeshShape &mesh;
  plan::Plan &plan;
  std::map<std::string, int> known; ///< by what a split says, its number in the plan
};

/// Puts the plan's splits on the operations that they name (dist.split). Emits an error for names
/// that no operation has, and factors that it has not.
PlanStatus applySplits(mlir::ModuleOp module, const plan::Plan &plan, FunctionNames &names);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_OPERATIONSPLITS_H

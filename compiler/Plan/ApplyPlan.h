//===- ApplyPlan.h - a plan becomes meshes and pins -------------*- C++ -*-===//

#ifndef WEFT_COMPILER_PLAN_APPLYPLAN_H
#define WEFT_COMPILER_PLAN_APPLYPLAN_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Sharding/Axes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft {

enum class PlanStatus {
  Applied,
  UnknownName, ///< the plan names a value or weight that the model does not have
  Infeasible,  ///< a sharding does not fit its value, or the value was fused away
};

/// Names a weight in a plan: `weight:NAME`.
inline constexpr llvm::StringLiteral weightPrefix = "weight:";

/// Adds the plan's mesh to the module and pins its decisions on the values of @main and on weights
/// (by `weight:NAME`, or NAME where no value has it). The plan must be valid (validatePlan). What
/// cannot be applied is an error on the module, all of them reported; the status is the worst.
PlanStatus applyPlan(mlir::ModuleOp module, const plan::Plan &plan);

/// Pins decisions in a module that has their mesh.
PlanStatus pinDecisions(mlir::ModuleOp module, mlir::func::FuncOp main, const MeshShape &mesh,
                        llvm::ArrayRef<plan::Decision> decisions);

MeshShape getMeshShape(const plan::Mesh &mesh);
TensorSharding fromPlan(const plan::Sharding &sharding, const MeshShape &mesh);
plan::Sharding toPlan(const TensorSharding &sharding, const MeshShape &mesh);
plan::Mesh toPlan(const MeshShape &mesh);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_APPLYPLAN_H

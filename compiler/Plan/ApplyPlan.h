//===- ApplyPlan.h - a plan becomes meshes and pins -------------*- C++ -*-===//

#ifndef WEFT_COMPILER_PLAN_APPLYPLAN_H
#define WEFT_COMPILER_PLAN_APPLYPLAN_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Sharding/Axes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft {

class FunctionNames;

/// What became of applying a plan, the better before the worse.
enum class PlanStatus {
  Applied,
  BadModel,    ///< the model is none, or brings what it may not
  BadRequest,  ///< what the user asks for says nothing, or against what the model says
  UnknownName, ///< the plan names a value or weight that the model does not have
  Infeasible,  ///< a sharding does not fit its value, or the value was fused away
};

/// A plan names a weight by `weight:NAME`, a result of @main by `result:NAME`, where it is to lie
/// otherwise than the value returned, and by `value:NAME` what a weight is loaded as, where NAME
/// alone would mean the weight.
inline constexpr llvm::StringLiteral weightPrefix = "weight:", resultPrefix = "result:",
                                     valuePrefix = "value:";

/// The name of result `index` of @main or of a part: its `weft.name`, else, in @main, its number.
/// "" for what is handed to other parts.
std::string getResultName(mlir::func::FuncOp main, unsigned index);

/// Cuts @main where the plan says (cutMain). What cannot be cut is an error.
PlanStatus cutParts(mlir::ModuleOp module, const plan::Plan &plan);

/// Adds the plan's meshes to a module that was cut (cutParts), one for each part, and pins its
/// decisions on the values of the parts and on weights (by `weight:NAME`, or NAME where no value
/// has it). The plan must be valid (validatePlan). What cannot be applied, and what is decided
/// twice under two names, is an error on the module, all of them reported; the status is the worst.
PlanStatus applyPlan(mlir::ModuleOp module, const plan::Plan &plan);

/// Pins decisions in a module whose parts have meshes: each in the part on its mesh, one without a
/// mesh in every part that holds what it is about.
PlanStatus pinDecisions(mlir::ModuleOp module, llvm::ArrayRef<plan::Decision> decisions,
                        FunctionNames &names);

MeshShape getMeshShape(const plan::Mesh &mesh);
/// The mesh that a decision is about: the one it names, else the first that has its axes.
MeshShape getMeshShape(const plan::Plan &plan, const plan::Decision &decision);
/// Axes of a mesh, which must have them.
using PlanAxes = google::protobuf::RepeatedPtrField<plan::AxisRef>;
AxisList fromPlan(const PlanAxes &axes, const MeshShape &mesh);
plan::AxisRef toPlan(AxisRef axis, const MeshShape &mesh);
TensorSharding fromPlan(const plan::Sharding &sharding, const MeshShape &mesh);
plan::Sharding toPlan(const TensorSharding &sharding, const MeshShape &mesh);
plan::Mesh toPlan(const MeshShape &mesh);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_APPLYPLAN_H

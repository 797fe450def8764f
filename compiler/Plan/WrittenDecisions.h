//===- WrittenDecisions.h - what a module decides for itself ----*- C++ -*-===//
//
// A person may write a mesh and shardings into a module of the weft dialect (Decisions.h). For
// `weft plan` and `weft compile` they become decisions of the plan, which is all that is obeyed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_WRITTENDECISIONS_H
#define WEFT_COMPILER_PLAN_WRITTENDECISIONS_H

#include "compiler/Plan/plan.pb.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace weft {

/// What was written in a module. Without a mesh there are no decisions.
struct WrittenDecisions {
  std::optional<plan::Mesh> mesh;
  std::vector<plan::Decision> decisions; ///< values in the module's order, results, weights
};

/// Takes the mesh and all shardings out of a module with a function @main. Shardings are the user's
/// decisions, but for those that an earlier propagation noted as its own (PROPAGATED). More than
/// one mesh is an error on the module.
std::optional<WrittenDecisions> takeWrittenDecisions(mlir::ModuleOp module);

/// Adds what was written to a plan without axes: the mesh, and the decisions behind those that the
/// plan has. Returns what is wrong, or "": the plan decides otherwise about a value.
std::string addWrittenDecisions(const WrittenDecisions &written, plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_WRITTENDECISIONS_H

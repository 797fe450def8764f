//===- WrittenDecisions.h - what a module decides for itself ----*- C++ -*-===//
//
// A person may write meshes, parts that name them, and shardings into a module of the weft dialect
// (Parts.h, Decisions.h). For `weft plan` and `weft compile` meshes and shardings become the
// plan's, which is all that is obeyed; that a part runs on the mesh of a name stays said in the
// module.
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
  std::vector<plan::Mesh> meshes;        ///< several only where the model is in parts
  bool inParts = false;                  ///< the model is written in parts, which name meshes
  std::vector<plan::Decision> decisions; ///< by part: values in its order, results; weights
};

/// Takes meshes and all shardings out of a module with a function @main. Shardings are the user's
/// decisions, but for those that an earlier propagation noted as its own (PROPAGATED). Errors on
/// the module: more than one mesh where it is not in parts, parts that do not each name their mesh,
/// a mesh that no part names.
std::optional<WrittenDecisions> takeWrittenDecisions(mlir::ModuleOp module);

/// Adds what was written to a plan without axes: the meshes, and the decisions behind those that
/// the plan has. Returns what is wrong, or "": the plan decides otherwise about a value.
std::string addWrittenDecisions(const WrittenDecisions &written, plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_WRITTENDECISIONS_H

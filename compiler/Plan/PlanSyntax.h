//===- PlanSyntax.h - meshes and pins on the command line -------*- C++ -*-===//
//
//   mesh   data=2,model=4
//   pin    VALUE=[{data},{},{model}]     axes may be quoted; a sub-axis is "model":(1)2, of size 2
//   below 1 block
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_PLANSYNTAX_H
#define WEFT_COMPILER_PLAN_PLANSYNTAX_H

#include "compiler/Plan/plan.pb.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The mesh that `text` names; none with a message in `problem` if it is malformed.
std::optional<plan::Mesh> parseMesh(std::string_view text, std::string &problem);

/// The user's decision that `text` states. Axes are not looked up (checkAxes).
std::optional<plan::Decision> parsePin(std::string_view text, std::string &problem);

/// A plan that decides nothing but the pins, on the mesh that `mesh` names, or on one device where
/// it is empty: the model may bring a mesh, and the axes are looked up then. None with a message in
/// `problem` that names --mesh or --shard.
std::optional<plan::Plan> startPlan(const std::string &mesh, const std::vector<std::string> &pins,
                                    std::string &problem);

/// Checks that the decision's axes are the mesh's, with sub-axes that divide them, each digit used
/// once. Returns the problem, with the nearest axis name where there is one, or "".
std::string checkAxes(const plan::Decision &decision, const plan::Mesh &mesh);

/// `, did you mean 'X'?` with the name nearest to `name`, or "" if none is near.
std::string didYouMean(std::string_view name, const std::vector<std::string> &names);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_PLANSYNTAX_H

//===- PlanSyntax.h - meshes and pins on the command line -------*- C++ -*-===//
//
//   mesh   data=2,model=4                one a part of the model, separated by ';': data=2;model=2
//   pin    VALUE=[{data},{},{model}]     axes may be quoted; a sub-axis is "model":(1)2, of size 2
//   below 1 block; {data} unit 64 is padded by blocks of multiples of 64 elements
//          VALUE=@mesh1[{},{model}]      on one of the meshes that hold it
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

/// How the parts of a training step stand on meshes.
struct StageLayout {
  std::string schedule; ///< compiler/Schedule/Pipelines.h
  int chunks = 1;       ///< parts on each
};

/// The meshes that `text` names for `parts` parts, on devices one after another: one for each part
/// or, where several share devices, for each that share them; or one whose shape all of them have.
/// One part's is called `mesh`, several `mesh0`, `mesh1` … Empty with a message in `problem` if the
/// text is malformed or names another number.
std::vector<plan::Mesh> parseMeshes(std::string_view text, int parts, std::string &problem,
                                    const StageLayout &layout = {});

/// The meshes of parts, where `meshes` has one for each group of devices that parts share: with
/// their names and devices.
std::vector<plan::Mesh> placeMeshes(const std::vector<plan::Mesh> &meshes,
                                    const StageLayout &layout);

/// More devices than this are a slip of the keyboard.
inline constexpr int64_t maxDevices = int64_t{1} << 24;

/// Number of positions of a mesh; more than maxDevices where there are more.
int64_t countDevices(const plan::Mesh &mesh);

/// The user's decision that `text` states. Axes are not looked up (checkAxes).
std::optional<plan::Decision> parsePin(std::string_view text, std::string &problem);

/// A plan that decides nothing but the cuts and pins, on the meshes that `mesh` names, or on one
/// device a part where it is empty: the model may bring a mesh, and the axes are looked up then.
/// None with a message in `problem` that names --mesh or --shard.
std::optional<plan::Plan> startPlan(const std::string &mesh, const std::vector<std::string> &cuts,
                                    const std::vector<std::string> &pins, std::string &problem,
                                    const StageLayout &layout = {});

/// Checks that the decision's axes are the mesh's, with sub-axes that divide them, each digit used
/// once. Returns the problem, with the nearest axis name where there is one, or "".
std::string checkAxes(const plan::Decision &decision, const plan::Mesh &mesh);
std::string checkAxes(const plan::Split &split, const plan::Mesh &mesh);

/// `, did you mean 'X'?` with the name nearest to `name`, or "" if none is near.
std::string didYouMean(std::string_view name, const std::vector<std::string> &names);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_PLANSYNTAX_H

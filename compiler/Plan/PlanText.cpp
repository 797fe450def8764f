#include "compiler/Plan/PlanText.h"

#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TextProto.h"

#include <set>

using namespace weft;

static const char what[] = "plan";

std::optional<plan::Plan> weft::parsePlan(const std::string &text, const std::string &name,
                                          std::string &problem) {
  plan::Plan plan;
  problem = parseTextProto(text, name, what, plan);
  if (!problem.empty())
    return std::nullopt;
  if (std::string why = validatePlan(plan); !why.empty()) {
    problem = "plan " + name + ": " + why;
    return std::nullopt;
  }
  return plan;
}

std::optional<plan::Plan> weft::readPlan(const std::filesystem::path &path, std::string &problem) {
  std::optional<std::string> text = readTextFile(path, what, problem);
  return text ? parsePlan(*text, path.string(), problem) : std::nullopt;
}

std::string weft::printPlan(const plan::Plan &plan) {
  return printTextProto(
      plan, "A plan of weft: edit decisions as you like, then `weft compile MODEL --plan THIS`.");
}

static std::string validateMesh(const plan::Mesh &mesh) {
  std::set<std::string> names;
  if (mesh.name().empty())
    return "a mesh without a name";
  for (const plan::Axis &axis : mesh.axes()) {
    if (axis.name().empty() || axis.size() < 1)
      return "mesh '" + mesh.name() + "' has an axis without a name or a size";
    if (!names.insert(axis.name()).second)
      return "mesh '" + mesh.name() + "' has two axes '" + axis.name() + "'";
  }
  return "";
}

std::string weft::validatePlan(const plan::Plan &plan) {
  if (plan.version() != planVersion)
    return "expected version " + std::to_string(planVersion) +
           ", got: " + std::to_string(plan.version());
  if (plan.meshes_size() != 1)
    return "expected one mesh, got: " + std::to_string(plan.meshes_size());
  const plan::Mesh &mesh = plan.meshes(0);
  if (std::string why = validateMesh(mesh); !why.empty())
    return why;
  std::set<std::string> values;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.value().empty())
      return "a decision without a value";
    if (!values.insert(decision.value()).second)
      return "two decisions for '" + decision.value() + "'";
    if (decision.sharding().mesh() != mesh.name())
      return "sharding of '" + decision.value() + "': expected mesh '" + mesh.name() + "', got: '" +
             decision.sharding().mesh() + "'";
    if (std::string why = checkAxes(decision, mesh); !why.empty())
      return why;
  }
  return "";
}

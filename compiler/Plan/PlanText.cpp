#include "compiler/Plan/PlanText.h"

#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TextProto.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"

#include <algorithm>
#include <map>
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

void weft::nameMeshes(plan::Plan &plan) {
  if (plan.meshes_size() != 1)
    return;
  for (plan::Decision &decision : *plan.mutable_decisions())
    if (decision.sharding().mesh().empty())
      decision.mutable_sharding()->set_mesh(plan.meshes(0).name());
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
  if (countDevices(mesh) > maxDevices)
    return "mesh '" + mesh.name() + "' has more than " + std::to_string(maxDevices) + " devices";
  return "";
}

static bool haveSameAxes(const plan::Mesh &a, const plan::Mesh &b) {
  return std::equal(a.axes().begin(), a.axes().end(), b.axes().begin(), b.axes().end(),
                    [](const plan::Axis &left, const plan::Axis &right) {
                      return left.name() == right.name() && left.size() == right.size();
                    });
}

/// Meshes stand side by side; those of a training step's stages may stand on the same devices,
/// where they are alike. `groups` counts the different ones.
static std::string validateDevices(const plan::Plan &plan, int &groups) {
  std::map<int64_t, const plan::Mesh *> byDevice;
  for (const plan::Mesh &mesh : plan.meshes()) {
    const plan::Mesh *&first = byDevice[mesh.first_device()];
    if (first && !plan.has_training())
      return "two meshes begin at one device";
    if (first && !haveSameAxes(*first, mesh))
      return "meshes '" + first->name() + "' and '" + mesh.name() +
             "' share devices, expected their axes to be the same";
    first = first ? first : &mesh;
  }
  int64_t next = 0;
  for (auto [first, mesh] : byDevice) {
    if (first != next)
      return "mesh '" + mesh->name() + "' begins at device " + std::to_string(first) +
             ", expected meshes side by side: " + std::to_string(next);
    next += countDevices(*mesh);
    if (next > maxDevices)
      return "more than " + std::to_string(maxDevices) + " devices";
  }
  groups = static_cast<int>(byDevice.size());
  return "";
}

/// The stages of a training step lie on so many groups of devices as their schedule has it.
static std::string validateStages(const plan::Plan &plan, int groups) {
  int stages = plan.meshes_size(), chunks = stages / groups;
  if (!plan.has_training() || stages == 1)
    return "";
  const std::string &name = plan.training().pipeline();
  if (std::string why = schedule::checkPipelineName(name); !why.empty())
    return why;
  if (std::string why = schedule::checkChunks(name, chunks); !why.empty())
    return why;
  schedule::Placement placement = schedule::placePipeline(name, groups, chunks);
  for (int stage = 0; stage < stages; ++stage)
    if (groups * chunks != stages ||
        plan.meshes(stage).first_device() != plan.meshes(placement.ranks[stage]).first_device())
      return "stage " + std::to_string(stage) + " of " + std::to_string(stages) +
             " is not on the devices where schedule " + name + " has it";
  return "";
}

/// One mesh a part that is cut.
static std::string validateMeshes(const plan::Plan &plan) {
  int parts = plan.in_parts() ? std::max(plan.meshes_size(), 1) : plan.cuts_size() + 1;
  if (plan.in_parts() && !plan.cuts().empty())
    return "expected no cuts of a model that is written in parts";
  if (plan.meshes_size() != parts)
    return parts == 1 ? "expected one mesh, got: " + std::to_string(plan.meshes_size())
                      : "expected one mesh for each of " + std::to_string(parts) +
                            " parts, got: " + std::to_string(plan.meshes_size());
  std::set<std::string> names;
  for (const plan::Mesh &mesh : plan.meshes()) {
    if (std::string why = validateMesh(mesh); !why.empty())
      return why;
    if (!names.insert(mesh.name()).second)
      return "two meshes '" + mesh.name() + "'";
  }
  int groups = 0;
  std::string why = validateDevices(plan, groups);
  return why.empty() ? validateStages(plan, groups) : why;
}

/// Checks a decision against its mesh, or that it fits one where any may be meant.
static std::string validateDecision(const plan::Plan &plan, const plan::Decision &decision) {
  std::string why;
  for (const plan::Mesh &mesh : plan.meshes()) {
    if (!decision.sharding().mesh().empty() && decision.sharding().mesh() != mesh.name())
      continue;
    why = checkAxes(decision, mesh);
    if (why.empty() || !decision.sharding().mesh().empty())
      return why;
  }
  if (!why.empty())
    return why;
  std::vector<std::string> names;
  for (const plan::Mesh &mesh : plan.meshes())
    names.push_back(mesh.name());
  return "sharding of '" + decision.value() + "': expected mesh '" + plan.meshes(0).name() +
         (plan.meshes_size() > 1 ? "' …" : "'") + ", got: '" + decision.sharding().mesh() + "'" +
         didYouMean(decision.sharding().mesh(), names);
}

/// Each operation is split once on a mesh that there is.
static std::string validateSplits(const plan::Plan &plan) {
  std::set<std::pair<std::string, std::string>> operations;
  for (const plan::Split &split : plan.splits()) {
    auto mesh = std::find_if(plan.meshes().begin(), plan.meshes().end(),
                             [&](const plan::Mesh &own) { return own.name() == split.mesh(); });
    if (mesh == plan.meshes().end())
      return "a split on no mesh of the plan: '" + split.mesh() + "'";
    if (std::string why = checkAxes(split, *mesh); !why.empty())
      return why;
    for (const std::string &name : split.operations())
      if (!operations.insert({name, split.mesh()}).second)
        return "two splits of '" + name + "'";
  }
  return "";
}

std::string weft::validateDecisions(const plan::Plan &plan) {
  std::set<std::pair<std::string, std::string>> values;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.value().empty())
      return "a decision without a value";
    if (!values.insert({decision.value(), decision.sharding().mesh()}).second)
      return "two decisions for '" + decision.value() + "'";
    if (std::string why = validateDecision(plan, decision); !why.empty())
      return why;
    if (!plan::Reduction_IsValid(decision.sharding().reduction()))
      return "sharding of '" + decision.value() + "': no reduction has the number " +
             std::to_string(decision.sharding().reduction());
  }
  return "";
}

std::string weft::validatePlan(const plan::Plan &plan) {
  if (plan.version() != planVersion)
    return "expected version " + std::to_string(planVersion) +
           ", got: " + std::to_string(plan.version());
  if (std::string why = validateMeshes(plan); !why.empty())
    return why;
  if (plan.has_training())
    if (std::string why = validateTraining(plan.training()); !why.empty())
      return "training: " + why;
  if (plan.memory_limit() < 0)
    return "expected memory_limit of at least 0, got: " + std::to_string(plan.memory_limit());
  if (std::string why = validateSplits(plan); !why.empty())
    return why;
  return validateDecisions(plan);
}

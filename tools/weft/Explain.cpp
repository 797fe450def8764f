//===- Explain.cpp - weft explain -----------------------------------------===//

#include "compiler/Search/SearchDecisions.h"
#include "driver/Explainer.h"
#include "driver/PlanReport.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Json.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"
#include <fmt/format.h>
#include <memory>

using namespace weft;
using namespace weft::tool;

namespace {
struct ExplainCommand {
  std::string plan, value, model;
  ModelOptions load;
};
} // namespace

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// The reasons axis by axis.
static void printUnsplit(const std::vector<Unsplit> &notes) {
  std::string axis;
  for (const Unsplit &note : notes) {
    if (note.axis != axis)
      runtime::print("  not split by {}\n", axis = note.axis);
    std::string dims;
    if (!note.dims.empty())
      dims = fmt::format("dimension{} {}: ", note.dims.size() == 1 ? "" : "s",
                         fmt::join(note.dims, ", "));
    runtime::print("    {}{}\n", dims, note.reason);
  }
}

static void printText(const Explanation &explanation, bool namesMesh) {
  runtime::print("{} : {}\n  sharding {}{}\n", explanation.value, explanation.type,
                 explanation.sharding, namesMesh ? " on " + explanation.mesh : "");
  if (explanation.origins.empty())
    runtime::printText("  whole: no decision reaches it\n");
  for (const Origin &origin : explanation.origins) {
    runtime::print("  {}: {}\n",
                   origin.axes.empty() ? "whole"
                                       : fmt::format("{} on dimension {}", origin.axes, origin.dim),
                   origin.origin);
    for (const std::string &step : origin.steps)
      runtime::print("    {}\n", step);
    if (!origin.reason.empty())
      runtime::print("    because: {}\n", origin.reason);
  }
  printUnsplit(explanation.unsplit);
  auto describe = [](const runtime::CollectiveRecord &record) {
    std::string times = record.count == 1 ? "a" : fmt::format("{} times a", record.count);
    if (record.isTransfer())
      return fmt::format("transfer to {} of {} {} step", record.to, formatBytes(record.bytes),
                         times);
    return fmt::format("{} over {} of {} {} step", record.kind, fmt::join(record.axes, ","),
                       formatBytes(record.bytes), times);
  };
  for (const runtime::InspectedCollective &collective : explanation.collectives)
    runtime::print("  causes {}\n", describe(collective.record));
  for (const runtime::InspectedCollective &collective : explanation.effects)
    runtime::print("  leads to {} at '{}'\n", describe(collective.record),
                   collective.record.source);
  if (explanation.collectives.empty() && explanation.effects.empty())
    runtime::printText("  causes no collective\n");
}

static nlohmann::ordered_json toJson(const Explanation &explanation) {
  nlohmann::ordered_json json{{"value", explanation.value},
                              {"type", explanation.type},
                              {"sharding", explanation.sharding},
                              {"origins", nlohmann::ordered_json::array()},
                              {"unsplit", nlohmann::ordered_json::array()},
                              {"collectives", nlohmann::ordered_json::array()},
                              {"effects", nlohmann::ordered_json::array()}};
  for (const Origin &origin : explanation.origins)
    json["origins"].push_back(nlohmann::ordered_json{{"axes", origin.axes},
                                                     {"dim", origin.dim},
                                                     {"origin", origin.origin},
                                                     {"steps", origin.steps},
                                                     {"reason", origin.reason}});
  for (const Unsplit &note : explanation.unsplit)
    json["unsplit"].push_back(
        nlohmann::ordered_json{{"axis", note.axis}, {"dims", note.dims}, {"reason", note.reason}});
  for (const runtime::InspectedCollective &collective : explanation.collectives)
    json["collectives"].push_back(toJson(collective));
  for (const runtime::InspectedCollective &collective : explanation.effects)
    json["effects"].push_back(toJson(collective));
  return json;
}

/// Of values in the order of meshes.
static bool isOnSeveralMeshes(const std::vector<ValueSummary> &values) {
  return !values.empty() && values.front().mesh != values.back().mesh;
}

static void printList(const std::vector<ValueSummary> &values) {
  bool severalMeshes = isOnSeveralMeshes(values);
  size_t nameWidth = 5, typeWidth = 4, shardingWidth = 8;
  for (const ValueSummary &value : values) {
    nameWidth = std::max(nameWidth, value.value.size());
    typeWidth = std::max(typeWidth, value.type.size());
    shardingWidth = std::max(shardingWidth, value.sharding.size());
  }
  auto row = [&](const ValueSummary &value) {
    std::string line = fmt::format(
        "{}{:{}}  {:{}}  {:{}}  {}", severalMeshes ? value.mesh + "  " : "", value.value, nameWidth,
        value.type, typeWidth, value.sharding, shardingWidth, value.origin);
    runtime::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  };
  row({"value", "type", "sharding", "origin", "mesh "});
  for (const ValueSummary &value : values)
    row(value);
}

static void printJson(const std::vector<ValueSummary> &values) {
  auto json = nlohmann::ordered_json::array();
  for (const ValueSummary &value : values) {
    json.push_back(nlohmann::ordered_json{{"value", value.value},
                                          {"type", value.type},
                                          {"sharding", value.sharding},
                                          {"origin", value.origin}});
    if (isOnSeveralMeshes(values))
      json.back()["mesh"] = value.mesh;
  }
  printJsonValue(json);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

using Explainers = std::vector<std::unique_ptr<Explainer>>; // one a part of a model that is cut

/// The values of a module of the model, if the name is of one.
static int explainModule(const Explainers &explainers, const std::string &name,
                         const Common &common) {
  std::vector<ValueSummary> values;
  for (const auto &explainer : explainers)
    llvm::append_range(values, explainer->listUnder(name));
  if (values.empty()) {
    std::string unknown = explainers.front()->describeUnknown(name);
    for (const auto &explainer : explainers) // what was fused, or is nearly so called, elsewhere
      if (std::string other = explainer->describeUnknown(name); other.size() > unknown.size())
        unknown = other;
    return fail(Exit::Usage, unknown);
  }
  note("'" + name + "' is no value but a part of the model, which holds these");
  common.json ? printJson(values) : printList(values);
  return Exit::Ok;
}

/// Explains a value where it is computed, then where other meshes hold it.
static int explainValue(const Explainers &explainers, const std::string &value,
                        mlir::ModuleOp module, const Common &common) {
  std::vector<Explanation> explanations;
  for (const auto &explainer : explainers) {
    std::optional<unsigned> tensor = explainer->find(value);
    if (!tensor)
      continue;
    Result<runtime::InspectReport> report = reportPlan(module);
    if (report.failed())
      return report.getExitCode();
    explanations.push_back(explainer->explain(*tensor, report->collectives));
  }
  if (explanations.empty())
    return explainModule(explainers, value, common);
  if (common.json) {
    nlohmann::ordered_json json = toJson(explanations.front());
    if (explainers.size() > 1)
      json["mesh"] = explanations.front().mesh;
    for (const Explanation &other : llvm::ArrayRef(explanations).drop_front()) {
      json["other_meshes"].push_back(toJson(other));
      json["other_meshes"].back()["mesh"] = other.mesh;
    }
    printJsonValue(json);
    return Exit::Ok;
  }
  for (const Explanation &explanation : explanations)
    printText(explanation, explainers.size() > 1);
  return Exit::Ok;
}

static int runExplain(const ExplainCommand &command, const Common &common) {
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  Result<PlannedModel> model = readPlanned(context, command.plan, command.model, command.load);
  if (model.failed())
    return model.getExitCode();
  propagateBatch(model->planned);
  Explainers explainers;
  for (const PlannedPart &part : model->planned.parts)
    explainers.push_back(std::make_unique<Explainer>(part, model->plan));
  if (!command.value.empty())
    return explainValue(explainers, command.value, *model->module, common);
  std::vector<ValueSummary> values;
  for (const auto &explainer : explainers)
    llvm::append_range(values, explainer->list());
  common.json ? printJson(values) : printList(values);
  return Exit::Ok;
}

CLI::App *weft::tool::addExplain(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand(
      "explain", "say how a value is split, where that came from, and what it causes");
  auto options = std::make_shared<ExplainCommand>();
  command
      ->add_option("plan", options->plan, "a plan that `weft plan` wrote (-: the standard input)")
      ->required()
      ->type_name("PLAN");
  command
      ->add_option("value", options->value,
                   "a value, by its source name, weight:NAME, or a module, whose values are listed "
                   "(default: list all)")
      ->type_name("VALUE");
  command->add_option("--model", options->model, "the model, where it is not as the plan says")
      ->type_name("MODEL");
  addModelOptions(*command, options->load);
  command->footer("Examples:\n  weft explain plan.txtpb\n  weft explain plan.txtpb logits");
  run = [options, &common] { return runExplain(*options, common); };
  return command;
}

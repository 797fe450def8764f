//===- Explain.cpp - weft explain -----------------------------------------===//

#include "compiler/Search/SearchDecisions.h"
#include "driver/Explainer.h"
#include "driver/Planning.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/CounterfactualTable.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Json.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"
#include "tools/weft/Seconds.h"
#include <fmt/format.h>
#include <memory>

using namespace weft;
using namespace weft::tool;

/// Effects that are printed.
static constexpr size_t maxEffects = 8;

namespace {
struct ExplainCommand {
  std::string plan, value, model;
  ModelOptions load;
  bool noAlternatives = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static std::string describe(const PricedCollective &collective) {
  const runtime::CollectiveRecord &record = collective.record;
  std::string what = record.isTransfer()
                         ? fmt::format("transfer to {}", record.to)
                         : fmt::format("{} over {}", record.kind, fmt::join(record.axes, ","));
  std::string times = record.count == 1 ? "a" : fmt::format("{} times a", record.count);
  std::string seconds =
      collective.seconds > 0 ? ", " + formatSeconds(collective.seconds) + " in all" : "";
  return fmt::format("{} of {} {} step{}", what, formatBytes(record.bytes), times, seconds);
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
  for (const std::string &sum : explanation.sums)
    runtime::print("  {}\n", sum);
  for (const PricedCollective &collective : explanation.collectives)
    runtime::print("  causes {}\n", describe(collective));
  llvm::ArrayRef<PricedCollective> effects = explanation.effects;
  for (const PricedCollective &collective : effects.take_front(maxEffects))
    runtime::print("  leads to {} at '{}'\n", describe(collective), collective.record.source);
  if (effects.size() > maxEffects)
    runtime::print("  and to {} more (--json lists them)\n", effects.size() - maxEffects);
  if (explanation.collectives.empty() && explanation.effects.empty())
    runtime::printText("  causes no collective\n");
}

static nlohmann::ordered_json toJson(const Explanation &explanation) {
  nlohmann::ordered_json json{{"value", explanation.value},
                              {"type", explanation.type},
                              {"sharding", explanation.sharding},
                              {"origins", nlohmann::ordered_json::array()},
                              {"sums", explanation.sums},
                              {"collectives", nlohmann::ordered_json::array()},
                              {"effects", nlohmann::ordered_json::array()}};
  for (const Origin &origin : explanation.origins)
    json["origins"].push_back(nlohmann::ordered_json{{"axes", origin.axes},
                                                     {"dim", origin.dim},
                                                     {"origin", origin.origin},
                                                     {"steps", origin.steps},
                                                     {"reason", origin.reason}});
  auto add = [&](const PricedCollective &collective, const char *key) {
    json[key].push_back(toJson(static_cast<const runtime::InspectedCollective &>(collective)));
    json[key].back()["seconds"] = collective.seconds;
  };
  for (const PricedCollective &collective : explanation.collectives)
    add(collective, "collectives");
  for (const PricedCollective &collective : explanation.effects)
    add(collective, "effects");
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

/// What a plan comes to: on its cluster, or on as many cores of a host.
static Result<PlanAnswer> answer(PlannedModel &model) {
  if (model.plan.cluster().empty()) {
    int64_t ranks = 0;
    for (const PlannedPart &part : model.planned.parts)
      ranks += part.mesh.devices();
    model.plan.set_cluster(fmt::format("cpu:{}", ranks));
  }
  return answerPlan(*model.module, model.planned, model.plan);
}

/// What the other ways in which a value could lie would cost.
static Result<Counterfactual> compare(mlir::MLIRContext &context, PlannedModel &model,
                                      const PlanAnswer &answer, const Explainer &explainer,
                                      unsigned tensor) {
  Result<mlir::OwningOpRef<mlir::ModuleOp>> open = loadOpen(context, model);
  if (open.failed())
    return open.getOutcome();
  return compareForms(**open, model.plan, answer, explainer.getPart(), tensor,
                      explainer.nameOf(tensor));
}

namespace {
/// An explanation, and what there was to choose.
struct Explained {
  Explanation explanation;
  std::optional<Counterfactual> counterfactual;
};
} // namespace

static void print(const std::vector<Explained> &all, const Explainers &explainers) {
  for (const Explained &explained : all) {
    printText(explained.explanation, explainers.size() > 1);
    if (explained.counterfactual)
      printCounterfactual(*explained.counterfactual);
  }
}

static void printJson(const std::vector<Explained> &all, const Explainers &explainers) {
  nlohmann::ordered_json json;
  for (const Explained &explained : all) {
    nlohmann::ordered_json own = toJson(explained.explanation);
    if (explained.counterfactual)
      own["alternatives"] = toJson(*explained.counterfactual);
    if (explainers.size() > 1)
      own["mesh"] = explained.explanation.mesh;
    if (json.is_null())
      json = own;
    else
      json["other_meshes"].push_back(own);
  }
  printJsonValue(json);
}

/// Explains a value where it is computed, then where other meshes hold it.
static int explainValue(const Explainers &explainers, const ExplainCommand &command,
                        mlir::MLIRContext &context, PlannedModel &model, const Common &common) {
  std::vector<Explained> all;
  std::optional<PlanAnswer> answer;
  for (const auto &explainer : explainers) {
    std::optional<unsigned> tensor = explainer->find(command.value);
    if (!tensor)
      continue;
    if (!answer) {
      Result<PlanAnswer> told = ::answer(model);
      if (told.failed())
        return told.getExitCode();
      answer = std::move(*told);
    }
    all.push_back({explainer->explain(*tensor, answer->collectives), std::nullopt});
    if (command.noAlternatives || !answer->priced)
      continue;
    Result<Counterfactual> other = compare(context, model, *answer, *explainer, *tensor);
    if (other.failed())
      return other.getExitCode();
    all.back().counterfactual = std::move(*other);
  }
  if (all.empty())
    return explainModule(explainers, command.value, common);
  common.json ? printJson(all, explainers) : print(all, explainers);
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
    return explainValue(explainers, command, context, *model, common);
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
  command->add_flag("--no-alternatives", options->noAlternatives,
                    "search for no plan in which the value lies otherwise");
  command->footer("Examples:\n  weft explain plan.txtpb\n  weft explain plan.txtpb logits");
  run = [options, &common] { return runExplain(*options, common); };
  return command;
}

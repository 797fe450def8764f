//===- Explain.cpp - weft explain -----------------------------------------===//

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/ValueNames.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "tools/weft/PlanReport.h"
#include "tools/weft/Planning.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>
#include <iostream>

using namespace weft;
using namespace weft::tool;

namespace {
struct ExplainCommand {
  std::string plan, value, model;
  ModelOptions load;
};

/// Why a dimension is split by some axes.
struct Origin {
  std::string axes;
  unsigned dim = 0;
  std::string origin;                     ///< user, chosen or propagated
  std::vector<std::string> steps;         ///< how it was propagated, backwards to the decision
  std::string reason;                     ///< of the decision
  unsigned decided = ShardingGraph::none; ///< the tensor that the decision is about
};

struct Explanation {
  std::string value, type, sharding;
  std::vector<Origin> origins;
  std::vector<CollectiveUse> collectives; ///< of the value itself
  std::vector<CollectiveUse> effects;     ///< of other values, because of a decision on this one
};

class Explainer {
public:
  Explainer(const PlannedModule &planned, const plan::Plan &plan)
      : planned(planned), names(planned.main) {
    for (const plan::Decision &decision : plan.decisions())
      decisions[decision.value()] = &decision;
    for (auto [index, growth] : llvm::enumerate(planned.shardings->history()))
      growths[growth.tensor].push_back(index);
  }

  /// The tensor that a name stands for: of a value, or of the first load of a weight.
  std::optional<unsigned> find(llvm::StringRef name) const;
  std::vector<std::string> allNames() const;
  Explanation explain(unsigned tensor, llvm::ArrayRef<CollectiveUse> collectives) const;

private:
  unsigned causeOf(const CollectiveUse &use) const;
  const plan::Decision *decisionOf(unsigned tensor) const;
  const Propagation::Growth *growthOf(unsigned tensor, llvm::ArrayRef<AxisRef> axes) const;
  struct Step {
    unsigned from, node;
  };
  bool decides(const plan::Decision &decision, llvm::ArrayRef<AxisRef> axes) const;
  std::optional<Step> stepBack(unsigned tensor, llvm::ArrayRef<AxisRef> axes,
                               const llvm::DenseSet<unsigned> &seen) const;
  Origin originOf(unsigned tensor, unsigned dim, const AxisList &axes) const;
  static std::string originName(const plan::Decision &decision) {
    return decision.origin() == plan::USER ? "user" : "chosen";
  }

  const PlannedModule &planned;
  ValueNames names;
  llvm::StringMap<const plan::Decision *> decisions;
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned, 2>> growths; ///< tensor to history
};
} // namespace

/// A chain of propagation longer than this is cut: it repeats a layer.
static constexpr size_t maxSteps = 24;

std::optional<unsigned> Explainer::find(llvm::StringRef name) const {
  llvm::StringRef weight = name;
  bool ofWeight = weight.consume_front(weightPrefix);
  if (auto loads = planned.loads.find(weight); loads != planned.loads.end())
    return loads->second.front();
  mlir::Value value = ofWeight ? mlir::Value() : names.lookup(name);
  auto found = value ? planned.function->tensors.find(value) : planned.function->tensors.end();
  if (found == planned.function->tensors.end())
    return std::nullopt;
  return found->second;
}

std::vector<std::string> Explainer::allNames() const {
  std::vector<std::string> all = names.all();
  for (const auto &[weight, loads] : planned.loads)
    all.push_back(weight.str());
  return all;
}

const plan::Decision *Explainer::decisionOf(unsigned tensor) const {
  mlir::Value value = planned.function->values[tensor];
  if (auto load = value.getDefiningOp<LoadOp>())
    for (const std::string &name :
         {(weightPrefix + load.getWeight()).str(), load.getWeight().str()})
      if (const plan::Decision *decision = decisions.lookup(name))
        return decision;
  return decisions.lookup(names.get(value));
}

/// How the tensor got the axes; null if it was given them.
const Propagation::Growth *Explainer::growthOf(unsigned tensor,
                                               llvm::ArrayRef<AxisRef> axes) const {
  auto found = growths.find(tensor);
  if (found == growths.end())
    return nullptr;
  for (unsigned index : found->second)
    if (const auto &growth = planned.shardings->history()[index]; overlaps(growth.axes, axes))
      return &growth;
  return nullptr;
}

/// Whether the plan decides that the tensor has the axes, and does not merely keep them.
bool Explainer::decides(const plan::Decision &decision, llvm::ArrayRef<AxisRef> axes) const {
  return decision.origin() == plan::USER ||
         llvm::any_of(decision.chosen_axes(), [&](const std::string &name) {
           std::optional<unsigned> axis = planned.mesh.find(name);
           return axis && overlaps(axes, wholeAxis(planned.mesh, *axis));
         });
}

/// One step back on the way that the axes came to a tensor: the tensor before, none that was
/// `seen`, and the node between. None where it was given them.
std::optional<Explainer::Step> Explainer::stepBack(unsigned tensor, llvm::ArrayRef<AxisRef> axes,
                                                   const llvm::DenseSet<unsigned> &seen) const {
  const Propagation::Growth *growth = growthOf(tensor, axes);
  if (growth && growth->from != ShardingGraph::none && !seen.contains(growth->from))
    return Step{growth->from, growth->node};
  // A decision that keeps what had come by propagation has no history: its operands have.
  const ShardingGraph &graph = planned.function->graph;
  unsigned producer = graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none)
    return std::nullopt;
  for (unsigned operand : graph.nodes[producer].operands)
    if (!seen.contains(operand) &&
        llvm::any_of(planned.shardings->get(operand).dims,
                     [&](const AxisList &list) { return overlaps(list, axes); }))
      return Step{operand, producer};
  return std::nullopt;
}

Origin Explainer::originOf(unsigned tensor, unsigned dim, const AxisList &axes) const {
  Origin origin{str(planned.mesh, axes), dim, "propagated", {}, ""};
  llvm::DenseSet<unsigned> seen;
  while (seen.insert(tensor).second) {
    if (const plan::Decision *decision = decisionOf(tensor); decision && decides(*decision, axes)) {
      origin.decided = tensor;
      origin.reason = decision->reason();
      if (origin.steps.empty())
        origin.origin = originName(*decision);
      else
        origin.steps.push_back("which the plan decides (" + originName(*decision) + ")");
      break;
    }
    std::optional<Step> step = stepBack(tensor, axes, seen);
    if (!step)
      break;
    mlir::Operation *op = planned.function->operations[step->node];
    if (origin.steps.size() < maxSteps)
      origin.steps.push_back(fmt::format("from '{}' through {}",
                                         names.get(planned.function->values[step->from]),
                                         op->getName().getStringRef().str()));
    tensor = step->from;
  }
  return origin;
}

/// The tensor whose decision makes a collective: where its value is a reduction, how what is
/// reduced came to be split; else how the value itself did.
unsigned Explainer::causeOf(const CollectiveUse &use) const {
  std::optional<unsigned> about = find(use.source);
  if (!about)
    return ShardingGraph::none;
  AxisList axes;
  for (const std::string &name : use.axes)
    axes.push_back(wholeAxis(planned.mesh, *planned.mesh.find(name)));
  llvm::SmallVector<unsigned, 4> places{*about};
  const ShardingGraph &graph = planned.function->graph;
  if (unsigned node = graph.tensors[*about].producer; node != ShardingGraph::none)
    places.append(graph.nodes[node].operands.begin(), graph.nodes[node].operands.end());
  for (unsigned tensor : places)
    for (auto [dim, list] : llvm::enumerate(planned.shardings->get(tensor).dims))
      if (overlaps(list, axes))
        return originOf(tensor, dim, list).decided;
  return ShardingGraph::none;
}

Explanation Explainer::explain(unsigned tensor, llvm::ArrayRef<CollectiveUse> collectives) const {
  mlir::Value value = planned.function->values[tensor];
  const TensorSharding &sharding = planned.shardings->get(tensor);
  Explanation result;
  result.value = names.get(value);
  llvm::raw_string_ostream(result.type) << value.getType();
  result.sharding = str(planned.mesh, sharding);
  for (auto [dim, axes] : llvm::enumerate(sharding.dims))
    for (AxisRef axis : axes)
      result.origins.push_back(originOf(tensor, dim, {axis}));
  if (const plan::Decision *decision = decisionOf(tensor); decision && result.origins.empty())
    result.origins.push_back({"", 0, originName(*decision), {}, decision->reason(), tensor});
  std::string source = getSourceName(value);
  bool isDecided = decisionOf(tensor) != nullptr;
  for (const CollectiveUse &use : collectives)
    if (!source.empty() && use.source == source)
      result.collectives.push_back(use);
    else if (isDecided && causeOf(use) == tensor)
      result.effects.push_back(use);
  return result;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void printText(const Explanation &explanation) {
  std::cout << fmt::format("{} : {}\n  sharding {}\n", explanation.value, explanation.type,
                           explanation.sharding);
  if (explanation.origins.empty())
    std::cout << "  whole: no decision reaches it\n";
  for (const Origin &origin : explanation.origins) {
    std::cout << "  "
              << (origin.axes.empty() ? "whole"
                                      : fmt::format("{} on dimension {}", origin.axes, origin.dim))
              << ": " << origin.origin << "\n";
    for (const std::string &step : origin.steps)
      std::cout << "    " << step << "\n";
    if (!origin.reason.empty())
      std::cout << "    because: " << origin.reason << "\n";
  }
  for (const CollectiveUse &use : explanation.collectives)
    std::cout << fmt::format("  causes {} over {} of {} a step\n", use.kind,
                             fmt::join(use.axes, ","), humanBytes(use.bytes));
  for (const CollectiveUse &use : explanation.effects)
    std::cout << fmt::format("  leads to {} over {} of {} a step at '{}'\n", use.kind,
                             fmt::join(use.axes, ","), humanBytes(use.bytes), use.source);
  if (explanation.collectives.empty() && explanation.effects.empty())
    std::cout << "  causes no collective\n";
}

static void printJson(const Explanation &explanation) {
  nlohmann::ordered_json json{{"value", explanation.value},
                              {"type", explanation.type},
                              {"sharding", explanation.sharding},
                              {"origins", nlohmann::ordered_json::array()},
                              {"collectives", nlohmann::ordered_json::array()},
                              {"effects", nlohmann::ordered_json::array()}};
  for (const Origin &origin : explanation.origins)
    json["origins"].push_back(nlohmann::ordered_json{{"axes", origin.axes},
                                                     {"dim", origin.dim},
                                                     {"origin", origin.origin},
                                                     {"steps", origin.steps},
                                                     {"reason", origin.reason}});
  for (const CollectiveUse &use : explanation.collectives)
    json["collectives"].push_back(toJson(use));
  for (const CollectiveUse &use : explanation.effects)
    json["effects"].push_back(toJson(use));
  std::cout << json.dump(2) << "\n";
}

static int runExplain(const ExplainCommand &command, const Common &common) {
  ModelOptions load = command.load;
  plan::Plan plan;
  if (int code = preparePlan({command.plan, "", {}}, load, plan))
    return code;
  std::string path = command.model.empty() ? findModel(plan, command.plan) : command.model;
  if (path.empty())
    return fail(Exit::BadInput, "the plan's model '" + plan.model().path() +
                                    "' is not there; name it with --model");
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (int code = loadModel(context, path, load, /*requireData=*/false, module))
    return code;
  std::optional<PlannedModule> planned;
  if (int code = planModule(*module, plan, planned))
    return code;
  Explainer explainer(*planned, plan);
  std::optional<unsigned> tensor = explainer.find(command.value);
  if (!tensor)
    return fail(Exit::Usage, "the model has no value '" + command.value + "'" +
                                 didYouMean(command.value, explainer.allNames()));
  PrintDiagnostics printer(&context);
  std::optional<PlanReport> report = reportPlan(*module);
  if (!report)
    return Exit::Infeasible;
  Explanation explanation = explainer.explain(*tensor, report->collectives);
  common.json ? printJson(explanation) : printText(explanation);
  return Exit::Ok;
}

CLI::App *weft::tool::addExplain(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand(
      "explain", "say how a value is split, where that came from, and what it causes");
  auto options = std::make_shared<ExplainCommand>();
  command->add_option("plan", options->plan, "a plan that `weft plan` wrote")
      ->required()
      ->type_name("PLAN");
  command->add_option("value", options->value, "a value, by its source name, or weight:NAME")
      ->required()
      ->type_name("VALUE");
  command->add_option("--model", options->model, "the model, where it is not as the plan says")
      ->type_name("MODEL");
  addModelOptions(*command, options->load);
  command->footer("Example:\n  weft explain plan.txtpb logits");
  run = [options, &common] { return runExplain(*options, common); };
  return command;
}

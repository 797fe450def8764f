#include "compiler/Search/SearchDecisions.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/OperationSplits.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

namespace {
class AnswerWriter {
public:
  AnswerWriter(const PlannedPart &part, const ShardingAnswer &answer, const ValueNames &names,
               plan::Plan &plan)
      : part(part), function(*part.function), answer(answer), names(names), plan(plan) {
    for (const plan::Decision &decision : plan.decisions())
      decided.insert(decision.value());
  }

  void write();

private:
  void decide(const std::string &name, const TensorSharding &sharding, const char *reason);
  void writeValues();
  void writeResults();

  const PlannedPart &part;
  const FunctionGraph &function;
  const ShardingAnswer &answer;
  const ValueNames &names;
  plan::Plan &plan;
  llvm::StringSet<> decided; ///< what the plan says already stays: people's pins, an optimizer's
};
} // namespace

void AnswerWriter::decide(const std::string &name, const TensorSharding &sharding,
                          const char *reason) {
  if (!decided.insert(name).second)
    return;
  plan::Decision &decision = *plan.add_decisions();
  decision.set_value(name);
  *decision.mutable_sharding() = toPlan(sharding, part.mesh);
  decision.set_origin(plan::SEARCHED);
  decision.set_reason(reason);
  for (auto [index, axis] : llvm::enumerate(part.mesh.axes))
    if (sharding.uses(fullAxis(part.mesh, index)))
      decision.add_chosen_axes(axis.name);
}

/// Inputs, states, and values that are kept otherwise than their operation makes them.
void AnswerWriter::writeValues() {
  llvm::DenseSet<StringRef> states;
  SymbolTable weights(func::FuncOp(part.main)->getParentOfType<ModuleOp>());
  for (auto [tensor, value] : llvm::enumerate(function.values)) {
    const std::optional<TensorSharding> &form = answer.forms[tensor];
    if (!form || part.shardings->isPinned(tensor))
      continue;
    if (auto load = value.getDefiningOp<LoadOp>()) {
      // Of a weight that people pinned, the search may yet decide how some of its loads are read.
      WeightOp weight = weights.lookup<WeightOp>(load.getWeight());
      if (!dist::isStoragePinned(weight, part.mesh.name) && states.insert(load.getWeight()).second)
        decide((weightPrefix + load.getWeight()).str(), *form, "where a state lies");
      continue;
    }
    unsigned producer = function.graph.tensors[tensor].producer;
    if (function.graph.tensors[tensor].input) {
      decide(names.get(value), *form, "how an input comes");
      continue;
    }
    const ShardingGraph::Node &node = function.graph.nodes[producer];
    unsigned result = llvm::find(node.results, tensor) - node.results.begin();
    if (getResultForm(node.rule, result, answer.splits[producer]) != *form)
      decide(names.get(value), *form, "kept so for all that use it");
  }
}

void AnswerWriter::writeResults() {
  func::FuncOp main = part.main;
  for (OpOperand &end : main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned tensor = function.tensors.lookup(end.get());
    std::string name = getResultName(main, end.getOperandNumber());
    if (answer.returned[tensor] && !name.empty() &&
        !main.getResultAttr(end.getOperandNumber(), dist::kShardingAttr))
      decide((resultPrefix + name).str(), *answer.returned[tensor], "how it is left");
  }
}

void AnswerWriter::write() {
  SplitWriter splits(names, part.mesh, plan);
  for (auto [op, node, split] :
       llvm::zip_equal(function.operations, function.graph.nodes, answer.splits))
    if (!node.operands.empty() && !node.results.empty())
      splits.add(*op, node.rule, split);
  writeValues();
  writeResults();
}

/// The tensor that a channel hands to a part.
static ShardingGraph::Tensor &getHanded(PlannedModule &planned, const Channel &channel) {
  PlannedPart &to = planned.parts[channel.to];
  return to.function->graph
      .tensors[to.function->tensors.lookup(to.main.getArgument(channel.argument))];
}

/// Tells the parts that a part hands values to what of them is the batch.
static void tellOfBatch(PlannedModule &planned, unsigned number) {
  PlannedPart &part = planned.parts[number];
  BatchDimensions batch(part.function->graph);
  Operation *end = part.main.getBody().front().getTerminator();
  for (const Channel &channel : planned.channels) {
    if (channel.from != number)
      continue;
    unsigned source = part.function->tensors.lookup(end->getOperand(channel.result));
    getHanded(planned, channel).batchDim = batch.all()[source].find_first();
  }
}

void weft::propagateBatch(PlannedModule &planned) {
  if (planned.channels.empty())
    return;
  for (const Channel &channel : planned.channels) {
    ShardingGraph::Tensor &tensor = getHanded(planned, channel);
    tensor.batchDim = -1;
    tensor.handed = planned.parts[channel.from].mesh.name != planned.parts[channel.to].mesh.name;
  }
  // So that what a part is handed is known when its turn comes: by earlier parts, then, of the
  // stages of a training step, by later ones.
  auto numbers = llvm::seq<unsigned>(0, planned.parts.size());
  for (unsigned number : numbers)
    tellOfBatch(planned, number);
  if (llvm::any_of(planned.channels,
                   [](const Channel &channel) { return channel.from > channel.to; }))
    for (unsigned number : llvm::reverse(numbers))
      tellOfBatch(planned, number);
}

/// The most that a rank of a schedule has of all its stages, as a share of as many of all stages.
static double getMost(const schedule::Placement &placement, ArrayRef<schedule::Waiting> counts,
                      int32_t schedule::Waiting::*kind) {
  int64_t most = 0;
  for (const std::vector<int32_t> &stages : placement.getChunks()) {
    int64_t sum = 0;
    for (int32_t stage : stages)
      sum += counts[stage].*kind;
    most = std::max(most, sum);
  }
  return static_cast<double>(most) / static_cast<double>(counts.size());
}

void weft::countStages(const plan::Plan &plan, SearchOptions &options) {
  if (plan.stages() <= 1)
    return;
  options.residentShare = 1 / static_cast<double>(plan.stages());
  schedule::Pipeline pipeline = getPipeline(plan);
  pipeline.slices = 1;
  pipeline.ranks = static_cast<int32_t>(plan.stages());
  pipeline.chunks = plan.chunks() > 0 ? static_cast<int32_t>(plan.chunks())
                                      : schedule::getUsualChunks(pipeline.name);
  std::string problem;
  std::optional<schedule::Schedule> schedule;
  if (plan.has_training() && pipeline.microbatches > 1)
    schedule = schedule::makePipeline(pipeline, problem);
  if (!schedule)
    return;
  std::vector<schedule::Waiting> counts = schedule::countWaiting(*schedule);
  auto find = [&](auto kind) { return getMost(schedule->placement, counts, kind); };
  options.waiting = {find(&schedule::Waiting::kept), find(&schedule::Waiting::putOff)};
}

double weft::getMemoryLimit(const plan::Plan &plan, const ClusterModel &cluster) {
  if (plan.memory_limit() > 0)
    return static_cast<double>(plan.memory_limit());
  const GroupModel &group = cluster.groups.front();
  bool shares = !group.tiers.empty() && group.tiers.front().medium == cluster::MEMORY;
  return shares ? 0 : group.device.memory / (1 + CostConstants().allocatorReserve);
}

void weft::addDecisions(const PlannedPart &part, const ShardingAnswer &answer, FunctionNames &names,
                        plan::Plan &plan) {
  AnswerWriter(part, answer, names.of(part.main), plan).write();
}

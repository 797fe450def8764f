#include "compiler/Validate/TransformerStep.h"
#include "compiler/Schedule/Check.h"
#include "compiler/Schedule/Lower.h"
#include "compiler/Schedule/Named.h"
#include "compiler/Simulate/Simulator.h"
#include "compiler/Validate/StageModel.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace weft;
using namespace weft::validate;

using schedule::Action;
using schedule::ActionKind;

namespace {

/// Owners of memory, the classes of compiler/Cost in their order.
const std::vector<std::string> ownerNames = {"weights",     "gradients",     "optimizer",
                                             "activations", "communication", "workspace"};

int32_t getOwner(MemoryClass use) { return static_cast<int32_t>(use); }

/// How much of a step is run, to tell what each part adds.
enum class Extent { Pipeline, Communicated, Whole };

/// What the actions of a step consist of.
class StepSource : public schedule::SegmentSource {
public:
  StepSource(const StageModel &model, const schedule::Schedule &schedule,
             const CostConstants &constants, Extent extent)
      : model(model), schedule(schedule), constants(constants), extent(extent),
        chunks(schedule.placement.getChunks()) {
    for (int64_t stage = 0; stage < schedule.placement.getNumStages(); ++stage) {
      stages.push_back(model.getStage(stage));
      ends.push_back(model.getEnds(stage));
      mostLayers = std::max(mostLayers, static_cast<int32_t>(model.getLayers(stage)));
    }
  }

  int32_t getVariant(const Action &action) const override {
    return static_cast<int32_t>(isFirst(action) || isLast(action));
  }
  std::vector<sim::Instruction> makeInstructions(const Action &action) override;
  sim::Instruction makeSend(const Action &action) override;

  /// Ids of events that a rank uses.
  int32_t getNumEvents() const {
    size_t most = 0;
    for (const std::vector<int32_t> &entry : chunks)
      most = std::max(most, entry.size());
    return 1 + 2 * static_cast<int32_t>(most) * (mostLayers + 1);
  }

private:
  bool communicates() const { return extent != Extent::Pipeline; }
  bool overlaps() const { return communicates() && model.getSoftware().overlapData; }
  /// A stage's first forward waits for its weights layer by layer.
  bool isFirst(const Action &action) const {
    return action.kind == ActionKind::Forward && action.microbatch == 0 && overlaps() &&
           model.getGatherSeconds(1) > 0;
  }
  /// A stage's last backward gives its gradients away layer by layer.
  bool isLast(const Action &action) const {
    bool finishes =
        action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardWeight;
    return finishes && action.microbatch == schedule.numMicrobatches - 1 && overlaps() &&
           model.getReduceSeconds(1) > 0;
  }
  enum Event { Gathered, Computed };
  int32_t getEvent(Event event, int32_t stage, int32_t layer) const {
    int32_t chunk = schedule.placement.getChunk(stage);
    return 1 + (2 * chunk + event) * (mostLayers + 1) + layer;
  }
  static constexpr int32_t reducedEvent = 0;

  double getSeconds(const Passes &passes, ActionKind kind) const;
  sim::Instruction makeWork(double seconds, ActionKind kind) const;
  sim::Instruction makeEvent(sim::Op op, sim::Stream stream, int32_t event) const;
  sim::Instruction makeTransfer(double seconds, ActionKind kind, sim::Stream stream) const;
  void addMemory(const Action &action, std::vector<sim::Instruction> &list) const;
  std::vector<sim::Instruction> makeCompute(const Action &action) const;
  std::vector<sim::Instruction> makeGather(int32_t stage) const;
  std::vector<sim::Instruction> makeReduce(int32_t stage) const;
  std::vector<sim::Instruction> makeUpdate(int32_t stage) const;
  /// Layers, and the embedding or head as one more.
  int32_t getUnits(int32_t stage) const { return static_cast<int32_t>(model.getLayers(stage)) + 1; }
  double getUnitParameters(int32_t stage, int32_t unit) const {
    return unit + 1 < getUnits(stage) ? model.getLayerParameters() : model.getEndsParameters(stage);
  }
  /// Units in the order of the forward: the embedding goes first, the head last.
  int32_t getUnit(int32_t stage, int32_t position) const {
    return stage == 0 ? (position + getUnits(stage) - 1) % getUnits(stage) : position;
  }

  const StageModel &model;
  const schedule::Schedule &schedule;
  const CostConstants &constants;
  Extent extent;
  std::vector<std::vector<int32_t>> chunks;
  std::vector<Passes> stages, ends;
  int32_t mostLayers = 0;
};

double StepSource::getSeconds(const Passes &passes, ActionKind kind) const {
  switch (kind) {
  case ActionKind::Forward:
    return passes.forward.getTotal();
  case ActionKind::Backward:
    return passes.input.getTotal() + passes.weight.getTotal();
  case ActionKind::BackwardInput:
    return passes.input.getTotal();
  case ActionKind::BackwardWeight:
    return passes.weight.getTotal();
  default:
    return 0;
  }
}

sim::Instruction StepSource::makeWork(double seconds, ActionKind kind) const {
  sim::Instruction work;
  work.seconds = seconds;
  work.name = static_cast<int32_t>(kind);
  return work;
}

sim::Instruction StepSource::makeEvent(sim::Op op, sim::Stream stream, int32_t event) const {
  sim::Instruction instruction;
  instruction.op = op;
  instruction.stream = stream;
  instruction.id = event;
  return instruction;
}

/// Beside computation it takes a part of the processors.
sim::Instruction StepSource::makeTransfer(double seconds, ActionKind kind,
                                          sim::Stream stream) const {
  sim::Instruction transfer;
  transfer.op = sim::Op::Transfer;
  transfer.stream = stream;
  transfer.linkSeconds = seconds;
  transfer.loss = constants.overlapLoss;
  transfer.name = static_cast<int32_t>(kind);
  return transfer;
}

void StepSource::addMemory(const Action &action, std::vector<sim::Instruction> &list) const {
  double bytes = model.getActivationBytes(action.stage);
  int32_t owner = getOwner(MemoryClass::Activations);
  if (action.kind == ActionKind::Forward)
    list.front().onBegin.push_back({owner, bytes});
  // What the weights' gradient needs stays until then: the layers' inputs, about half.
  double part = action.kind == ActionKind::Backward ? 1 : 0.5;
  if (action.kind != ActionKind::Forward)
    list.back().onEnd.push_back({owner, -bytes * part});
}

/// One piece of work; layer by layer where weights come or gradients go.
std::vector<sim::Instruction> StepSource::makeCompute(const Action &action) const {
  using sim::Op, sim::Stream;
  int32_t stage = action.stage, units = getUnits(stage);
  if (getVariant(action) == 0)
    return {makeWork(getSeconds(stages[stage], action.kind), action.kind)};
  bool forward = action.kind == ActionKind::Forward;
  std::vector<sim::Instruction> list;
  for (int32_t i = 0; i < units; ++i) {
    int32_t unit = getUnit(stage, forward ? i : units - 1 - i);
    const Passes &passes = unit + 1 < units ? model.getLayer() : ends[stage];
    if (forward)
      list.push_back(makeEvent(Op::Wait, Stream::Compute, getEvent(Gathered, stage, unit)));
    list.push_back(makeWork(getSeconds(passes, action.kind), action.kind));
    double parameters = getUnitParameters(stage, unit);
    if (forward || parameters <= 0)
      continue;
    list.push_back(makeEvent(Op::Record, Stream::Compute, getEvent(Computed, stage, unit)));
    list.push_back(makeEvent(Op::Wait, Stream::Collective, getEvent(Computed, stage, unit)));
    list.push_back(
        makeTransfer(model.getReduceSeconds(parameters), ActionKind::Reduce, Stream::Collective));
  }
  return list;
}

std::vector<sim::Instruction> StepSource::makeGather(int32_t stage) const {
  using sim::Op, sim::Stream;
  std::vector<sim::Instruction> list;
  if (!overlaps() || model.getGatherSeconds(1) <= 0)
    return list;
  for (int32_t i = 0; i < getUnits(stage); ++i) {
    int32_t unit = getUnit(stage, i);
    if (double parameters = getUnitParameters(stage, unit); parameters > 0)
      list.push_back(
          makeTransfer(model.getGatherSeconds(parameters), ActionKind::Gather, Stream::Collective));
    list.push_back(makeEvent(Op::Record, Stream::Collective, getEvent(Gathered, stage, unit)));
  }
  return list;
}

/// Nothing where gradients go beside the backward.
std::vector<sim::Instruction> StepSource::makeReduce(int32_t stage) const {
  if (overlaps() || !communicates())
    return {};
  return {makeTransfer(model.getReduceSeconds(model.getParameters(stage)), ActionKind::Reduce,
                       sim::Stream::Compute)};
}

/// Of all stages of the rank, once, when the last gradient is there.
std::vector<sim::Instruction> StepSource::makeUpdate(int32_t stage) const {
  using sim::Op, sim::Stream;
  double parameters = 0;
  for (int32_t chunk : chunks[schedule.placement.ranks[stage]])
    parameters += model.getParameters(chunk);
  std::vector<sim::Instruction> list = {makeEvent(Op::Record, Stream::Collective, reducedEvent),
                                        makeEvent(Op::Wait, Stream::Compute, reducedEvent)};
  if (extent == Extent::Whole)
    list.push_back(makeWork(model.getUpdateSeconds(parameters), ActionKind::Update));
  if (communicates() && !overlaps())
    list.push_back(
        makeTransfer(model.getGatherSeconds(parameters), ActionKind::Gather, Stream::Compute));
  return list;
}

std::vector<sim::Instruction> StepSource::makeInstructions(const Action &action) {
  switch (action.kind) {
  case ActionKind::Gather:
    return makeGather(action.stage);
  case ActionKind::Reduce:
    return makeReduce(action.stage);
  case ActionKind::Update:
    return makeUpdate(action.stage);
  default:
    break;
  }
  std::vector<sim::Instruction> list = makeCompute(action);
  addMemory(action, list);
  return list;
}

/// Blocking, a message occupies its sender.
sim::Instruction StepSource::makeSend(const Action &action) {
  sim::Instruction send;
  send.op = sim::Op::Send;
  send.name = static_cast<int32_t>(action.kind);
  (model.getSoftware().overlapMessages ? send.flight : send.seconds) = model.getMessageSeconds();
  return send;
}

class Step {
public:
  Step(const StepRow &row, const ClusterModel &cluster, const StepOptions &options)
      : row(row), options(options), schedule(makeSchedule(row)),
        chunks(schedule.placement.getChunks()),
        model(row, cluster, options, schedule.placement.getNumStages()) {}

  StepPrediction predict() const;

private:
  static schedule::Schedule makeSchedule(const StepRow &row);
  double getParameters(size_t rank) const;
  void hold(sim::RankClass &rankClass, double parameters) const;
  sim::Result run(Extent extent) const;
  std::array<double, numParts> getBusiest() const;

  const StepRow &row;
  const StepOptions &options;
  schedule::Schedule schedule;
  std::vector<std::vector<int32_t>> chunks; ///< stages of each rank
  StageModel model;
};

/// Interleaved order is one of whole rounds: its missing microbatches are taken off by predict.
/// Gathers come first, in the order of use; reductions and the optimizer last.
schedule::Schedule Step::makeSchedule(const StepRow &row) {
  schedule::Spec spec;
  spec.ranks = static_cast<int32_t>(row.pipeline);
  spec.microbatches = static_cast<int32_t>(row.getMicrobatches());
  if (row.chunks)
    spec.chunks = static_cast<int32_t>(*row.chunks);
  std::string name = row.schedule;
  if (name.empty())
    name = row.chunks.value_or(1) > 1 ? "interleaved" : "1f1b";
  if (int32_t over = spec.microbatches % spec.ranks; name == "interleaved" && over > 0)
    spec.microbatches += spec.ranks - over;
  schedule::Schedule schedule = schedule::findNamedSchedule(name)->make(spec);
  addMessages(schedule);
  for (const std::vector<int32_t> &stages : schedule.placement.getChunks()) {
    std::vector<Action> &list = schedule.ranks[schedule.placement.ranks[stages.front()]];
    std::vector<Action> gathers;
    for (int32_t stage : stages) {
      gathers.push_back({ActionKind::Gather, false, stage, 0, 0});
      list.push_back({ActionKind::Reduce, false, stage, 0, 0});
    }
    list.insert(list.begin(), gathers.begin(), gathers.end());
    list.push_back({ActionKind::Update, false, stages.front(), 0, 0});
  }
  return schedule;
}

double Step::getParameters(size_t rank) const {
  double parameters = 0;
  for (int32_t stage : chunks[rank])
    parameters += model.getParameters(stage);
  return parameters;
}

/// State and buffers, which are there all the time.
void Step::hold(sim::RankClass &rankClass, double parameters) const {
  MemoryBytes state = model.getStateBytes(parameters);
  for (int owner = 0; owner < numMemoryClasses; ++owner)
    rankClass.resident.push_back({owner, state[owner]});
  rankClass.resident.push_back({getOwner(MemoryClass::Communication), model.getBufferBytes()});
}

sim::Result Step::run(Extent extent) const {
  StepSource source(model, schedule, options.constants, extent);
  sim::Program program = lowerSchedule(schedule, source);
  program.owners = ownerNames;
  for (int kind = 0; kind < schedule::numActionKinds; ++kind)
    program.names.emplace_back(schedule::getKindName(static_cast<ActionKind>(kind)));
  for (size_t rank = 0; rank < chunks.size(); ++rank) {
    sim::RankClass &rankClass = program.classes[rank];
    rankClass.ranks = row.tensor * row.data;
    rankClass.events = source.getNumEvents();
    hold(rankClass, getParameters(rank));
  }
  return sim::simulate(program);
}

double sum(const std::array<double, numParts> &parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// By term, what the rank with most work does in a step.
std::array<double, numParts> Step::getBusiest() const {
  std::array<double, numParts> busiest{};
  for (const std::vector<int32_t> &stages : chunks) {
    Passes passes;
    for (int32_t stage : stages)
      passes.add(model.getStage(stage));
    Pass all = passes.forward;
    all.add(passes.getBackward());
    all.scale(static_cast<double>(row.getMicrobatches()));
    if (sum(all.parts) > sum(busiest))
      busiest = all.parts;
  }
  return busiest;
}

/// Each of the last parts is what the simulated step grows by.
StepPrediction Step::predict() const {
  StepPrediction prediction;
  prediction.parts = getBusiest();
  double work = sum(prediction.parts);
  double pipeline = run(Extent::Pipeline).seconds;
  if (!options.without.contains(Pipeline)) {
    double rounds = static_cast<double>(schedule.numMicrobatches);
    double over = work * (rounds / static_cast<double>(row.getMicrobatches()) - 1);
    prediction.parts[Pipeline] = pipeline - over - work;
  }
  double communicated = run(Extent::Communicated).seconds;
  prediction.parts[Data] = communicated - pipeline;
  sim::Result whole = run(Extent::Whole);
  prediction.parts[Optimizer] = whole.seconds - communicated;
  for (const sim::ClassResult &rank : whole.classes)
    prediction.memory =
        std::max(prediction.memory, rank.memory.bytes * (1 + options.constants.allocatorReserve));
  prediction.seconds = sum(prediction.parts);
  return prediction;
}

} // namespace

StepPrediction weft::validate::predictStep(const StepRow &row, const ClusterModel &cluster,
                                           const StepOptions &options) {
  try {
    return Step(row, cluster, options).predict();
  } catch (const schedule::ScheduleError &error) {
    throw std::runtime_error(error.what());
  }
}

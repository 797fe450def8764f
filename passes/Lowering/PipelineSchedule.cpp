#include "passes/Lowering/PipelineSchedule.h"

#include "compiler/Schedule/Pipelines.h"
#include "compiler/Sharding/Microbatches.h"
#include "compiler/Sharding/OutlineStages.h"
#include "compiler/Sharding/SliceTokens.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

PipelineSchedule::PipelineSchedule(const Parts &all)
    : parts(&all), context(func::FuncOp(all.main).getContext()) {
  if (auto count = func::FuncOp(all.main)->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr))
    microbatches = count.getInt();
  slices = countSlices(func::FuncOp(all.main)->getParentOfType<ModuleOp>());
  for (auto [number, part] : llvm::enumerate(all.parts)) {
    roles.push_back(readRole(number));
    if (roles.back())
      places[roles.back()->stage] = part.mesh;
  }
  for (auto [stage, mesh] : places)
    if (!llvm::is_contained(meshes, mesh))
      meshes.push_back(mesh);
  for (const Channel &channel : all.channels) {
    const std::optional<Role> &from = roles[channel.from], &to = roles[channel.to];
    if (from && to && places[from->stage] != places[to->stage])
      receivers[from->stage].insert(*to);
  }
}

std::optional<PipelineSchedule::Role> PipelineSchedule::readRole(unsigned part) const {
  func::CallOp call = parts->parts[part].call;
  auto level = call ? call->getAttrOfType<IntegerAttr>(kPipelineLevelAttr) : IntegerAttr();
  auto stage = call ? call->getAttrOfType<IntegerAttr>(kPipelineStageAttr) : IntegerAttr();
  if (!level || !stage)
    return std::nullopt;
  Role::Kind kind = call->hasAttr(kWeightGradientsAttr) ? Role::Weights
                    : call->hasAttr(kSentAttr)          ? Role::Sent
                    : level.getInt() == 0               ? Role::Forward
                                                        : Role::Backward;
  auto slice = call->getAttrOfType<IntegerAttr>(kPipelineSliceAttr);
  return Role{stage.getInt(), kind, level.getInt(), slice ? slice.getInt() : 0};
}

FailureOr<PipelineSchedule> PipelineSchedule::get(const Parts &parts) {
  PipelineSchedule schedule(parts);
  if (failed(schedule.findPipeline()))
    return failure();
  return schedule;
}

/// Stages between which values go to and fro more than once have one phase after the other.
LogicalResult PipelineSchedule::findPipeline() {
  std::set<Role> known;
  for (const std::optional<Role> &role : roles)
    if (role && (role->level > 1 || !known.insert(*role).second))
      return success();
  if (places.empty() || microbatches == 1)
    return success();
  schedule::Pipeline shape{getPipelineName(parts->main), static_cast<int32_t>(meshes.size()),
                           static_cast<int32_t>(places.size() / meshes.size()),
                           static_cast<int32_t>(microbatches), static_cast<int32_t>(slices)};
  std::string problem;
  pipeline = schedule::makePipeline(shape, problem);
  if (!pipeline)
    return func::FuncOp(parts->main).emitError() << problem;
  if (failed(checkPlacement()))
    return failure();
  findTimes();
  return success();
}

LogicalResult PipelineSchedule::checkPlacement() const {
  const std::vector<int32_t> &ranks = pipeline->placement.ranks;
  bool isComplete = ranks.size() == places.size() &&
                    places.rbegin()->first + 1 == static_cast<int64_t>(ranks.size());
  if (isComplete && llvm::all_of(places, [&](const auto &place) {
        return meshes[ranks[place.first]] == place.second;
      }))
    return success();
  return func::FuncOp(parts->main).emitError()
         << "the stages are not on the meshes where schedule " << pipeline->name << " has them";
}

//===----------------------------------------------------------------------===//
// Nominal times
//===----------------------------------------------------------------------===//

size_t PipelineSchedule::getPlace(const Role &role, int64_t microbatch) const {
  return ((role.stage * Role::Sent + role.kind) * microbatches + microbatch) * slices + role.slice;
}

void PipelineSchedule::noteTimes(const schedule::Action &action, int32_t begin) {
  auto note = [&](Role::Kind kind) {
    times[getPlace({action.stage, kind, 0, action.slice}, action.microbatch)] = begin;
  };
  if (isForward(action.kind))
    return note(Role::Forward);
  if (makesGradient(action.kind))
    note(Role::Backward);
  if (action.kind != schedule::ActionKind::BackwardInput)
    note(Role::Weights);
}

void PipelineSchedule::findTimes() {
  begins = schedule::findUnitBegins(*pipeline);
  times.assign(places.size() * Role::Sent * microbatches * slices, 0);
  for (auto [rank, actions] : llvm::enumerate(pipeline->ranks))
    for (auto [action, begin] : llvm::zip_equal(actions, begins[rank]))
      noteTimes(action, begin);
}

/// When the last of those begins that receive what a stage sends of a microbatch.
int32_t PipelineSchedule::findReceived(int64_t stage, int64_t microbatch) const {
  int32_t last = 0;
  if (auto found = receivers.find(stage); found != receivers.end())
    for (const Role &role : found->second)
      last = std::max(last, times[getPlace(role, microbatch)]);
  return last;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// A part's segment is executed once, or for each of its microbatches.
Attribute PipelineSchedule::makeEntry(unsigned number) const {
  Part part = parts->parts[number];
  auto read = [&](StringRef name) -> int64_t {
    auto attr = part.call ? part.call->getAttrOfType<IntegerAttr>(name) : IntegerAttr();
    return attr ? attr.getInt() : 0;
  };
  auto phase = read(kPipelineLevelAttr) == 1 ? exec::Phase::Backward : exec::Phase::Forward;
  auto slice = exec::IndexAttr::get(context, read(kPipelineSliceAttr), {});
  auto of = part.call ? part.call->getAttrOfType<DenseI64ArrayAttr>(kMicrobatchesOfCallAttr)
                      : DenseI64ArrayAttr();
  int64_t first = of ? of[0] : 0, times = of ? of[1] : 1;
  auto microbatch =
      exec::IndexAttr::get(context, first, times > 1 ? ArrayRef<int64_t>(1) : ArrayRef<int64_t>());
  SmallVector<exec::FrameAttr, 1> frames;
  if (of)
    frames.push_back(
        exec::FrameAttr::get(context, exec::ArenaKind::Ports, microbatch, microbatches));
  StringRef segment = part.call ? part.function.getSymName() : "forward";
  Attribute entry = exec::ScheduleEntryAttr::get(context, FlatSymbolRefAttr::get(context, segment),
                                                 phase, microbatch, slice, frames);
  return times > 1 ? exec::RepeatAttr::get(context, times, ArrayAttr::get(context, entry)) : entry;
}

/// Of microbatches that are `step` apart, in a repeat; 0: once.
Attribute PipelineSchedule::makeEntry(const Execution &execution, int64_t step,
                                      const Frames &frames) const {
  SmallVector<int64_t, 1> steps(step == 0 ? 0 : 1, step);
  auto index = [&](int64_t first) { return exec::IndexAttr::get(context, first, steps); };
  const Role &role = *roles[execution.part];
  SmallVector<exec::FrameAttr, 3> bound;
  auto bind = [&](exec::ArenaKind kind, Ring ring) {
    bound.push_back(exec::FrameAttr::get(context, kind, index(execution.microbatch % ring.count),
                                         ring.count, ring.begin));
  };
  if (role.kind != Role::Sent)
    bind(exec::ArenaKind::Ports, {microbatches, 0});
  if (role.kind != Role::Sent && frames.numActivations > 1)
    bind(exec::ArenaKind::Activations, frames.activations.at(role.stage));
  if (frames.numMessages > 1)
    bind(exec::ArenaKind::Communication, {frames.numMessages, 0});
  auto phase = role.kind == Role::Forward   ? exec::Phase::Forward
               : role.kind == Role::Weights ? exec::Phase::Weight
                                            : exec::Phase::Backward;
  func::FuncOp function = parts->parts[execution.part].function;
  return exec::ScheduleEntryAttr::get(context, FlatSymbolRefAttr::get(function.getSymNameAttr()),
                                      phase, index(execution.microbatch),
                                      exec::IndexAttr::get(context, role.slice, {}), bound);
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

/// Whether an action executes what a stage does.
static bool executes(schedule::ActionKind action, bool isForward, bool isOfWeights) {
  using enum schedule::ActionKind;
  if (isForward || action == Forward)
    return isForward && action == Forward;
  return action == Backward || (action == BackwardWeight) == isOfWeights;
}

/// Waits for what was sent, in the order in which it is received.
std::vector<PipelineSchedule::Execution>
PipelineSchedule::listSent(ArrayRef<unsigned> phases) const {
  std::vector<Execution> list;
  for (unsigned part : phases)
    for (int64_t i = 0; roles[part]->kind == Role::Sent && i < microbatches; ++i)
      list.push_back({part, i});
  auto key = [&](const Execution &execution) {
    int64_t stage = roles[execution.part]->stage;
    return std::tuple(findReceived(stage, execution.microbatch), stage, execution.microbatch);
  };
  llvm::sort(list, [&](const Execution &a, const Execution &b) { return key(a) < key(b); });
  return list;
}

std::vector<PipelineSchedule::Execution> PipelineSchedule::order(ArrayRef<unsigned> phases) const {
  std::vector<Execution> list;
  if (!pipeline) {
    for (unsigned part : phases)
      for (int64_t i = 0; i < microbatches; ++i)
        list.push_back({part, i});
    return list;
  }
  dist::MeshOp mesh = parts->parts[phases.front()].mesh;
  auto rank = llvm::find(meshes, mesh.getOperation()) - meshes.begin();
  std::vector<Execution> sent = listSent(phases);
  auto next = sent.begin();
  for (auto [action, begin] : llvm::zip_equal(pipeline->ranks[rank], begins[rank])) {
    for (; next != sent.end() && findReceived(roles[next->part]->stage, next->microbatch) < begin;
         ++next)
      list.push_back(*next);
    for (unsigned part : phases)
      if (const Role &role = *roles[part];
          role.kind != Role::Sent && role.stage == action.stage && role.slice == action.slice &&
          executes(action.kind, role.kind == Role::Forward, role.kind == Role::Weights))
        list.push_back({part, action.microbatch});
  }
  list.insert(list.end(), next, sent.end());
  return list;
}

/// How many frames microbatches need that take them in turn: each has its own from the first of
/// the executions that count to the last.
int64_t PipelineSchedule::countInFlight(ArrayRef<Execution> list,
                                        function_ref<bool(const Role &)> counts) const {
  std::vector<int64_t> left(microbatches, 0);
  for (const Execution &execution : list)
    left[execution.microbatch] += counts(*roles[execution.part]);
  int64_t most = 1;
  std::set<int64_t> live;
  for (const Execution &execution : list) {
    if (!counts(*roles[execution.part]))
      continue;
    live.insert(execution.microbatch);
    most = std::max(most, *live.rbegin() - *live.begin() + 1);
    if (--left[execution.microbatch] == 0)
      live.erase(execution.microbatch);
  }
  return most;
}

PipelineSchedule::Frames PipelineSchedule::findFrames(ArrayRef<Execution> list) const {
  Frames frames;
  for (const Execution &execution : list)
    frames.activations[roles[execution.part]->stage];
  for (auto &[stage, ring] : frames.activations) {
    ring = {countInFlight(list,
                          [number = stage](const Role &role) {
                            return role.stage == number && role.kind != Role::Sent;
                          }),
            frames.numActivations};
    frames.numActivations += ring.count;
  }
  frames.numMessages = countInFlight(list, [](const Role &) { return true; });
  return frames;
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

/// Writes executions in repeats: of so many in turn, that which repeats the most.
void PipelineSchedule::addPhases(ArrayRef<unsigned> phases,
                                 SmallVectorImpl<Attribute> &items) const {
  std::vector<Execution> list = order(phases);
  Frames frames = findFrames(list);
  // Rounds are of as many microbatches as there are meshes at most.
  size_t longest = phases.size() * (meshes.size() + 1);
  auto repeat = [&](size_t at, size_t length) {
    Repeat found{length, 1, list[at + length].microbatch - list[at].microbatch};
    for (size_t i = at + length; found.step > 0 && i < list.size(); ++i) {
      if (list[i].part != list[i - length].part ||
          list[i].microbatch != list[i - length].microbatch + found.step)
        break;
      found.times = (i + 1 - at) / length;
    }
    return found;
  };
  for (size_t at = 0; at < list.size();) {
    Repeat best;
    for (size_t length = 1; length <= longest && at + 2 * length <= list.size(); ++length)
      if (Repeat other = repeat(at, length);
          other.times > 1 && other.times * length > best.times * best.length)
        best = other;
    SmallVector<Attribute> body;
    for (size_t i = at; i < at + best.length; ++i)
      body.push_back(makeEntry(list[i], best.step, frames));
    if (best.times > 1)
      items.push_back(exec::RepeatAttr::get(context, best.times, ArrayAttr::get(context, body)));
    else
      llvm::append_range(items, body);
    at += best.length * best.times;
  }
}

ArrayAttr PipelineSchedule::make(ArrayRef<unsigned> own) const {
  SmallVector<Attribute> items;
  for (size_t i = 0; i < own.size();) {
    size_t end = i;
    while (end < own.size() && roles[own[end]])
      ++end;
    if (end > i)
      addPhases(own.slice(i, end - i), items);
    else
      items.push_back(makeEntry(own[end++]));
    i = end;
  }
  return ArrayAttr::get(context, items);
}

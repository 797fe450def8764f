#include "passes/Lowering/PipelineSchedule.h"

#include "compiler/Schedule/Named.h"
#include "compiler/Sharding/Microbatches.h"
#include "compiler/Sharding/OutlineStages.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace weft;

PipelineSchedule::PipelineSchedule(const Parts &all)
    : parts(all), context(func::FuncOp(all.main).getContext()) {
  func::FuncOp main = parts.main;
  if (auto count = main->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr))
    microbatches = count.getInt();
  auto training = main->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>("weft.training");
  if (auto asked = training ? training.getAs<StringAttr>("pipeline") : StringAttr())
    name = asked.str();
  std::map<std::tuple<Operation *, int64_t, bool>, unsigned> known;
  for (auto [number, part] : llvm::enumerate(parts.parts))
    if (std::optional<int64_t> level = getLevel(number)) {
      hasTwoPasses &= *level < 2 && ++known[{part.mesh, *level, hasWeights(number)}] == 1;
      if (!llvm::is_contained(meshes, part.mesh))
        meshes.push_back(part.mesh);
    }
}

std::optional<int64_t> PipelineSchedule::getLevel(unsigned part) const {
  func::CallOp call = parts.parts[part].call;
  auto level = call ? call->getAttrOfType<IntegerAttr>(kPipelineLevelAttr) : IntegerAttr();
  return level ? std::optional(level.getInt()) : std::nullopt;
}

/// Whether a part is the gradients of weights of a stage, which are put off.
bool PipelineSchedule::hasWeights(unsigned part) const {
  func::CallOp call = parts.parts[part].call;
  return call && call->hasAttr(kWeightGradientsAttr);
}

/// A part's segment is executed once, or for each of its microbatches.
Attribute PipelineSchedule::makeEntry(unsigned number) const {
  Part part = parts.parts[number];
  auto zero = exec::IndexAttr::get(context, 0, {});
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
                                                 exec::Phase::Forward, microbatch,
                                                 /*tokenSlice=*/zero, frames);
  return times > 1 ? exec::RepeatAttr::get(context, times, ArrayAttr::get(context, entry)) : entry;
}

/// In one of so many frames.
Attribute PipelineSchedule::makeEntry(const Execution &execution, bool isRepeated,
                                      int64_t frames) const {
  SmallVector<int64_t, 1> steps(isRepeated ? 1 : 0, 1);
  auto index = [&](int64_t first) { return exec::IndexAttr::get(context, first, steps); };
  SmallVector<exec::FrameAttr, 3> bound{exec::FrameAttr::get(
      context, exec::ArenaKind::Ports, index(execution.microbatch), microbatches)};
  if (frames > 1)
    for (exec::ArenaKind kind : {exec::ArenaKind::Activations, exec::ArenaKind::Communication})
      bound.push_back(
          exec::FrameAttr::get(context, kind, index(execution.microbatch % frames), frames));
  func::FuncOp function = parts.parts[execution.part].function;
  auto phase = hasWeights(execution.part)       ? exec::Phase::Weight
               : *getLevel(execution.part) == 0 ? exec::Phase::Forward
                                                : exec::Phase::Backward;
  return exec::ScheduleEntryAttr::get(context, FlatSymbolRefAttr::get(function.getSymNameAttr()),
                                      phase, index(execution.microbatch),
                                      exec::IndexAttr::get(context, 0, {}), bound);
}

/// What the schedule has of a stage, where there are stages with a forward and a backward pass;
/// else one phase after the other for all microbatches.
std::vector<PipelineSchedule::Execution> PipelineSchedule::order(ArrayRef<unsigned> phases) const {
  std::vector<Execution> list;
  if (!hasTwoPasses) {
    for (unsigned part : phases)
      for (int64_t i = 0; i < microbatches; ++i)
        list.push_back({part, i});
    return list;
  }
  schedule::Spec spec;
  spec.ranks = static_cast<int32_t>(meshes.size());
  spec.microbatches = static_cast<int32_t>(microbatches);
  dist::MeshOp mesh = parts.parts[phases.front()].mesh;
  auto stage = llvm::find(meshes, mesh.getOperation()) - meshes.begin();
  schedule::Schedule schedule = schedule::findNamedSchedule(name)->make(spec);
  for (const schedule::Action &action : schedule.ranks[stage])
    for (unsigned part : phases) {
      bool isOfWeights = action.kind == schedule::ActionKind::BackwardWeight;
      if (hasWeights(part) == isOfWeights && *getLevel(part) == (isForward(action.kind) ? 0 : 1))
        list.push_back({part, action.microbatch});
    }
  return list;
}

/// How many microbatches are under way at most: each from its first execution to its last.
int64_t PipelineSchedule::countInFlight(ArrayRef<Execution> list) const {
  std::vector<int64_t> left(microbatches, 0), started(microbatches, 0); // executions
  for (const Execution &execution : list)
    ++left[execution.microbatch];
  int64_t most = 1, now = 0;
  for (const Execution &execution : list) {
    now += started[execution.microbatch]++ == 0;
    most = std::max(most, now);
    now -= --left[execution.microbatch] == 0;
  }
  return most;
}

/// Writes executions in repeats: of each number of parts in turn, that which repeats the most.
void PipelineSchedule::addPhases(ArrayRef<unsigned> phases,
                                 SmallVectorImpl<Attribute> &items) const {
  std::vector<Execution> list = order(phases);
  int64_t frames = countInFlight(list);
  auto repeats = [&](size_t at, size_t length) {
    size_t times = 1;
    for (; at + (times + 1) * length <= list.size(); ++times)
      for (size_t i = at + times * length; i < at + (times + 1) * length; ++i)
        if (list[i].part != list[i - length].part ||
            list[i].microbatch != list[i - length].microbatch + 1)
          return times;
    return times;
  };
  for (size_t at = 0; at < list.size();) {
    size_t length = 1, times = repeats(at, 1);
    for (size_t other = 2; other <= phases.size(); ++other)
      if (size_t more = repeats(at, other); more > 1 && more * other > times * length)
        length = other, times = more;
    SmallVector<Attribute> body;
    for (size_t i = at; i < at + length; ++i)
      body.push_back(makeEntry(list[i], times > 1, frames));
    if (times > 1)
      items.push_back(exec::RepeatAttr::get(context, times, ArrayAttr::get(context, body)));
    else
      llvm::append_range(items, body);
    at += length * times;
  }
}

ArrayAttr PipelineSchedule::make(ArrayRef<unsigned> own) const {
  SmallVector<Attribute> items;
  for (size_t i = 0; i < own.size();) {
    size_t end = i;
    while (end < own.size() && getLevel(own[end]))
      ++end;
    if (end > i)
      addPhases(own.slice(i, end - i), items);
    else
      items.push_back(makeEntry(own[end++]));
    i = end;
  }
  return ArrayAttr::get(context, items);
}

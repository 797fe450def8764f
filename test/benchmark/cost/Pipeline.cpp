#include "test/benchmark/cost/Pipeline.h"

#include <algorithm>

using namespace weft::benchmark;

namespace {

struct Task {
  bool forward;
  int64_t chunk, microbatch;
};

/// The order in which a stage's forwards come (backwards: the same with chunks reversed): rounds of
/// as many microbatches as there are stages, each round all chunks.
std::vector<Task> listPasses(const PipelineSpec &spec, bool forward) {
  std::vector<Task> passes;
  for (int64_t begin = 0; begin < spec.microbatches; begin += spec.stages)
    for (int64_t c = 0; c < spec.chunks; ++c)
      for (int64_t m = begin; m < std::min(begin + spec.stages, spec.microbatches); ++m)
        passes.push_back({forward, forward ? c : spec.chunks - 1 - c, m});
  return passes;
}

/// Warm-up forwards, then a forward and a backward in turn, then the backwards left.
std::vector<Task> listTasks(const PipelineSpec &spec, int64_t stage) {
  std::vector<Task> forwards = listPasses(spec, true), backwards = listPasses(spec, false);
  auto total = static_cast<int64_t>(forwards.size());
  int64_t warmup = spec.stages - 1 - stage;
  if (spec.chunks > 1)
    warmup = 2 * warmup + (spec.chunks - 1) * spec.stages;
  warmup = std::min(warmup, total);
  std::vector<Task> tasks(forwards.begin(), forwards.begin() + warmup);
  for (int64_t i = warmup; i < total; ++i) {
    tasks.push_back(forwards[i]);
    tasks.push_back(backwards[i - warmup]);
  }
  tasks.insert(tasks.end(), backwards.end() - warmup, backwards.end());
  return tasks;
}

/// The state of the run: when each pass's message has arrived, negative while it has not.
class Run {
public:
  explicit Run(const PipelineSpec &spec)
      : spec(spec), links(spec.stages * spec.chunks), forwardDone(links * spec.microbatches, -1),
        backwardDone(links * spec.microbatches, -1), clock(spec.stages), work(spec.stages),
        next(spec.stages), held(spec.stages) {
    trace.inFlight.resize(spec.stages);
    for (int64_t stage = 0; stage < spec.stages; ++stage)
      tasks.push_back(listTasks(spec, stage));
  }

  PipelineTrace finish() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int64_t stage = 0; stage < spec.stages; ++stage)
        while (next[stage] < tasks[stage].size() && advance(stage, tasks[stage][next[stage]]))
          moved = ++next[stage] > 0;
    }
    trace.seconds = *std::max_element(clock.begin(), clock.end());
    trace.busiest = *std::max_element(work.begin(), work.end());
    return trace;
  }

private:
  /// When the task's input is there; negative while it is not.
  double getReady(int64_t link, const Task &task) const {
    auto at = [&](const std::vector<double> &done, int64_t other) {
      return done[other * spec.microbatches + task.microbatch];
    };
    if (task.forward)
      return link == 0 ? 0 : at(forwardDone, link - 1);
    return link == links - 1 ? at(forwardDone, link) : at(backwardDone, link + 1);
  }

  bool advance(int64_t stage, const Task &task) {
    int64_t link = task.chunk * spec.stages + stage;
    double ready = getReady(link, task);
    if (ready < 0)
      return false;
    double seconds = task.forward ? spec.forward[link] : spec.backward[link];
    bool sends = task.forward ? link + 1 < links : link > 0;
    double end = std::max(ready, clock[stage]) + seconds;
    double arrival = end + (sends ? spec.message : 0);
    work[stage] += seconds;
    clock[stage] = spec.blocking ? arrival : end;
    (task.forward ? forwardDone : backwardDone)[link * spec.microbatches + task.microbatch] =
        arrival;
    held[stage] += task.forward ? 1 : -1;
    trace.inFlight[stage] = std::max(trace.inFlight[stage], held[stage]);
    return true;
  }

  const PipelineSpec &spec;
  int64_t links;
  std::vector<double> forwardDone, backwardDone, clock, work;
  std::vector<size_t> next;
  std::vector<int64_t> held;
  std::vector<std::vector<Task>> tasks;
  PipelineTrace trace;
};

} // namespace

PipelineTrace weft::benchmark::runPipeline(const PipelineSpec &spec) {
  int64_t over = spec.microbatches % spec.stages;
  if (spec.chunks == 1 || over == 0)
    return Run(spec).finish();
  // The interleaved order is one of whole rounds; a round's missing microbatches save their work.
  PipelineSpec whole = spec;
  whole.microbatches += spec.stages - over;
  PipelineTrace trace = Run(whole).finish();
  double busiest = trace.busiest;
  trace.busiest *= static_cast<double>(spec.microbatches) / static_cast<double>(whole.microbatches);
  trace.seconds -= busiest - trace.busiest;
  return trace;
}

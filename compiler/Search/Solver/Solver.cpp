//===- Solver.cpp - answers with a lower bound, any time ------------------===//

#include "compiler/Search/Solver/Solver.h"
#include "compiler/Search/Solver/Ascent.h"
#include "compiler/Search/Solver/Branching.h"
#include "compiler/Search/Solver/Climber.h"
#include "compiler/Search/Solver/ExactSearch.h"
#include "compiler/Search/Solver/Reduce.h"

#include <algorithm>
#include <memory>
#include <thread>

using namespace weft::solver;

double Progress::gap() const {
  if (!cost || *cost <= lowerBound)
    return cost ? 0 : 1;
  return *cost > 0 ? std::min(1.0, double(*cost - lowerBound) / double(*cost)) : 1;
}

namespace {

// Of the time limit, or of the iterations.
constexpr double reducingShare = 0.4; // at most
constexpr double unpricedShare = 0.15, exactShare = 0.2;
constexpr double ascentShare = 0.5;  // afterwards all workers climb
constexpr double finishShare = 0.82; // afterwards all climb from the best answer

constexpr double sliceSeconds = 0.2;        // of a timed round
constexpr int64_t quickSplit = 300'000'000; // table entries, of parts of the problem: worth while
constexpr int64_t exactSteps = 200'000;
constexpr size_t largestPool = 40;

class Search {
public:
  Search(const Instance &instance, const Options &options)
      : instance(instance), options(options),
        numWorkers(std::max(2, options.workers > 0 ? options.workers : options.threads)) {}

  Result run() {
    Model model(instance);
    reduce(model, [&] { return secondsGone() > reducingShare * options.timeLimit; });
    if (!model.infeasible) {
      core.emplace(model);
      trail = &model.trail;
      modelNodes = model.nodes.size();
      model.nodes = {}; // the core has what is left
      model.edges = {};
      solveCore();
    }
    return finish(model.infeasible);
  }

private:
  double secondsGone() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - options.start).count();
  }
  Time at(double seconds) const {
    constexpr double never = 1e9; // s: still a time that a clock can say
    return options.start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               std::chrono::duration<double>(std::min(seconds, never)));
  }
  bool timed() const { return options.iterations == 0; }
  double share() const {
    return timed() ? secondsGone() / options.timeLimit : double(round) / double(options.iterations);
  }
  bool over() const {
    return proved || isNear() || isHopeless() || secondsGone() >= options.timeLimit ||
           (!timed() && round >= options.iterations);
  }
  bool isNear() const {
    return found() && Progress{shared.best.value().cost, shared.bound}.gap() <= options.gapLimit;
  }
  bool isHopeless() const {
    bool isTried = options.firstIterations > 0 && round >= options.firstIterations;
    return shared.bound >= options.costLimit ||
           (isTried && (!found() || shared.bound >= options.hopefulCost));
  }

  void solveCore();
  bool solveSmall();
  void doRound();
  void runWorker(int worker);
  void exchange();
  template <typename Source> void takeFrom(Source &source);
  void endAscent();
  void offer(const Assignment &answer);
  bool found() const { return started && shared.best.value().feasible(); }
  void addToPool(const Assignment &found);
  void noteBound(int64_t newBound);
  void report();
  void reportNow(const Progress &progress);
  std::vector<int> completed() const;
  Result finish(bool infeasible);

  const Instance &instance;
  const Options &options;
  int numWorkers;
  std::optional<Core> core;
  const Trail *trail = nullptr;
  size_t modelNodes = 0;
  std::unique_ptr<Ascent> ascent;
  std::unique_ptr<Branching> branching; ///< after the ascent, for a while
  std::unique_ptr<DirectedTables<double>> tables;
  std::vector<std::unique_ptr<Climber>> climbers;
  Shared shared;
  bool started = false; ///< `shared.best` is an answer, perhaps not a feasible one
  int64_t round = 0;
  bool ascending = true; ///< worker 0 raises the bound
  bool proved = false;
  bool exhausted = false; ///< the exact search has seen everything
  std::optional<int64_t> reportedCost;
  int64_t reportedBound = 0;
  Result result;
};

void Search::noteBound(int64_t newBound) {
  shared.bound = std::max(shared.bound, newBound);
  proved |= found() && shared.best.value().cost <= shared.bound;
}

void Search::offer(const Assignment &answer) {
  if (!started || answer.value() < shared.best.value())
    shared.best = answer;
  started = true;
  noteBound(shared.bound);
}

void Search::addToPool(const Assignment &found) {
  if (!found.value().feasible())
    return;
  auto place = std::lower_bound(
      shared.pool.begin(), shared.pool.end(), found,
      [](const Assignment &a, const Assignment &b) { return a.value() < b.value(); });
  if (place != shared.pool.end() && place->value().cost == found.value().cost)
    return;
  shared.pool.insert(place, found);
  if (shared.pool.size() > largestPool)
    shared.pool.pop_back();
}

/// Reports better answers, and bounds that close a hundredth of the gap.
void Search::report() {
  if (!options.report || !found())
    return;
  double closed = double(shared.bound - reportedBound);
  bool better = !reportedCost || shared.best.value().cost < *reportedCost;
  if (better || closed > 0.01 * double(shared.best.value().cost - reportedBound))
    reportNow({shared.best.value().cost, shared.bound, secondsGone()});
}

void Search::reportNow(const Progress &progress) {
  reportedCost = progress.cost;
  reportedBound = progress.lowerBound;
  options.report(progress);
}

/// Whether the core was solved to the end.
bool Search::solveSmall() {
  if (std::optional<Assignment> optimum = eliminateWhole(*core, 1e5)) {
    offer(*optimum);
    if (optimum->value().feasible())
      noteBound(optimum->value().cost);
    return exhausted = true;
  }
  ExactSearch exact(*core, shared.best);
  double limit = std::min(options.timeLimit, secondsGone() + exactShare * options.timeLimit);
  exhausted = exact.run(exactSteps, [&] { return secondsGone() > limit; });
  offer(exact.answer());
  if (exhausted && found())
    noteBound(shared.best.value().cost);
  return exhausted;
}

void Search::solveCore() {
  constexpr int smallCore = 120; // nodes: an exact search may end
  ascent = std::make_unique<Ascent>(*core);
  Slice slice;
  slice.until = at(secondsGone() + unpricedShare * options.timeLimit);
  offer(ascent->sweepUnpriced(slice, options.gapLimit));
  addToPool(shared.best);
  noteBound(ascent->bound());
  report();
  if (proved || (core->numNodes() <= smallCore && solveSmall()) || over())
    return report();
  tables = std::make_unique<DirectedTables<double>>(*core, 1);
  Random seeds(options.seed);
  for (int i = 0; i < numWorkers; ++i)
    climbers.push_back(std::make_unique<Climber>(*core, *tables, seeds.next()));
  for (; !over(); ++round) {
    doRound();
    exchange();
    report();
  }
}

void Search::runWorker(int worker) {
  Slice slice;
  slice.until = at(options.timeLimit);
  if (timed())
    slice.until = std::min(slice.until, at(secondsGone() + sliceSeconds));
  else
    slice.work = options.roundWork;
  if (worker == 0 && ascending)
    ascent->run(slice, shared.best.value());
  else if (worker == 0 && branching)
    branching->run(slice, shared.best.value());
  else
    climbers[worker]->run(slice, shared, share() > finishShare);
}

/// Runs all workers, on as many threads as there may be.
void Search::doRound() {
  int threads = std::clamp(options.threads, 1, numWorkers);
  if (threads == 1) {
    for (int worker = 0; worker < numWorkers; ++worker)
      runWorker(worker);
    return;
  }
  std::vector<std::thread> others;
  for (int worker = 1; worker < numWorkers; ++worker)
    others.emplace_back([this, worker] { runWorker(worker); });
  runWorker(0);
  for (std::thread &thread : others)
    thread.join();
}

void Search::exchange() {
  if (ascending)
    takeFrom(*ascent);
  else if (branching)
    takeFrom(*branching);
  if (ascending) {
    for (std::unique_ptr<Climber> &climber : climbers)
      climber->setPrices(ascent->prices());
    if (share() > ascentShare || ascent->settled())
      endAscent();
  }
  if (branching && (share() > finishShare || branching->ended()))
    branching.reset();
  for (std::unique_ptr<Climber> &climber : climbers)
    if (climber->started())
      offer(climber->best());
}

/// The answers and the bound of what worker 0 does.
template <typename Source> void Search::takeFrom(Source &source) {
  for (const Assignment &found : source.takeDecoded()) {
    offer(found);
    addToPool(found);
  }
  // No part of the problem is left: the best answer is one of the best.
  noteBound(std::min(source.bound(), found() ? shared.best.value().cost : INT64_MAX));
}

void Search::endAscent() {
  ascending = false;
  ascent->certify();
  noteBound(ascent->bound());
  if (found() && Branching::workOf(*core) <= quickSplit)
    branching =
        std::make_unique<Branching>(*core, ascent->messages(), ascent->prices(), ascent->bound());
}

/// A strategy for each node of the instance.
std::vector<int> Search::completed() const {
  std::vector<int> answer(modelNodes, 0);
  for (int u = 0; u < core->numNodes(); ++u)
    answer[core->modelNode[u]] = shared.best[u];
  trail->complete(answer);
  answer.resize(instance.numNodes());
  return answer;
}

Result Search::finish(bool infeasible) {
  result.progress.seconds = secondsGone();
  if (infeasible || (exhausted && !found())) {
    result.status = Status::Infeasible;
    return std::move(result);
  }
  result.progress.lowerBound = shared.bound;
  if (!found())
    return std::move(result);
  result.answer = completed();
  result.status = proved ? Status::Optimal : Status::Feasible;
  result.progress.cost = int64_t(evaluate(instance, result.answer).cost);
  if (options.report && (result.progress.cost != reportedCost || shared.bound != reportedBound))
    reportNow(result.progress);
  return std::move(result);
}

} // namespace

Result weft::solver::solve(const Instance &instance, const Options &options) {
  return Search(instance, options).run();
}

//===- PlanSearch.h - plans that were tried ---------------------*- C++ -*-===//
//
// What a cluster leaves open beside the splits of operations is tried: meshes, and, of a training
// step, what is computed again and the number of microbatches. Each trial is a complete plan with
// the price that the search gives it, or, of a deep model, that price alone (StepTrials.h). The
// best few by price are lowered and simulated, and the best of these by what the simulator says is
// taken. Of a deep model programs with few of its layers are: the shortest of each first, whose
// times tell which are worth the others. That one is completed: what is told of it is priced as
// what runs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_PLANSEARCH_H
#define WEFT_DRIVER_PLANSEARCH_H

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Search/Extrapolate.h"
#include "compiler/Search/PartAnswers.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Sharding/PlannedModule.h"
#include "driver/Outcome.h"
#include "driver/Simulation.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <chrono>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace weft {

/// What short programs of a candidate took (StepTrials.cpp).
struct ShortPrograms;

/// What a trial of stages was simulated as.
struct TrialProgram {
  SimulatedProgram program;
  llvm::SmallVector<int64_t> sliceLengths; ///< tokens
};

/// A plan that was tried, complete where there is one.
struct Candidate {
  plan::Plan plan;
  PlanStatus status = PlanStatus::Infeasible;
  size_t number = 0;   ///< in the order of trials
  bool isOpen = false; ///< only what its splits will cost is known
  /// B that what the search counts is held to, so that the program holds what it may; 0: that.
  double countedLimit = 0;
  /// The same by groups of devices, where stages stand on several; what the search counts of them,
  /// and what the program allocates, once it was simulated.
  BytesByGroup limits = {}, counted = {}, allocated = {};
  /// Of an open one, where it is kept: the answer to the shortest of its short programs.
  std::shared_ptr<const ShardingAnswer> answer = nullptr;
  /// Of a step, once the shortest of these was simulated, or others were that say it cannot take
  /// less; 0: not known.
  double expectedSeconds = 0;
  std::shared_ptr<ShortPrograms> programs = nullptr;
  /// The answer, and what it answers, once all of these were simulated.
  std::shared_ptr<const KnownAnswer> known = nullptr;
  std::shared_ptr<const TrialProgram> program = nullptr; ///< of simulateTrial()

  bool isSimulated() const { return plan.prediction().simulated_seconds() > 0; }
  /// Whether there is such a plan, and its program, where that is known, fits the memory.
  bool fits() const;
  /// B that the program may allocate; 0: any.
  double getAllowedBytes() const;
  /// Seconds of a step: simulated, else by the search's prices.
  double getSeconds() const;
  /// Whether it fits, is known better (simulated), takes less time, or as much and less memory.
  bool isBetterThan(const Candidate &other) const;
  /// By the search's prices alone.
  bool isCheaperThan(const Candidate &other) const;
  /// By the bytes that the search counts.
  bool isSmallerThan(const Candidate &other) const;
};

/// Makes the module that a candidate's plan is to be applied to: a copy of the model, or of its
/// training step. Null where there is none.
using MakeModule = llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(const plan::Plan &)>;

/// Which of a candidate's short programs are simulated.
enum class Programs { Shortest, All };

/// Searches the splits of open candidates in so many seconds and simulates them without their
/// modules, at once; they stay open. By candidate, false where that cannot be.
using SimulateOpen =
    llvm::function_ref<std::vector<bool>(llvm::ArrayRef<Candidate *>, Programs, double)>;

class PlanSearch {
public:
  /// `timeBudget` in seconds bounds the whole search; 0: no bound. The simulator decides among the
  /// best `shortlist` plans by price, `shown` at least; of these it takes all programs.
  explicit PlanSearch(double timeBudget = 0, size_t shown = 1, size_t shortlist = 8)
      : timeBudget(timeBudget), shown(shown), shortlist(std::max(shortlist, shown)),
        start(std::chrono::steady_clock::now()) {}

  /// Threads on which trials may run at once; what is found does not depend on it.
  void setThreads(unsigned number) { threads = number; }
  unsigned getThreads() const { return threads; }

  /// Searches the splits of a copy of the module for a plan that has its meshes, and says nothing.
  /// Null, and nothing is tried, when the time is over; the first trial always is. With
  /// `leastMemory` it is the plan that holds least, without a limit.
  const Candidate *attempt(mlir::ModuleOp module, const plan::Plan &plan, bool leastMemory = false);

  /// Adds a plan whose splits are to be searched if it is among the best: of one that is Applied
  /// the prediction says what is expected. The answer, where that is worth to be kept, is, of the
  /// best few.
  void expect(plan::Plan plan, PlanStatus status,
              std::shared_ptr<const ShardingAnswer> answer = nullptr);
  /// Whether the time is over; then, what is not tried so is counted.
  bool skip();
  /// s that the best one takes by the search's prices; 0: none is known yet.
  double getLeastSeconds() const;
  /// s: plans that take longer are not simulated, whatever comes; 0: none is known yet.
  double getSecondsLimit() const;

  /// Notes that a plan is only tried: where the search finds none that fits, none of least memory
  /// is looked for, nor what would; one that takes `most` s or longer is not held to less memory.
  void noteTrial(double most = std::numeric_limits<double>::infinity()) {
    trial = true;
    trialLimit = most;
  }
  bool isTrial() const { return trial; }
  double getTrialLimit() const { return trialLimit; }

  /// Keeps the model that a training step is made of, for explainInfeasible().
  void keepUntrained(mlir::ModuleOp module) { untrained = module.clone(); }
  /// Null where none was kept.
  mlir::ModuleOp getUntrained() const { return untrained ? *untrained : mlir::ModuleOp(); }

  /// Notes that how a step is trained was left to the search.
  void noteTrainingChoice() { choosesTraining = true; }
  bool hasChosenTraining() const { return choosesTraining; }

  /// Keeps what a plan leaves open of the mesh before one is chosen, for the same.
  void keepAsked(const plan::Plan &plan) { asked = plan.meshes(0); }
  /// Whether it was left to the search how long an axis is.
  bool choosesAxis(const std::string &name) const;
  /// The plan with its mesh as it was asked for.
  plan::Plan withAsked(plan::Plan plan) const;

  /// Keeps, where nothing fits, what holds least as the search counts, on each mesh, for the same.
  void keepLeast(std::vector<Candidate> found) { least = std::move(found); }
  llvm::ArrayRef<Candidate> getLeast() const { return least; }
  /// B that it counts of these, where all that was tried counts more than a device may hold; 0:
  /// not so, or not known.
  double getExcessiveBytes() const;

  /// Of what was tried and not simulated: all, or what was tried since settle() was called last.
  enum class Open { All, New };

  /// Simulates the best few, and puts the best of all first. Where the program of one allocates
  /// more than may be held, what the search counts of values is held to so much less, a few times,
  /// unless another one that fits is faster already. Goes on until one fits, but not among new ones
  /// alone: others may be tried before the rest of them, and before those that are far from the
  /// best.
  void settle(MakeModule makeModule, SimulateOpen simulateOpen = nullptr, Open which = Open::All);

  /// The same for a plan that is simulated already, of which so much is counted and allocated.
  void settle(const plan::Plan &plan, BytesByGroup counted, BytesByGroup allocated,
              MakeModule makeModule);

  /// Simulates a trial of stages, what the search counts held to limits; where its program
  /// allocates too much, to less, as settle() does, if it takes less than getTrialLimit(). What the
  /// best one is; its module, planned, is gone. Answers are what is known of parts.
  const Candidate &simulateTrial(const plan::Plan &plan, BytesByGroup limits,
                                 std::shared_ptr<PartAnswers> answers, MakeModule makeModule);

  /// Forgets what it takes to take any but the best candidate, once settled.
  void release();

  /// Adds a complete plan that is better than all that were tried.
  void add(const plan::Plan &plan);

  /// Says of the best candidate what became of it.
  void confirm(const plan::Plan &plan);

  /// Best first, once settled.
  const std::vector<Candidate> &getCandidates() const { return candidates; }
  /// Trials that were left out for lack of time.
  int64_t getSkipped() const { return skipped; }
  double getSeconds() const;
  /// Seconds that are left; infinite without a bound.
  double getRemaining() const;

private:
  struct Maker {
    MakeModule module;
    SimulateOpen simulateOpen;
    std::shared_ptr<PartAnswers> answers = nullptr; ///< of a trial of stages
  };
  void simulate(llvm::ArrayRef<Candidate *> some, const Maker &make);
  void simulateWhole(Candidate &candidate, const Maker &make);
  std::vector<size_t> listBest(Open which) const;
  void simulateShortest(llvm::ArrayRef<Candidate *> open, const Maker &make);
  void compare(std::vector<size_t> &chosen, const Maker &make);
  void simulateBest(llvm::ArrayRef<size_t> chosen, const Maker &make);
  void simulateRest(const Maker &make);
  double tighten(size_t number, double best, const Maker &make);
  void dropAnswers();
  double getFitting(size_t number) const;
  double getBest() const;
  void sortByBest();
  void retry(Candidate trial, const Maker &make);

  double timeBudget;
  size_t shown, shortlist;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::chrono::steady_clock::time_point start;
  std::vector<Candidate> candidates, least;
  size_t settled = 0; ///< number of the first that settle() has not seen
  int64_t skipped = 0;
  mlir::OwningOpRef<mlir::ModuleOp> untrained;
  std::optional<plan::Mesh> asked;
  bool choosesTraining = false;
  bool trial = false;
  double trialLimit = std::numeric_limits<double>::infinity();
};

/// A plan as it was before anything was searched.
plan::Plan withoutSearch(plan::Plan plan);

/// The plan, and its pins, on a mesh.
plan::Plan withMesh(plan::Plan plan, const plan::Mesh &mesh);

/// Applies a complete plan to a module, without a search. Says nothing; none where it fails.
std::optional<PlannedModule> applyQuietly(mlir::ModuleOp module, const plan::Plan &plan);

/// Completes an open candidate that was simulated as short programs, whose splits are known, and
/// applies it to a module. Says nothing; none where the module is not like those.
std::optional<PlannedModule> applyKnown(mlir::ModuleOp module, Candidate &candidate);

/// What ranks of a program allocate on each group of devices.
BytesByGroup listAllocated(const Simulation &simulation, const plan::Plan &plan);

/// Lowers a planned module, which it is no more, and simulates it on the plan's cluster; notes in
/// the plan what a step takes and a rank allocates.
Result<SimulatedProgram> notePrice(mlir::ModuleOp planned, plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_PLANSEARCH_H

//===- StepTrials.h - what a step would take, quickly -----------*- C++ -*-===//
//
// Tries ways to train and meshes: of a model whose layers repeat, short ones are tried that stand
// for the whole (ShortSteps.h). Many are looked at by the search's prices; the best few are lowered
// and simulated. A model that does not repeat, or of which a person decided something by name, must
// be tried as it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_STEPTRIALS_H
#define WEFT_DRIVER_STEPTRIALS_H

#include "compiler/Cluster/Topology.h"
#include "driver/MeshOrder.h"
#include "driver/PlanSearch.h"
#include "driver/ShortSteps.h"

namespace weft {

class StepTrials {
public:
  /// Tries steps of a model, which must outlive this, as a plan that names a cluster asks for them,
  /// on the meshes. What `others` make of the model to try is taken from them, and given to them.
  StepTrials(mlir::ModuleOp module, const plan::Plan &plan, const std::vector<plan::Mesh> &meshes,
             const StepTrials *others = nullptr);
  ~StepTrials();

  /// Tells the search what may be expected, on each of the meshes, of the step that a plan asks
  /// for, with `leastMemory` of that which holds least, without a limit. Whether one fits, of which
  /// `onFit` is told at once; none where that must be found of the whole model.
  std::optional<bool> attempt(const plan::Plan &asked, PlanSearch &search, bool leastMemory = false,
                              llvm::function_ref<void()> onFit = nullptr);

  /// A step, on whatever mesh.
  struct Step {
    double leastBytes = 0; ///< B that a device holds in any case, as the search counts
    double limitBytes = 0; ///< that it may hold; 0: any
    int64_t examples = 0;  ///< of a microbatch; 0: not known
  };
  /// The one that was tried last.
  const Step &getTried() const { return triedStep; }

  /// Whether the step that a plan asks for can be made, on some mesh. False where that must be
  /// found of the whole model.
  bool isMakable(const plan::Plan &asked);

  /// Searches the splits of candidates in so many seconds, on so many threads, and simulates short
  /// programs: notes in each what the shortest takes, or, of all, what a step takes and a rank
  /// allocates. By candidate, false where that must be found of the whole model.
  std::vector<bool> simulate(llvm::ArrayRef<Candidate *> candidates, Programs which,
                             double timeLimit, unsigned threads);

private:
  struct MeshSearch;
  struct Simulated;
  bool attempt(const StepProblem &step, const plan::Plan &asked, llvm::ArrayRef<size_t> numbers,
               PlanSearch &search, bool leastMemory);
  bool note(ShardingAnswer answer, const SearchOptions &options, plan::Plan trial,
            PlanSearch &search);
  std::vector<bool> simulateAlike(llvm::ArrayRef<Candidate *> candidates, Programs which,
                                  double timeLimit, unsigned threads);
  std::unique_ptr<Simulated> makeSimulated(Candidate &candidate, Programs which, unsigned threads);
  bool takeAnswer(Simulated &simulated, Programs which) const;
  void search(llvm::ArrayRef<Simulated *> some, Programs which, double timeLimit, unsigned threads);
  void price(llvm::ArrayRef<Simulated *> some, Programs which, unsigned threads);
  MeshSearch *findSearch(const plan::Mesh &mesh) const;

  mlir::MLIRContext *context;
  const std::vector<plan::Mesh> &meshes;
  std::optional<cluster::Cluster> description;
  std::optional<ClusterModel> cluster;
  std::shared_ptr<ShortModel> model;                 ///< null where the whole model is tried
  std::vector<std::unique_ptr<MeshSearch>> searches; ///< by mesh; null where it is too large
  std::optional<MeshOrder> order;                    ///< of these, where they are tried
  Step triedStep;
};

} // namespace weft

#endif // WEFT_DRIVER_STEPTRIALS_H

//===- StepTrials.h - what a step would take, by the search's prices ------===//
//
// Tries ways to train and meshes, quickly: of a model whose layers repeat one of few layers is
// tried (compiler/Graph/Shorten.h), whose numbers are those of the whole
// (compiler/Search/Extrapolate.h). The step of that is made once for all meshes. A model that does
// not repeat, or of which a person decided something by name, must be tried as it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_STEPTRIALS_H
#define WEFT_DRIVER_STEPTRIALS_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Graph/Shorten.h"
#include "driver/PlanSearch.h"

namespace weft {

class StepTrials {
public:
  /// Tries steps of a model, which must outlive this, as a plan that names a cluster asks for them,
  /// on the meshes.
  StepTrials(mlir::ModuleOp module, const plan::Plan &plan, const std::vector<plan::Mesh> &meshes);
  ~StepTrials();

  /// Tells the search what may be expected, on each of the meshes, of the step that a plan asks
  /// for. Whether one fits; none where that must be found of the whole model.
  std::optional<bool> attempt(const plan::Plan &asked, PlanSearch &search);

private:
  struct Step;
  std::unique_ptr<Step> makeStep(mlir::ModuleOp module, const plan::Plan &plan) const;
  std::unique_ptr<Step> makeShortStep(const plan::Plan &plan);
  struct MeshSearch;
  bool attempt(const Step &step, const plan::Plan &trial, MeshSearch &mesh, PlanSearch &search);

  mlir::MLIRContext *context;
  const std::vector<plan::Mesh> &meshes;
  std::optional<ClusterModel> cluster;
  std::optional<Shortener> shortener;                ///< none where the whole model is tried
  uint32_t length = 0;                               ///< of runs of layers that are shortened
  std::vector<std::unique_ptr<MeshSearch>> searches; ///< by mesh; null where it is too large
};

} // namespace weft

#endif // WEFT_DRIVER_STEPTRIALS_H

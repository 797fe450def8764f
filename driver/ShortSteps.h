//===- ShortSteps.h - short steps that stand for a deep one -----*- C++ -*-===//
//
// Of a model whose layers repeat the steps of models with few layers are made, one with `length`
// layers, and of each run of layers that was cut short one with a layer more. What grows by as much
// with every layer is known of the whole by them (compiler/Search/Extrapolate.h):
//
//   number(80 layers) = number(8) + 72 · (number(9) - number(8))
//                     = -71 · number(8) + 72 · number(9)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_SHORTSTEPS_H
#define WEFT_DRIVER_SHORTSTEPS_H

#include "compiler/Graph/Shorten.h"
#include "compiler/Plan/plan.pb.h"
#include "compiler/Search/StrategyGraph.h"
#include "compiler/Sharding/PlannedModule.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// The step of a model on a mesh.
struct PlacedStep {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  PlannedModule planned; ///< of one part
};

/// One with what it asks of the search, which is the same on every mesh.
struct StepProblem : PlacedStep {
  ShardingProblem problem;
};

/// Steps of short models. The problem of the first, which is the shortest, has the numbers of the
/// whole.
struct ShortSteps {
  std::vector<std::unique_ptr<StepProblem>> steps;
  std::vector<double> shares; ///< by step: how often its numbers count in those of the whole
};

class ShortModel {
public:
  /// Finds what repeats in a model, which must outlive this.
  explicit ShortModel(mlir::ModuleOp module);

  /// Whether so much repeats that short models are worth making.
  bool repeats() const { return !shortener.getRuns().empty(); }

  /// The steps that a plan asks for, made on so many threads at most, once for all meshes. Null
  /// where they are not to be had, or do not tell of the whole.
  std::shared_ptr<const ShortSteps> make(const plan::Plan &asked, unsigned threads = 1);

  /// One of the steps that were made last, of a plan that asks for the same, as it comes to lie on
  /// the plan's mesh: a copy, to be split and lowered. Null where it cannot be made. From any
  /// thread.
  std::unique_ptr<PlacedStep> place(const plan::Plan &asked, size_t number) const;

  /// Whether the shortest of them can be made: where it cannot, no step of the model can, for what
  /// is asked of the batch, say, and not for its layers.
  bool isMakable(const plan::Plan &asked);

private:
  /// Of one length, as no mesh changed it.
  struct KeptStep {
    mlir::OwningOpRef<mlir::ModuleOp> begun; ///< what trainings of one key have in common
    mlir::OwningOpRef<mlir::ModuleOp> step;  ///< of the training that was asked for last
  };
  using Modules = std::map<std::vector<uint32_t>, KeptStep>; ///< by the lengths of runs
  using Kept = Modules::value_type;

  void turnTo(const plan::Plan &asked);
  Kept &getPlace(std::optional<size_t> longer);
  mlir::OwningOpRef<mlir::ModuleOp> begin(const plan::Plan &asked,
                                          llvm::ArrayRef<uint32_t> lengths) const;
  mlir::OwningOpRef<mlir::ModuleOp> makeModule(const plan::Plan &asked, Kept &kept) const;
  bool place(const plan::Plan &asked, Kept &kept, PlacedStep &step) const;
  std::unique_ptr<StepProblem> makeStep(const plan::Plan &asked, Kept &kept) const;
  std::shared_ptr<ShortSteps> makeSteps(const plan::Plan &asked, unsigned threads);

  Shortener shortener;
  uint32_t length;                        ///< of runs of layers that are shortened
  std::string training, key;              ///< of what was asked for last
  Modules modules;                        ///< of that
  std::vector<Kept *> places;             ///< among them: of the steps that were made last
  std::shared_ptr<const ShortSteps> made; ///< of that, if they are
};

} // namespace weft

#endif // WEFT_DRIVER_SHORTSTEPS_H

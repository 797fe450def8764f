//===- Explainer.h - where shardings came from ------------------*- C++ -*-===//
//
// Follows the split of a value back, through propagation, to the decision of the plan behind it,
// and forward to the collectives over its axes by which what is made of it is put together. What
// another split would cost is Counterfactual.h's to say.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_EXPLAINER_H
#define WEFT_DRIVER_EXPLAINER_H

#include "compiler/Plan/ValueNames.h"
#include "compiler/Plan/plan.pb.h"
#include "compiler/Sharding/PlannedModule.h"
#include "driver/PricedCollectives.h"
#include "llvm/ADT/StringSet.h"

namespace weft {

/// Why a dimension is split by some axes.
struct Origin {
  std::string axes;
  unsigned dim = 0;
  std::string origin;                     ///< user, chosen or propagated
  std::vector<std::string> steps;         ///< how it was propagated, backwards to the decision
  std::string reason;                     ///< of the decision
  unsigned decided = ShardingGraph::none; ///< the tensor that the decision is about
};

struct Explanation {
  std::string value, type, sharding;
  std::string mesh; ///< that it lies on
  std::vector<Origin> origins;
  std::vector<std::string> sums;             ///< over what its operation sums that is split
  std::vector<PricedCollective> collectives; ///< of the value itself
  std::vector<PricedCollective> effects;     ///< of what is made of it, over its own axes
};

/// One line of the list of values.
struct ValueSummary {
  std::string value, type, sharding;
  std::string origin; ///< user, chosen, propagated; "" of a whole value that no decision is about
  std::string mesh;   ///< that it lies on
};

/// Explains one part of a model, or all of one that is not cut.
class Explainer {
public:
  Explainer(const PlannedPart &planned, const plan::Plan &plan);

  /// The tensor that a name of list() stands for, or a weight's name alone: a value, or the first
  /// load of a weight.
  std::optional<unsigned> find(llvm::StringRef name) const;
  /// Every weight and every value that is computed, in the program's order.
  std::vector<ValueSummary> list() const;
  /// Those of a part of the model: a module, or whatever a name begins with before a `/` or `.`.
  std::vector<ValueSummary> listUnder(llvm::StringRef part) const;
  /// What is to be said of a name that is neither: a value's that was fused into another, or a
  /// slip.
  std::string describeUnknown(const std::string &name) const;
  Explanation explain(unsigned tensor, llvm::ArrayRef<PricedCollective> collectives) const;
  /// The name under which a plan holds what is decided of a tensor, as find() knows it.
  std::string nameOf(unsigned tensor) const;
  const PlannedPart &getPart() const { return planned; }

private:
  llvm::StringSet<> listMadeOf(unsigned tensor, AxisRef axis) const;
  void addEffects(unsigned tensor, AxisRef axis, llvm::ArrayRef<PricedCollective> collectives,
                  std::vector<PricedCollective> &effects) const;
  bool isOfThisMesh(const std::string &mesh) const;
  const plan::Decision *decisionOf(unsigned tensor) const;
  const Propagation::Growth *growthOf(unsigned tensor, llvm::ArrayRef<AxisRef> axes) const;
  struct Step {
    unsigned from, node;
  };
  bool decides(const plan::Decision &decision, llvm::ArrayRef<AxisRef> axes) const;
  std::string describeSplit(unsigned tensor) const;
  std::vector<std::string> listSums(unsigned tensor) const;
  Origin readOrigin(unsigned tensor, unsigned dim, const AxisList &axes) const;
  std::optional<Step> stepBack(unsigned tensor, llvm::ArrayRef<AxisRef> axes,
                               const llvm::DenseSet<unsigned> &seen) const;
  Origin originOf(unsigned tensor, unsigned dim, const AxisList &axes) const;
  ValueSummary summarize(unsigned tensor) const;

  const PlannedPart &planned;
  ValueNames names;
  llvm::StringMap<const plan::Decision *> decisions;
  llvm::DenseMap<mlir::Value, const plan::Decision *> ofReturned;   ///< on results of @main
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned, 2>> growths; ///< tensor to history
};

} // namespace weft

#endif // WEFT_DRIVER_EXPLAINER_H

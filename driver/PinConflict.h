//===- PinConflict.h - which pins exclude each other ------------*- C++ -*-===//

#ifndef WEFT_DRIVER_PINCONFLICT_H
#define WEFT_DRIVER_PINCONFLICT_H

#include "driver/Planning.h"

namespace weft {

/// Says of pins that no plan obeys which of them exclude each other: as few as there may be,
/// --shard and --pin of a request one by one, found by solving again with fewer
/// (SmallestConflict.h); and, for each, what there is without it.
class PinConflict {
public:
  /// Keeps a copy of the model as it was loaded, where anything is pinned. `options` must outlive
  /// this. Plans are tried on so many threads.
  PinConflict(mlir::ModuleOp model, const PlanOptions &options, unsigned threads);

  /// Gives back how a step of planning ended. Of one that was infeasible notes tell of the pins,
  /// where these, and nothing else, stand in the way.
  Outcome explain(Outcome outcome);

private:
  const PlanOptions &options;
  unsigned threads;
  mlir::OwningOpRef<mlir::ModuleOp> model; ///< null where nothing is pinned
};

} // namespace weft

#endif // WEFT_DRIVER_PINCONFLICT_H

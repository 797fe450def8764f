//===- WholeStep.h - the whole training step, made meanwhile ----*- C++ -*-===//
//
// Which plan of a deep model is the best is told by short steps (ShortSteps.h); then the step of
// the whole model is made, which takes as long as some trials. Most of it depends on nothing that
// is tried, and the trials leave threads idle now and then.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_WHOLESTEP_H
#define WEFT_DRIVER_WHOLESTEP_H

#include "compiler/Plan/plan.pb.h"
#include "driver/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <future>
#include <memory>
#include <mutex>
#include <string>

namespace weft {

class WholeStep {
public:
  /// Begins to make the step of a copy of the model on a thread of its own, where none was begun.
  void begin(mlir::ModuleOp model, const plan::Training &training);

  /// Turns the model into the step, and says what there was to say of it; nothing is begun any
  /// more. False where none was begun for such a training, or it cannot be made.
  bool take(mlir::ModuleOp model, const plan::Training &training);

  /// Turns the model into a copy of the step, which is only tried. From any thread.
  bool copy(mlir::ModuleOp model, const plan::Training &training);

private:
  struct Made {
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< null where it cannot be made
    std::unique_ptr<HeldDiagnostics> said;
  };
  Made *find(const plan::Training &training);

  std::mutex mutex;
  std::string begun; ///< the training's key
  std::future<Made> making;
  Made made;
};

} // namespace weft

#endif // WEFT_DRIVER_WHOLESTEP_H

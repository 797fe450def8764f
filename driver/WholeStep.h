//===- WholeStep.h - the whole training step, made meanwhile ----*- C++ -*-===//
//
// Which plan of a deep model is the best is told by short steps (ShortSteps.h); then the step of
// the whole model is made, which takes as long as some trials. It depends on how the model is
// trained alone, which is known before the trials are over, and these leave threads idle now and
// then.
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
#include <string>

namespace weft {

class WholeStep {
public:
  /// Begins to make the step of a copy of the model on a thread of its own, where none was begun
  /// for any training.
  void begin(mlir::ModuleOp model, const plan::Training &training);

  /// Turns the model into the step, and says what there was to say of it. False where none was
  /// begun for this training, or it cannot be made.
  bool take(mlir::ModuleOp model, const plan::Training &training);

private:
  /// Null where it cannot be made.
  struct Made {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::unique_ptr<HeldDiagnostics> said;
  };

  std::string begun; ///< the training
  std::future<Made> made;
};

} // namespace weft

#endif // WEFT_DRIVER_WHOLESTEP_H

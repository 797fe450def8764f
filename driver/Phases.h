//===- Phases.h - the phases of a compilation -------------------*- C++ -*-===//

#ifndef WEFT_DRIVER_PHASES_H
#define WEFT_DRIVER_PHASES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace weft {

/// The names of the phases, in their order: import, train, plan, partition, fuse, select, lower,
/// codegen, write.
std::vector<llvm::StringRef> listPhases();

/// Is told of each phase before and after it.
class PhaseObserver {
public:
  virtual ~PhaseObserver() = default;
  virtual void begin(llvm::StringRef phase) = 0;
  /// `module` is what the phase leaves; null where it failed.
  virtual void end(llvm::StringRef phase, mlir::ModuleOp module) = 0;
};

} // namespace weft

#endif // WEFT_DRIVER_PHASES_H

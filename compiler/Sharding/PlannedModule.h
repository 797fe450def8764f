//===- PlannedModule.h - a module with its mesh and shardings ---*- C++ -*-===//
//
// Joins @main, its mesh, and the propagation over it: what the planning passes and `weft explain`
// work on.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PLANNEDMODULE_H
#define WEFT_COMPILER_SHARDING_PLANNEDMODULE_H

#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Propagation.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace weft {

struct PlannedModule {
  mlir::ModuleOp module;
  mlir::func::FuncOp main;
  MeshShape mesh;
  std::unique_ptr<FunctionGraph> function;
  std::unique_ptr<Propagation> shardings;
  /// The tensors that are loads of each weight, by symbol.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<unsigned, 1>> loads;

  /// Reads @main and its pins; emits an error and gives nothing if there is not one mesh, no @main,
  /// or a pin does not fit.
  static std::optional<PlannedModule> get(mlir::ModuleOp module);

  /// Spreads the pins.
  void propagate() { shardings->run(); }
  /// Writes the shardings onto the module: values, results of @main, and the storage of weights.
  void annotate();

  /// The finest storage sharding of which every given load is a cut: what the loads' shardings
  /// begin with in common.
  TensorSharding commonStorage(llvm::ArrayRef<unsigned> loads) const;

private:
  mlir::LogicalResult readPins();
  mlir::LogicalResult readStoragePins();
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PLANNEDMODULE_H

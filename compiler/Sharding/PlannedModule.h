//===- PlannedModule.h - a module with its meshes and shardings -*- C++ -*-===//
//
// Joins each part of a module (Parts.h), its mesh, and the propagation over it: what the planning
// passes and `weft explain` work on. Shardings that stand in the module (Decisions.h) are pins of
// the propagation, which stays within a part: what crosses is brought from one sharding to the
// other.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PLANNEDMODULE_H
#define WEFT_COMPILER_SHARDING_PLANNEDMODULE_H

#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Parts.h"
#include "compiler/Sharding/Propagation.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace weft {

/// A part, or the whole of an uncut module.
struct PlannedPart {
  mlir::ModuleOp module;
  mlir::func::FuncOp main; ///< the part's function
  MeshShape mesh;
  std::shared_ptr<FunctionGraph> function;
  std::unique_ptr<Propagation> shardings;
  /// The tensors that are loads of each weight, by symbol.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<unsigned, 1>> loads;

  /// Reads a part and the shardings in it; emits an error and gives none if it is partitioned
  /// already, or a sharding does not fit. A result of the function that has a sharding gives it to
  /// the value returned, where that has none of its own; a weight gives its own to its loads, which
  /// may be split further, a state to its loads and what is stored.
  static std::optional<PlannedPart> get(mlir::ModuleOp module, const Part &part);

  /// Reads the shardings in it, and forgets what was read of them before.
  mlir::LogicalResult read();

  /// Writes the shardings onto the module: values, results of the function, and the storage of
  /// weights. What stood there stays and is marked as decided, or as before if the function was
  /// propagated before.
  void annotate();

  /// The finest storage sharding of which every given load is a cut: what the loads' shardings
  /// begin with in common.
  TensorSharding commonStorage(llvm::ArrayRef<unsigned> loads) const;

private:
  void keepFromBatchAxes();
  mlir::LogicalResult readValues();
  mlir::LogicalResult readSplits();
  void pinWhole(unsigned tensor, TensorSharding form);
  mlir::LogicalResult readResults();
  mlir::LogicalResult readStorage();
  void annotateValues(bool wasPropagated);
  void annotateResults(bool wasPropagated);
  void annotateStorage(bool wasPropagated);
};

struct PlannedModule {
  std::vector<PlannedPart> parts; ///< as in Parts
  llvm::SmallVector<Channel> channels;

  /// Emits an error and gives none where a part has no mesh or does not fit its shardings.
  static std::optional<PlannedModule> get(mlir::ModuleOp module);

  /// Reads the shardings in the module again, of which nothing else was changed. Emits an error
  /// where a part does not fit them.
  mlir::LogicalResult readAgain();

  /// Spreads the pins.
  void propagate();
  void annotate();
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PLANNEDMODULE_H

//===- LocalValues.h - a global value's local forms -------------*- C++ -*-===//
//
// While a function is partitioned, each global value has one or more local forms: what its
// operation left, and what uses asked for. A form that is asked for is made at the use, by the
// cheapest collectives from the form nearest to it, once: later uses take it again. Weights have no
// form until they are used: every form is a load of its own shard (dist.load_shard), so that no
// collective moves a weight; likewise operations without operands are built anew for each sharding
// they are wanted in.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_LOCALVALUES_H
#define WEFT_COMPILER_SHARDING_LOCALVALUES_H

#include "compiler/Sharding/FactorSharding.h"
#include "compiler/Sharding/WeightView.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

struct LocalForm {
  TensorSharding sharding;
  mlir::Value local;
};

class LocalValues {
public:
  LocalValues(const MeshShape &mesh, mlir::OpBuilder &builder) : mesh(mesh), builder(builder) {}

  /// This device's block of a view of a weight of type `type`.
  mlir::Value load(mlir::Location loc, mlir::Type type, const WeightView &view,
                   const TensorSharding &sharding);

  /// Registers what a global value is.
  void addForm(mlir::Value global, const TensorSharding &sharding, mlir::Value local);
  /// Forgets all forms of a value but one.
  void keepOnly(mlir::Value global, const LocalForm &form) { forms[global] = {form}; }
  void addView(mlir::Value global, const WeightView &view) { views[global] = view; }
  /// Says where a view lies, because people decided that of its weight: what is not the block there
  /// is brought from it, and not read otherwise.
  void addPlace(mlir::Value global, const TensorSharding &place) { places[global] = place; }
  void addSource(mlir::Value global) { sources.insert(global); }

  const WeightView *getView(mlir::Value global) const;
  /// None of a view that may be read as its uses want it.
  std::optional<TensorSharding> getPlace(mlir::Value global) const;
  bool isSource(mlir::Value global) const { return sources.contains(global); }
  /// The forms made so far, the operation's own first.
  llvm::ArrayRef<LocalForm> getForms(mlir::Value global) const;

  /// The value in that sharding, made at the builder's insertion point if need be. Null, after an
  /// error, if there is no way to it.
  mlir::Value get(mlir::Value global, const TensorSharding &wanted);

  /// Where a part of a value is still to be cut, the operation that made the last of its forms, of
  /// which each holds more than that part, or shows it.
  mlir::Operation *findLastToCut(mlir::Value global, mlir::RankedTensorType part) const;

private:
  mlir::Value rebuild(mlir::Value global, const TensorSharding &wanted);
  mlir::Value reshard(mlir::Value global, const TensorSharding &wanted);

  const MeshShape &mesh;
  mlir::OpBuilder &builder;
  /// Forms are large, and a map that grows moves what is in it.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<LocalForm, 0>> forms;
  llvm::DenseMap<mlir::Value, WeightView> views;
  llvm::DenseMap<mlir::Value, TensorSharding> places; ///< of views
  llvm::DenseSet<mlir::Value> sources;
};

/// The type of one device's block.
mlir::RankedTensorType localType(mlir::Type global, const TensorSharding &sharding);

/// Whether the padding of a dimension of a local value is known to hold zeros. `isCleared` tells
/// that of arguments and of what is loaded.
bool isZeroPadded(mlir::Value local, unsigned dim, llvm::function_ref<bool(mlir::Value)> isCleared);

/// Builds `op` on one shard whose factors are split by `axes`, and drops the annotations of the
/// global program.
llvm::SmallVector<mlir::Value> buildShard(mlir::OpBuilder &builder, mlir::Operation *op,
                                          const FactorRule &rule, const FactorAxes &axes,
                                          mlir::ValueRange operands, mlir::TypeRange resultTypes,
                                          const MeshShape &mesh);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_LOCALVALUES_H

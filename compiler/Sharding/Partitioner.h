//===- Partitioner.h - one program that every device runs -------*- C++ -*-===//
//
// Turns an annotated @main, or part of a model, into its SPMD form. Everything is derived from
// factor rules: how an operation's tensors lie says by which axes its factors are split
// (resolveFactors); its operands are brought to that split (LocalValues), it is built on one shard,
// and its results are partial over the axes of split reductions. A matrix product split by its
// contracted dimension,
//
//   ([s, k], [k, n]) -> ([s, n]),   k = {"model"}
//
// leaves a partial sum over "model". A partial sum is carried through operations that are linear in
// it, as long as that makes it no larger, and is reduced where a use needs it whole: two branches
// that are added have one all_reduce.
//
// Worked example (README.md): a perceptron on {model=2}, its first weight split by columns, its
// second by rows, as propagation leaves it.
//
//   %0 = dot_general %x, %up     n = {"model"}   %x as it is, a load of %up's columns
//   %1 = gelu %0                 n = {"model"}   on one shard
//   %2 = dot_general %1, %down   k = {"model"}   a load of %down's rows; a partial sum
//   return %2                    whole           all_reduce, then the return
//
// A state (a weight that is stored) lies in one sharding: a load gives that form, a store brings
// the value there. Of a trained parameter whose storage is split further than what computes with it
// (ZeRO stage 3) blocks are gathered where they are used, for the backward pass once more. So is
// what views show of a parameter.
//
// What a barrier reads lies as it reads it from where it is made on, if that is a part of what is
// made: the rest need not wait for the backward pass.
//
// Blocks may be padded (Extent.h); what lies in padding is unspecified. Whoever reads across it
// gets the identity of its reduction there (dist.mask_padding), where the padding is not known to
// hold it: an operand split along a reduction factor, and indices, which are checked.
//
// A result whose sharding was decided (Decisions.h) is brought there right behind its operation, if
// that is split otherwise; every use starts from there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PARTITIONER_H
#define WEFT_COMPILER_SHARDING_PARTITIONER_H

#include "compiler/Sharding/BackwardPass.h"
#include "compiler/Sharding/LocalValues.h"
#include "compiler/Sharding/OperationSplit.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// The factors' axes without those of the batch over which all operands, of which the operation is
/// linear together, are sums that wait: it is cheaper to join what becomes of them than each one,
/// though the result is to be split by these axes. Sums over microbatches are made of parts.
FactorAxes leavingSums(mlir::Operation &op, const FactorRule &rule, const FactorAxes &axes,
                       llvm::ArrayRef<AxisRef> batchAxes, const LocalValues &values);
CarriedSums carriedSums(mlir::Operation &op, const FactorRule &rule, const FactorAxes &axes,
                        const LocalValues &values);

class Partitioner {
public:
  /// `main` is annotated with shardings on `mesh`; values without one are replicated. Where weights
  /// stay whole, they are loaded and stored as before, whatever their shardings.
  Partitioner(mlir::func::FuncOp main, dist::MeshOp mesh, bool keepsWeights = false);

  /// Replaces the body and the signature of the function. After an error it is as it was.
  mlir::LogicalResult run();

private:
  mlir::LogicalResult checkShardings();
  mlir::LogicalResult visit(mlir::Operation &op);
  mlir::LogicalResult visitCompute(mlir::Operation &op);
  mlir::LogicalResult visitWaiting(mlir::Operation &op);
  mlir::LogicalResult buildResults(mlir::Operation &op, const FactorRule &rule,
                                   const OperationSplit &split, mlir::ValueRange operands);
  mlir::LogicalResult visitReturn(mlir::func::ReturnOp op);
  mlir::LogicalResult visitStore(StoreOp op);
  mlir::LogicalResult keepStore(StoreOp op);
  bool visitView(mlir::Operation &op);
  void addPlace(mlir::Operation &op);
  TensorSharding storageOf(WeightOp state) const;
  void loadState(LoadOp load, WeightOp state);
  void keepLoad(LoadOp load);
  bool mayBeBrought(LoadOp load, const TensorSharding &stored) const;
  void addArguments(mlir::Block &body);
  void finish(mlir::Region &body);

  mlir::Value maskPadding(const FactorRule &rule, unsigned operand, mlir::Value global,
                          const TensorSharding &sharding, mlir::Value local);

  FactorAxes resolve(mlir::Operation &op, const FactorRule &rule) const;
  mlir::FailureOr<OperationSplit> splitOf(mlir::Operation &op, const FactorRule &rule) const;
  void remarkIfSplitIsLost(mlir::Operation &op, const FactorRule &rule,
                           const FactorAxes &axes) const;
  void remarkIfReadOtherwise(mlir::Operation &op, mlir::Value operand,
                             const TensorSharding &wanted) const;
  void remarkIfReadWhole(mlir::Operation &op, const FactorRule &rule, unsigned index,
                         const TensorSharding &wanted) const;
  mlir::LogicalResult keepDecision(mlir::Operation &op, mlir::OpResult result,
                                   const TensorSharding &computed);
  mlir::LogicalResult noPath(mlir::Operation &op, mlir::Value value,
                             const TensorSharding &wanted) const;
  /// The sharding that a value is annotated with, reduced.
  TensorSharding annotated(mlir::Value value) const;
  TensorSharding arriving(mlir::BlockArgument argument);
  TensorSharding annotatedResult(unsigned index);

  mlir::func::FuncOp main;
  MeshShape mesh;
  bool keepsWeights;
  AxisList batchAxes;
  mlir::OpBuilder builder;
  LocalValues values;
  llvm::DenseMap<mlir::StringAttr, WeightOp> states;
  llvm::DenseMap<mlir::StringAttr, TensorSharding> pinned;      ///< weights that do not change
  llvm::DenseMap<mlir::Operation *, LocalForm> stateForms;      ///< of those that are loaded
  llvm::DenseMap<mlir::Operation *, mlir::Value> backwardForms; ///< the same, not to be merged
  llvm::DenseSet<mlir::Value> parameters; ///< loads of trained parameters, and views of them
  BackwardPass backward;
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PARTITIONER_H

//===- Interpret.h - the value of a module ----------------------*- C++ -*-===//
//
// Runs a module's @main on host tensors, operation by operation: a model (one device), or a
// partitioned program, whose ranks go in lockstep: every operation is done for all ranks before the
// next, which makes collectives plain functions of all ranks' values. This is what "every plan
// computes what one device computes" is checked with.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_INTERPRET_H
#define WEFT_COMPILER_INTERPRET_INTERPRET_H

#include "compiler/Interpret/Tensor.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace weft {

/// Gives the whole value of a weight.
using WeightReader = llvm::function_ref<llvm::Expected<Tensor>(WeightOp)>;

/// Reads a weight from its storage: the module's own elements, or bytes of a file. Relative paths
/// count from the folder of the module's `weft.source`.
llvm::Expected<Tensor> readStoredWeight(WeightOp weight);

/// The whole values of weights of kind state between steps, by symbol. What is not there has the
/// value that the WeightReader gives.
using StateValues = llvm::StringMap<Tensor>;

/// The results of @main, whose arguments have the values `inputs`. Errors name the operation and
/// its source. One step: loads read `state`, which stores set at the end; null: what is stored is
/// dropped.
llvm::Expected<llvm::SmallVector<Tensor>> interpret(mlir::ModuleOp module,
                                                    llvm::ArrayRef<Tensor> inputs,
                                                    WeightReader weights = readStoredWeight,
                                                    llvm::StringRef function = "main",
                                                    StateValues *state = nullptr);

/// One value on every rank (device) of a mesh.
using RankValues = llvm::SmallVector<Tensor>;

/// The results of a partitioned @main on every rank of `mesh`; null: @main calls parts, which name
/// theirs, and each argument and result has the ranks of its own. Errors name the rank too.
llvm::Expected<llvm::SmallVector<RankValues>>
interpretSpmd(mlir::ModuleOp module, dist::MeshOp mesh, llvm::ArrayRef<RankValues> inputs,
              WeightReader weights = readStoredWeight, StateValues *state = nullptr);

/// The block of a global value that each rank holds under a sharding that is not partial.
RankValues shardsOf(const Tensor &global, dist::MeshOp mesh, dist::ShardingAttr sharding);

/// The global value of shards. Fails where ranks that should hold the same bytes do not, and where
/// shards are not of the sharding's local type.
llvm::Expected<Tensor> assemble(llvm::ArrayRef<Tensor> shards, dist::MeshOp mesh,
                                dist::ShardingAttr sharding, mlir::RankedTensorType type);

/// The results of a partitioned module as global values: splits `inputs` as its arguments'
/// `dist.sharding` says, runs it on all ranks of its meshes, and assembles the results.
llvm::Expected<llvm::SmallVector<Tensor>>
interpretPartitioned(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs,
                     WeightReader weights = readStoredWeight, StateValues *state = nullptr);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_INTERPRET_H

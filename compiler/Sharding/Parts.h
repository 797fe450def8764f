//===- Parts.h - a model in parts, each on a mesh of its own ----*- C++ -*-===//
//
// A model that runs on one mesh is @main. One that runs on several is cut: each part is a function
// that names its mesh (`dist.mesh`), and @main does nothing but call the parts, each once, before
// those that use what it makes:
//
//   func.func @part0(%ids: …) -> (tensor<2x8xf32>)            attributes {dist.mesh = @mesh0} …
//   func.func @part1(%h: tensor<2x8xf32>, %ids: …) -> (…)     attributes {dist.mesh = @mesh1} …
//   func.func @main(%ids: …) -> (…) {
//     %0 = call @part0(%ids)
//     %1 = call @part1(%0, %ids)
//     return %1
//   }
//
// The stages of a training step read one another's values in both directions, so that no order of
// calls is one of their values: what comes of a later call stands as a dist.result_of, until each
// stage becomes phases (OutlineStages.h).
//
// Whatever handles one function with one mesh handles a model part by part. What a part hands to
// another is a *channel*: the result of the one, the argument of the other. Once the parts are
// partitioned, each channel is a dist.transfer in @main, and an input that several parts read is an
// argument of @main for each of them. Between the calls there may be reductions over meshes
// (dist.cross_mesh_all_reduce), until they are expanded to parts (CrossMeshReductions.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PARTS_H
#define WEFT_COMPILER_SHARDING_PARTS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace weft {

class PartAssignment;

struct Part {
  mlir::func::FuncOp function;
  mlir::func::CallOp call; ///< in @main; null where the function is @main itself
  dist::MeshOp mesh;       ///< null before a plan gave it one
};

/// Result `result` of part `from` is argument `argument` of part `to`: a later one, or, in the
/// stages of a training step, any other one.
struct Channel {
  unsigned from, result, to, argument;
};

struct Parts {
  mlir::func::FuncOp main;
  llvm::SmallVector<Part, 1> parts; ///< in the order of their calls
  llvm::SmallVector<Channel> channels;
  llvm::SmallVector<dist::CrossMeshAllReduceOp, 0> reductions; ///< over meshes
};

/// Reads a module's parts: @main alone, or what it calls. Emits an error and gives none where there
/// is no @main with a body of one block, where it does anything besides, or a mesh is not there.
std::optional<Parts> getParts(mlir::ModuleOp module);

/// Whether a function is @main of a model in parts: it calls what is no kernel.
bool callsParts(mlir::func::FuncOp function);

/// The mesh that a function runs on: the one it names, else the module's only one; null, after no
/// error, where there is none. Several of which it names none are an error.
mlir::FailureOr<dist::MeshOp> findMesh(mlir::func::FuncOp function);

/// Gives each channel a result of its own, so that what goes to one part may lie otherwise than
/// what goes to another, or is a result of @main. Results that nobody reads are dropped.
void separateChannels(Parts &parts);

/// Replaces @main by parts that hold what `assignment` says, and call one another's results. What
/// it gives to no part is made anew in each part that reads it. `nameOf` gives the unique name of a
/// value of @main, which it keeps in its part (kValueNamesAttr) and where it is an argument.
void cutMain(mlir::ModuleOp module, const PartAssignment &assignment,
             llvm::function_ref<std::string(mlir::Value)> nameOf);

/// On operations of parts: the names of their results, where the source's name alone is not it.
inline constexpr llvm::StringLiteral kValueNamesAttr = "weft.value_names";

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PARTS_H

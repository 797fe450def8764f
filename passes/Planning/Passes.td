//===- Passes.td - who holds what: plans and shardings --------------------===//
//
// Order (weft-plan-pipeline): weft-split-constants, weft-split-microbatches (and constants once more), weft-apply-plan, weft-choose-shardings unless the plan is a file's,
// weft-propagate-shardings. They share a plan in progress (passes/Planning/PlanState.h). A module with a mesh can do without
// weft-apply-plan.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PLANNING_PASSES_TD
#define WEFT_PLANNING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApplyPlan : Pass<"weft-apply-plan", "::mlir::ModuleOp"> {
  let summary = "pins what a plan, or the command line, decides";
  let description = [{
    Takes the mesh and the shardings that are written in the module into the plan, where it has no axes of its own. Then
    cuts @main into parts behind the values that the plan names (compiler/Sharding/Parts.h), adds the plan's meshes, one
    a part, and pins its decisions: on values by source name, on weights (`weight:NAME`) as their storage sharding. A
    name that the model does not have, a value that was fused away, and a unit that does not divide are errors. The
    plan comes from a file, or from meshes, cuts and pins as on the command line of `weft compile`.

    Precondition: only one of module and plan has a mesh; the module has no parts. Postcondition: each part has a mesh,
    and every decision is a `dist.pinned` sharding.

    With `mesh="data=2" shard="x=[{data},{} ]"`
    ```mlir
    func.func @main(%x: tensor<4x8xf32> {weft.name = "x"})
    ```
    becomes
    ```mlir
    dist.mesh @mesh <["data"=2]>
    func.func @main(%x: tensor<4x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {} ]>, weft.name = "x"})
    ```
    With `mesh="data=2;model=2" cuts=h`
    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %h = weft.exp %x : tensor<4x8xf32> loc("h")
      %y = weft.tanh %h : tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    ```
    becomes
    ```mlir
    dist.mesh @mesh0 <["data"=2]>
    dist.mesh @mesh1 <["model"=2], first_device = 2>
    func.func @part0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {dist.mesh = @mesh0} {
      %h = weft.exp %x : tensor<4x8xf32>
      return %h : tensor<4x8xf32>
    }
    func.func @part1(%h: tensor<4x8xf32> {weft.name = "h"}) -> tensor<4x8xf32> attributes {dist.mesh = @mesh1} {
      %y = weft.tanh %h : tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = call @part0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %1 = call @part1(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```
  }];
  let options = [
    Option<"plan", "plan", "std::string", "", "a plan file">,
    Option<"mesh", "mesh", "std::string", "", "a mesh, NAME=SIZE[,NAME=SIZE]…, instead of a plan; of several parts "
                                              "one for all, or one each, separated by ';'">,
    ListOption<"cuts", "cuts", "std::string", "values behind which a part ends">,
    Option<"shard", "shard", "std::string", "", "pins on that mesh, VALUE=[{AXES},…], separated by ';'">
  ];
  let dependentDialects = ["::weft::dist::DistDialect", "::mlir::func::FuncDialect"];
}

def ChooseShardings : Pass<"weft-choose-shardings", "::mlir::ModuleOp"> {
  let summary = "chooses what to split on the axes that no decision mentions";
  let description = [{
    Searches for the split of every operation that takes the least time (compiler/Search/StrategyGraph.h): on the cluster
    that is named, or on the reference cluster (docs/cluster.md), where axes of the batch (`data`, `batch`, `dp`) take the batch
    wherever they can, and holding a byte of a weight costs what moving one does. Splits stand on operations as `dist.split`.

    An axis of which devices repeat work, because nothing becomes shorter, is warned of; on a cluster that is named, where
    the search may do so for time, only one of the batch, longer than that and asked for by size. Each part of a model is chosen for by
    itself; of what it is handed the batch is known.

    Of a training step a stage of optimizer sharding pins how state, gradients and parameters lie over the batch's axes
    (compiler/Search/ShardOptimizer.h); the search obeys.

    Precondition: every part has a `dist.mesh`. Postcondition: every operation has its split; inputs, states, values that are kept otherwise
    than they are made, and results are pinned.

    With `dist.mesh @mesh <["model"=2]>`
    ```mlir
    %0 = weft.dot_general %x, %up … : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = weft.gelu erf %0 : tensor<4x16xf32>
    %2 = weft.dot_general %1, %down … : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %0 = weft.dot_general %x, %up … {dist.split = {n = #dist.dim<{"model"}>}} : …
    %1 = weft.gelu erf %0 {dist.split = {d1 = #dist.dim<{"model"}>}} : tensor<4x16xf32>
    %2 = weft.dot_general %1, %down … {dist.split = {k = #dist.dim<{"model"}>}} : …
    ```
  }];
  let options = [
    Option<"optimizerSharding", "optimizer-sharding", "int64_t", "0",
           "what of a training step is split over the data axes: 1 the optimizer's state, 2 gradients too, 3 parameters too">,
    Option<"cluster", "cluster", "std::string", "", "the cluster that prices splits; none: the reference cluster">,
    Option<"folds", "fold", "bool", "true", "split operations alike that look alike from some steps around">,
    Option<"explains", "explain", "bool", "false", "tell what the search found">
  ];
  let dependentDialects = ["::weft::dist::DistDialect"];
}

def PriceProgram : Pass<"weft-price-program", "::mlir::ModuleOp"> {
  let summary = "print what a partitioned program takes on a cluster";
  let description = [{
    For people and tests: the IR is unchanged. A remark on @main says what its operations and its collectives take, by the
    prices of the search (compiler/Search/PriceProgram.h).

    Precondition: @main is partitioned over one mesh. Postcondition: the module is as it was.

    With `cluster=dgx-h100` and a mesh of two devices, of
    ```mlir
    %0 = weft.dot_general %x, %w … : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
    %1 = dist.all_reduce sum %0 axes ["model"] on @mesh : tensor<64x512xf32>
    ```
    it says `computes 1.258267e-05 s, communicates 3.629089e-05 s in 1 collectives`.
  }];
  let options = [
    Option<"cluster", "cluster", "std::string", "\"cpu:1\"", "a preset or a description">
  ];
}

def PrintShardingRules : Pass<"weft-print-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "print each operation's factor rule as a remark";
  let description = [{
    For people and tests: the IR is unchanged. Where partial sums pass through an operation its linearity is added.
    A rule that does not fit its operation's shapes is an error.

    Precondition: none. Postcondition: the module is as it was.

    For
    ```mlir
    %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0]
        : (tensor<8x128x768xf32>, tensor<768x3072xf32>) -> tensor<8x128x3072xf32>
    ```
    the remark is
    ```
    ([b, s, k], [k, n]) -> ([b, s, n]) {b=8, s=128, k=768, n=3072} reduction={k} linear=each
    ```
  }];
}

def PropagateShardings : Pass<"weft-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "spreads the shardings that stand in a module to every value";
  let description = [{
    Gives every tensor of @main, or of its parts, a `dist.sharding`, and every weight the storage sharding that all its loads can be cut
    from. What stands there already, written by a person or by a pass, is a decision (compiler/Sharding/Decisions.h): it
    stays as it is and is marked `dist.pinned`. On a weight it also gives its loads their sharding, which may be split
    further; on a result of @main, the value returned, where that has none of its own. Two decisions that conflict both
    stay; partitioning brings the one to the other. The method is that of compiler/Sharding/Propagation.h.

    @main is marked `dist.propagated`. Where it was before, everything in it stays, decided or not, and nothing more is
    marked: the pass changes nothing of what it gave.

    Precondition: every part has a `dist.mesh`, and the module is not partitioned; shardings fit their values, and only results
    of operations with operands are partial. Postcondition: every argument and result of every operation of @main that
    is a tensor has a sharding, none is partial unless decided so.

    ```mlir
    dist.mesh @mesh <["data"=2, "model"=2]>
    func.func @main(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {} ]>}) … {
      %w = weft.load @w : tensor<8x16xf32>
      %0 = weft.dot_general %x, %w … {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"} ]>}
      %1 = weft.tanh %0
    ```
    becomes, but for `dist.pinned` on the argument and the product,
    ```mlir
      %w = weft.load @w {dist.sharding = #dist.sharding<@mesh, [{}, {"model"} ]>} : tensor<8x16xf32>
      %1 = weft.tanh %0 {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"} ]>} : tensor<4x16xf32>
    ```
  }];
  let dependentDialects = ["::weft::dist::DistDialect"];
}

def SplitConstants : Pass<"weft-split-constants", "::mlir::func::FuncOp"> {
  let summary = "gives each user of a constant or a load its own";
  let description = [{
    One constant used in two places, or one weight read by two operations, would couple their shardings. Every use of
    an operation without operands (constant, iota, load) by another operation gets a copy of its own, likewise every
    use of a broadcast of such an operation or of a scalar, and of a view of a load. `cse` merges what is still equal after
    partitioning.

    Precondition: none. Postcondition: every constant, iota and load of the function has at most one user.

    ```mlir
    %c = weft.constant dense<2.0> : tensor<4xf32>
    %0 = weft.mul %x, %c : tensor<4xf32>
    %1 = weft.mul %y, %c : tensor<4xf32>
    ```
    becomes
    ```mlir
    %c0 = weft.constant dense<2.0> : tensor<4xf32>
    %0 = weft.mul %x, %c0 : tensor<4xf32>
    %c1 = weft.constant dense<2.0> : tensor<4xf32>
    %1 = weft.mul %y, %c1 : tensor<4xf32>
    ```
  }];
}

def SplitMicrobatches : Pass<"weft-split-microbatches", "::mlir::ModuleOp"> {
  let summary = "lets a step go through its batch in microbatches";
  let description = [{
    Splits @main over time as over an axis of the batch (compiler/Search/SplitMicrobatches.h): values that carry the batch
    are of one microbatch, sums over the batch are `dist.accumulate`. What needs more of the batch than a microbatch, and
    is no sum behind the last one, is refused by name. Or lets it take several batches of the model, each a microbatch, of
    which nothing is split. The number of either is that of `weft.training`, if no other is given.

    Preconditions: @main is one part without mesh, of tensors that are whole. Postcondition: arguments and results that
    carry the batch are marked `weft.microbatch_dim`, @main `weft.microbatches`.

    ```mlir
    func.func @main(%x: tensor<16x8xf32>) -> tensor<8xf32> {
      %0 = weft.reduce sum %x dims [0] : tensor<16x8xf32> -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    becomes, of 4 microbatches,
    ```mlir
    func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0}) -> tensor<8xf32> attributes {weft.microbatches = 4} {
      %0 = weft.reduce sum %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
      %1 = dist.accumulate %0 : tensor<8xf32> to tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"microbatches", "microbatches", "int64_t", "0", "how many; 0: as the module's `weft.training` says">,
    Option<"batches", "batches", "int64_t", "0", "how many batches of the model a step takes, instead">
  ];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect", "::mlir::func::FuncDialect"];
}

#endif // WEFT_PLANNING_PASSES_TD

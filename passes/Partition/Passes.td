//===- Passes.td - from a global program to a local one -------------------===//
//
// Order: weft-expand-cross-mesh-reductions, weft-slice-tokens, weft-partition, then canonicalize and cse, which join collectives that meet
// (DistCanonicalize.cpp), weft-advance-reductions, weft-outline-microbatches.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PARTITION_PASSES_TD
#define WEFT_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AdvanceReductions : Pass<"weft-advance-reductions", "::mlir::func::FuncOp"> {
  let summary = "joins gradients, and gathers small blocks, as soon as they are there";
  let description = [{
    Reductions that a batch axis takes part in, reduce-scatters, and sums over microbatches go from where their result is first
    used to right behind what makes their operands. A gradient's is then begun while others are still computed, and stands beside those with which
    it may be sent together (weft-select-instructions). So do all-gathers of small blocks that are computed, and arithmetic that
    makes nothing else than what they gather.

    Precondition: the program of one device. Postcondition: the same values.

    ```mlir
    %g0 = weft.dot_general … loc("grad:w0")
    %g1 = weft.dot_general … loc("grad:w1")
    %r0 = dist.all_reduce sum %g0 axes ["data"] on @mesh : tensor<64xf32>
    ```
    becomes
    ```mlir
    %g0 = weft.dot_general … loc("grad:w0")
    %r0 = dist.all_reduce sum %g0 axes ["data"] on @mesh : tensor<64xf32>
    %g1 = weft.dot_general … loc("grad:w1")
    ```
  }];
}

def ExpandCrossMeshReductions : Pass<"weft-expand-cross-mesh-reductions", "::mlir::ModuleOp"> {
  let summary = "makes parts that add of reductions over several meshes";
  let description = [{
    Every `dist.cross_mesh_all_reduce` of @main becomes parts on its meshes, which join values in their order, and the
    channels between them (compiler/Sharding/CrossMeshReductions.h): of two meshes, or of a small value, each mesh joins
    all values; of more meshes and a larger value each joins a chunk of it and is handed the others. Results are equal
    bit for bit on all meshes. Reductions that stand together share their parts.

    Preconditions: parts have shardings; a value without one is replicated. Postcondition: no
    `dist.cross_mesh_all_reduce` is left.

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %a = call @part0(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %b = call @part1(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %s:2 = dist.cross_mesh_all_reduce sum %a on @mesh0, %b on @mesh1 : tensor<8xf32>
      %y = call @part2(%s#1) : (tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
    becomes, where only what is on @mesh1 reads the sum,
    ```mlir
    func.func @join_mesh1(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {dist.mesh = @mesh1} {
      %s = weft.add %a, %b : tensor<8xf32>
      return %s : tensor<8xf32>
    }
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %a = call @part0(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %b = call @part1(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %s = call @join_mesh1(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %y = call @part2(%s) : (tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect", "::mlir::func::FuncDialect"];
}

def OutlineMicrobatches : Pass<"weft-outline-microbatches", "::mlir::ModuleOp"> {
  let summary = "makes parts of a step that goes through its batch in microbatches";
  let description = [{
    One part for each phase of the step (compiler/Sharding/OutlineMicrobatches.h): what is there once, the sums that depend
    on inputs alone, a microbatch, and the last one with all that follows it. Sums are kept in weights of the kind `state`
    that are marked `weft.accumulator`: those of one number are one memory. Calls say which microbatches they compute.

    The stages of a training step, parts that read one another's values in both directions (`dist.result_of`), become
    phases likewise, with microbatches or without (compiler/Sharding/OutlineStages.h): a forward and a backward phase of
    each stage, and as many of updates as values go to and fro; with a `pipeline` of `weft.training` that puts the gradients
    of weights off, a phase of these. Calls of what every microbatch goes through say by `weft.pipeline_stage` and
    `weft.pipeline_level` which pass of which stage it is; a schedule orders them. Stages whose meshes share devices are on
    one mesh behind this, and hand over to one another what lies there.

    Preconditions: @main, or each of its parts, is the program of one device; one with `weft.microbatches` is in one part,
    or in stages. Postcondition: no `dist.accumulate` and no `dist.result_of` is left.

    ```mlir
    func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0}) -> tensor<8xf32> attributes {weft.microbatches = 4} {
      %0 = weft.reduce sum %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
      %1 = dist.accumulate %0 : tensor<8xf32> to tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
    becomes parts @begin, which sets the sum to zero, @microbatch, which adds to it, and
    ```mlir
    func.func @update(%x: tensor<4x8xf32>) -> tensor<8xf32> attributes {dist.mesh = @mesh} {
      %0 = weft.reduce sum %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
      %1 = weft.load @accumulate.0.update : tensor<8xf32>
      %2 = weft.add %1, %0 : tensor<8xf32>
      weft.store @accumulate.0.update, %2 : tensor<8xf32>
      return %2 : tensor<8xf32>
    }
    func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0}) -> tensor<8xf32> attributes {weft.microbatches = 4} {
      call @begin() : () -> ()
      call @microbatch(%x) {weft.microbatches_of_call = array<i64: 0, 3>} : (tensor<4x8xf32>) -> ()
      %0 = call @update(%x) {weft.microbatches_of_call = array<i64: 3, 1>} : (tensor<4x8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect", "::mlir::func::FuncDialect"];
}

def Partition : Pass<"weft-partition", "::mlir::ModuleOp"> {
  let summary = "turns @main, or its parts, into the program that every device of a mesh runs";
  let description = [{
    Operations become local, collectives explicit (compiler/Sharding/Partitioner.h). Arguments and results have the
    local types of their shardings; `dist.sharding` and `weft.global_type` on them tell of which global tensor. Weights
    are read by `dist.load_shard`: transposes, reshapes and slices behind a load become a strided view of the file, so
    that no collective moves a weight. A module without mesh gets one of a single device.

    Of a model in parts (compiler/Sharding/Parts.h) each part is partitioned on its mesh. What a part hands to another
    becomes a `dist.transfer` in @main, between the shardings in which it leaves and arrives
    (compiler/Sharding/Transfer.h); inputs that several parts read are arguments of @main for each of them.

    Preconditions: shardings on values (`dist.sharding`) name their part's mesh and fit them; values without one are
    replicated. A result whose sharding was decided is brought there right behind its operation, however that is split.
    Postconditions: no `dist.sharding` is left on operations; every tensor is one device's block.

    ```mlir
    dist.mesh @mesh <["model"=2]>
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %w = weft.load @down {dist.sharding = #dist.sharding<@mesh, [{"model"}, {} ]>} : tensor<16x8xf32>
      %0 = weft.dot_general %h, %w … : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
      %w = dist.load_shard @down start 0 shape [16, 8] strides [8, 1] sharding <@mesh, [{"model"}, {} ]> : tensor<8x8xf32>
      %0 = weft.dot_general %h, %w … : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %1 = dist.all_reduce sum %0 axes ["model"] on @mesh : tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::weft::dist::DistDialect", "::mlir::func::FuncDialect"];
}

def SliceTokens : Pass<"weft-slice-tokens", "::mlir::ModuleOp"> {
  let summary = "has sequences go through the stages of a training step in slices of tokens";
  let description = [{
    As `weft.training` asks for (`slices`, and `slice_lengths` where they are not alike): what is computed of each token by itself, or of
    tokens up to it, is computed of one slice after the other (compiler/Sharding/SliceTokens.h), and stages hand it on so.

    Preconditions: a planned module whose parts are the stages of a training step, with causal attention. Postcondition: the same
    gradients; operations have levels (`weft.level`), by which weft-outline-microbatches makes phases.

    ```mlir
    func.func @part0(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> attributes {dist.mesh = @mesh0} {
      %y = weft.gelu %x : tensor<2x8x4xf32>
      return %y : tensor<2x8x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @part0(%x: tensor<2x8x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>) attributes {dist.mesh = @mesh0} {
      %x0 = weft.slice %x starts [0, 0, 0] strides [1, 1, 1] : tensor<2x8x4xf32> to tensor<2x4x4xf32>
      %y0 = weft.gelu %x0 {weft.level = 0} : tensor<2x4x4xf32>
      %x1 = weft.slice %x starts [0, 4, 0] strides [1, 1, 1] : tensor<2x8x4xf32> to tensor<2x4x4xf32>
      %y1 = weft.gelu %x1 {weft.level = 1} : tensor<2x4x4xf32>
      return %y0, %y1 : tensor<2x4x4xf32>, tensor<2x4x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect", "::mlir::func::FuncDialect"];
}

#endif // WEFT_PARTITION_PASSES_TD

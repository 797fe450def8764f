//===- Passes.td - from a global program to a local one -------------------===//
//
// Order: weft-expand-cross-mesh-reductions, weft-partition, then canonicalize and cse, which join collectives that meet
// (DistCanonicalize.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PARTITION_PASSES_TD
#define WEFT_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // WEFT_PARTITION_PASSES_TD

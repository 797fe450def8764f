//===- Passes.td - from a global program to a local one -------------------===//
//
// Order: weft-partition, then canonicalize and cse, which join collectives that meet (DistCanonicalize.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PARTITION_PASSES_TD
#define WEFT_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

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

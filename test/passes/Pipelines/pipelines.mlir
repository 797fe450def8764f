// RUN: weft-opt %s --weft-partition-pipeline --weft-kernel-pipeline --weft-select-pipeline --weft-exec-pipeline | FileCheck %s

// An MLP, columns then rows: a rank's program has two products, one kernel between them and one all-reduce.
// CHECK-LABEL: exec.program @class0 ranks 0 to 2
// CHECK: segment @forward
// CHECK-NEXT: gemm
// CHECK-NEXT: launch "[[KEY:k[0-9a-f]+]]"
// CHECK-NEXT: gemm
// CHECK-NEXT: collective all_reduce
// CHECK-NOT: gemm
dist.mesh @mesh <["model"=2]>
weft.weight @up : tensor<8x16xf32> = #weft.external<"w.bin", 0, 512> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
weft.weight @down : tensor<16x8xf32> = #weft.external<"w.bin", 512, 512> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
func.func @main(%x: tensor<4x8xf32> {weft.name = "x", dist.sharding = #dist.sharding<@mesh, [{}, {}]>})
    -> (tensor<4x8xf32> {weft.name = "y", dist.sharding = #dist.sharding<@mesh, [{}, {}]>}) {
  %up = weft.load @up {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>} : tensor<8x16xf32>
  %down = weft.load @down {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} : tensor<16x8xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
      : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = weft.tanh %0 {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>} : tensor<4x16xf32>
  %2 = weft.dot_general %1, %down batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
      : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

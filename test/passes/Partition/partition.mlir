// RUN: weft-opt %s --split-input-file --weft-partition --canonicalize --cse | FileCheck %s

// A product split by columns, then one split by rows: one all_reduce, before the bias; each device reads its own shards.
dist.mesh @mesh <["data"=2, "model"=2]>
weft.weight @up : tensor<8x32xf32> = #weft.external<"w.data", 0, 1024>
weft.weight @up_bias : tensor<32xf32> = #weft.external<"w.data", 1024, 128>
weft.weight @down : tensor<32x8xf32> = #weft.external<"w.data", 1152, 1024>
weft.weight @down_bias : tensor<8xf32> = #weft.external<"w.data", 2176, 32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>, weft.global_type = tensor<4x8xf32>, weft.name = "x"})
// CHECK-SAME: -> (tensor<2x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>, weft.global_type = tensor<4x8xf32>, weft.name = "y"})
func.func @main(%x: tensor<4x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>, weft.name = "x"})
    -> (tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>, weft.name = "y"}) {
  // CHECK: %[[UP:.*]] = dist.load_shard @up {{.*}} : tensor<8x16xf32>
  // CHECK: %[[H:.*]] = weft.dot_general %[[X]], %[[UP]] {{.*}} -> tensor<2x16xf32>
  // CHECK: dist.load_shard @up_bias start 0 shape [32] strides [1] sharding <@mesh, [{"model"}]> : tensor<16xf32>
  // CHECK: %[[G:.*]] = weft.gelu
  // CHECK: %[[DOWN:.*]] = dist.load_shard @down start 0 shape [32, 8] strides [8, 1] sharding <@mesh, [{"model"}, {}]> : tensor<16x8xf32>
  // CHECK: %[[P:.*]] = weft.dot_general %[[G]], %[[DOWN]] {{.*}} -> tensor<2x8xf32>
  // CHECK: %[[R:.*]] = dist.all_reduce sum %[[P]] axes ["model"] on @mesh : tensor<2x8xf32>
  // CHECK: %[[Y:.*]] = weft.add %[[R]],
  // CHECK: return %[[Y]]
  %up = weft.load @up {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>} : tensor<8x32xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>} : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %up_bias = weft.load @up_bias {dist.sharding = #dist.sharding<@mesh, [{"model"}]>} : tensor<32xf32>
  %1 = weft.broadcast %up_bias dims [1] {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>} : tensor<32xf32> to tensor<4x32xf32>
  %2 = weft.add %0, %1 {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>} : tensor<4x32xf32>
  %3 = weft.gelu tanh %2 {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>} : tensor<4x32xf32>
  %down = weft.load @down {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} : tensor<32x8xf32>
  %4 = weft.dot_general %3, %down batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %down_bias = weft.load @down_bias {dist.sharding = #dist.sharding<@mesh, [{}]>} : tensor<8xf32>
  %5 = weft.broadcast %down_bias dims [1] {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>} : tensor<8xf32> to tensor<4x8xf32>
  %6 = weft.add %4, %5 {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>} : tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

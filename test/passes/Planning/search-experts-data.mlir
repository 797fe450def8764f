// RUN: weft-opt %s --weft-choose-shardings=cluster=dgx-h100 --weft-propagate-shardings --weft-partition --cse | FileCheck %s

// Experts go over the batch's own axis where that is less to read than tokens are to exchange: each device keeps its part of the batch.

// CHECK-LABEL: func.func @main
// CHECK: %[[SENT:.*]] = weft.dot_general {{.*}} -> tensor<2x1024x4x16xf32>
// CHECK-NEXT: %[[HERE:.*]] = dist.all_to_all %[[SENT]] split 2 concat 0 axes ["data"]
// CHECK: dist.load_shard @up {{.*}} : tensor<1x1024x16384xf32>
// CHECK: weft.dot_general %[[HERE]], {{.*}} -> tensor<1x8x16x16384xf32>
// CHECK: dist.load_shard @down {{.*}} : tensor<1x16384x1024xf32>
// CHECK: %[[GIVEN:.*]] = weft.dot_general {{.*}} -> tensor<1x8x16x1024xf32>
// CHECK-NEXT: %[[BACK:.*]] = dist.all_to_all %[[GIVEN]] split 1 concat 0 axes ["data"]
// CHECK-NEXT: weft.dot_general {{.*}}, %[[BACK]] {{.*}} -> tensor<2x64x1024xf32>
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh <["data"=4]>
weft.weight @up : tensor<4x1024x16384xf32> = #weft.external<"f", 0, 268435456>
weft.weight @down : tensor<4x16384x1024xf32> = #weft.external<"f", 0, 268435456>
func.func @main(%x: tensor<8x64x1024xf32> {weft.name = "x", dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}, {}]>}, %p: tensor<8x64x4x16xf32> {weft.name = "dispatch", dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}, {}, {}]>}) -> (tensor<8x64x1024xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<4x1024x16384xf32>
  %down = weft.load @down : tensor<4x16384x1024xf32>
  %in = weft.dot_general %x, %p batch [0] x [0] contract [1] x [1] : (tensor<8x64x1024xf32>, tensor<8x64x4x16xf32>) -> tensor<8x1024x4x16xf32>
  %0 = weft.dot_general %in, %up batch [2] x [0] contract [1] x [1] : (tensor<8x1024x4x16xf32>, tensor<4x1024x16384xf32>) -> tensor<4x8x16x16384xf32>
  %1 = weft.gelu tanh %0 : tensor<4x8x16x16384xf32>
  %2 = weft.dot_general %1, %down batch [0] x [0] contract [3] x [1] : (tensor<4x8x16x16384xf32>, tensor<4x16384x1024xf32>) -> tensor<4x8x16x1024xf32>
  %y = weft.dot_general %p, %2 batch [0] x [1] contract [2, 3] x [0, 2] : (tensor<8x64x4x16xf32>, tensor<4x8x16x1024xf32>) -> tensor<8x64x1024xf32>
  return %y : tensor<8x64x1024xf32>
}

// RUN: weft-opt %s -split-input-file --weft-choose-shardings=cluster=%S/Inputs/ratios.txtpb --weft-propagate-shardings --weft-partition --cse | FileCheck %s

// Experts and tokens on one axis: each expert is on one device, what it takes is exchanged before it, and what it gives behind it.

// CHECK-LABEL: func.func @main
// CHECK: %[[SENT:.*]] = weft.dot_general {{.*}} -> tensor<2x128x4x16xf32>
// CHECK-NEXT: %[[HERE:.*]] = dist.all_to_all %[[SENT]] split 2 concat 0
// CHECK: dist.load_shard @up {{.*}} : tensor<1x128x512xf32>
// CHECK: weft.dot_general %[[HERE]], {{.*}} -> tensor<1x8x16x512xf32>
// CHECK: dist.load_shard @down {{.*}} : tensor<1x512x128xf32>
// CHECK: %[[GIVEN:.*]] = weft.dot_general {{.*}} -> tensor<1x8x16x128xf32>
// CHECK-NEXT: %[[BACK:.*]] = dist.all_to_all %[[GIVEN]] split 1 concat 0
// CHECK-NEXT: weft.dot_general {{.*}}, %[[BACK]] {{.*}} -> tensor<2x64x128xf32>
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh <["model"=4]>
weft.weight @up : tensor<4x128x512xf32> = #weft.external<"f", 0, 1048576>
weft.weight @down : tensor<4x512x128xf32> = #weft.external<"f", 0, 1048576>
func.func @main(%x: tensor<1x512x128xf32> {weft.name = "x", dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}, {}]>}, %p: tensor<1x512x4x16xf32> {weft.name = "dispatch", dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}, {}, {}]>}) -> (tensor<1x512x128xf32> {weft.name = "y"}) {
  %x4 = weft.reshape %x : tensor<1x512x128xf32> to tensor<8x64x128xf32>
  %up = weft.load @up : tensor<4x128x512xf32>
  %down = weft.load @down : tensor<4x512x128xf32>
  %p4 = weft.reshape %p : tensor<1x512x4x16xf32> to tensor<8x64x4x16xf32>
  %in = weft.dot_general %x4, %p4 batch [0] x [0] contract [1] x [1] : (tensor<8x64x128xf32>, tensor<8x64x4x16xf32>) -> tensor<8x128x4x16xf32>
  %0 = weft.dot_general %in, %up batch [2] x [0] contract [1] x [1] : (tensor<8x128x4x16xf32>, tensor<4x128x512xf32>) -> tensor<4x8x16x512xf32>
  %1 = weft.gelu tanh %0 : tensor<4x8x16x512xf32>
  %2 = weft.dot_general %1, %down batch [0] x [0] contract [3] x [1] : (tensor<4x8x16x512xf32>, tensor<4x512x128xf32>) -> tensor<4x8x16x128xf32>
  %3 = weft.dot_general %p4, %2 batch [0] x [1] contract [2, 3] x [0, 2] : (tensor<8x64x4x16xf32>, tensor<4x8x16x128xf32>) -> tensor<8x64x128xf32>
  %y = weft.reshape %3 : tensor<8x64x128xf32> to tensor<1x512x128xf32>
  return %y : tensor<1x512x128xf32>
}

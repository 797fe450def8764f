// RUN: weft-opt %s --split-input-file --weft-propagate-shardings --weft-partition --canonicalize --cse | FileCheck %s

// Tokens in groups, groups and experts on one axis: exactly one all_to_all there and one back.
dist.mesh @mesh <["expert"=2]>
weft.weight @up : tensor<4x16x32xf32> = #weft.external<"w", 0, 8192> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"expert"}, {}, {}]>}
weft.weight @down : tensor<4x32x16xf32> = #weft.external<"w", 8192, 8192>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8x16xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"expert"}, {}, {}]>, weft.name = "x"},
                %gates: tensor<4x8x4x3xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"expert"}, {}, {}, {}]>, weft.name = "gates"})
    -> (tensor<4x8x16xf32> {weft.name = "y"}) {
  // CHECK: %[[IN:.*]] = weft.dot_general {{.*}} -> tensor<2x4x3x16xf32>
  // CHECK: %[[SENT:.*]] = weft.transpose %[[IN]] [1, 0, 2, 3]
  // CHECK: %[[HERE:.*]] = dist.all_to_all %[[SENT]] split 0 concat 1 axes ["expert"] on @mesh : tensor<4x2x3x16xf32> -> tensor<2x4x3x16xf32>
  // CHECK: %[[UP:.*]] = dist.load_shard @up {{.*}} : tensor<2x16x32xf32>
  // CHECK: weft.dot_general %[[HERE]], %[[UP]]
  // CHECK: %[[OUT:.*]] = weft.dot_general {{.*}} -> tensor<2x4x3x16xf32>
  // CHECK: %[[BACK:.*]] = dist.all_to_all %[[OUT]] split 1 concat 0 axes ["expert"] on @mesh : tensor<2x4x3x16xf32> -> tensor<4x2x3x16xf32>
  // CHECK: %[[Y:.*]] = weft.dot_general %{{.*}}, %[[BACK]] {{.*}} -> tensor<2x8x16xf32>
  // CHECK-NOT: dist.
  // CHECK: return %[[Y]]
  %in = weft.dot_general %gates, %x batch [0] x [0] contract [1] x [1] : (tensor<4x8x4x3xf32>, tensor<4x8x16xf32>) -> tensor<4x4x3x16xf32>
  %sent = weft.transpose %in [1, 0, 2, 3] : tensor<4x4x3x16xf32> -> tensor<4x4x3x16xf32>
  %up = weft.load @up : tensor<4x16x32xf32>
  %0 = weft.dot_general %sent, %up batch [0] x [0] contract [3] x [1] : (tensor<4x4x3x16xf32>, tensor<4x16x32xf32>) -> tensor<4x4x3x32xf32>
  %1 = weft.gelu erf %0 : tensor<4x4x3x32xf32>
  %down = weft.load @down : tensor<4x32x16xf32>
  %out = weft.dot_general %1, %down batch [0] x [0] contract [3] x [1] : (tensor<4x4x3x32xf32>, tensor<4x32x16xf32>) -> tensor<4x4x3x16xf32>
  %y = weft.dot_general %gates, %out batch [0] x [1] contract [2, 3] x [0, 2] : (tensor<4x8x4x3xf32>, tensor<4x4x3x16xf32>) -> tensor<4x8x16xf32>
  return %y : tensor<4x8x16xf32>
}

// -----

// Groups over both axes: only the experts' axis is exchanged.
dist.mesh @mesh <["data"=2, "expert"=2]>
weft.weight @up : tensor<4x16x16xf32> = #weft.external<"w", 0, 4096> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"expert"}, {}, {}]>}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8x16xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data", "expert"}, {}, {}]>, weft.name = "x"},
                %gates: tensor<4x8x4x3xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data", "expert"}, {}, {}, {}]>, weft.name = "gates"})
    -> (tensor<4x8x16xf32> {weft.name = "y"}) {
  // CHECK: dist.all_to_all %{{.*}} split 1 concat 0 axes ["expert"] on @mesh : tensor<1x4x3x16xf32> -> tensor<2x2x3x16xf32>
  // CHECK: dist.all_to_all %{{.*}} axes ["expert"] on @mesh
  // CHECK-NOT: dist.all
  // CHECK: return
  %in = weft.dot_general %gates, %x batch [0] x [0] contract [1] x [1] : (tensor<4x8x4x3xf32>, tensor<4x8x16xf32>) -> tensor<4x4x3x16xf32>
  %up = weft.load @up : tensor<4x16x16xf32>
  %0 = weft.dot_general %in, %up batch [1] x [0] contract [3] x [1] : (tensor<4x4x3x16xf32>, tensor<4x16x16xf32>) -> tensor<4x4x3x16xf32>
  %y = weft.dot_general %gates, %0 batch [0] x [1] contract [2, 3] x [0, 2] : (tensor<4x8x4x3xf32>, tensor<4x4x3x16xf32>) -> tensor<4x8x16xf32>
  return %y : tensor<4x8x16xf32>
}

// RUN: weft-opt %s -split-input-file "--weft-choose-shardings=cluster=dgx-h100 explain" --weft-propagate-shardings --weft-partition --cse 2>&1 | FileCheck %s

// Columns, then rows, and one sum, which may be left split.

// CHECK: remark: searched
// CHECK: weft.weight @up {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK-LABEL: func.func @main
// CHECK: weft.dot_general %{{.*}} -> tensor<4096x2048xf32>
// CHECK: weft.gelu erf %{{.*}} : tensor<4096x2048xf32>
// CHECK: %[[SUM:.*]] = weft.dot_general %{{.*}} -> tensor<4096x1024xf32>
// CHECK-NEXT: dist.reduce_scatter sum %[[SUM]]
// CHECK-NOT: dist.
// CHECK: return
dist.mesh @mesh <["model"=2]>
weft.weight @up : tensor<1024x4096xf32> = #weft.external<"f", 0, 16777216>
weft.weight @down : tensor<4096x1024xf32> = #weft.external<"f", 0, 16777216>
func.func @main(%x: tensor<4096x1024xf32> {weft.name = "x"}) -> (tensor<4096x1024xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<1024x4096xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  %1 = weft.gelu erf %0 : tensor<4096x4096xf32>
  %down = weft.load @down : tensor<4096x1024xf32>
  %2 = weft.dot_general %1, %down batch [] x [] contract [1] x [0] : (tensor<4096x4096xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}

// -----

// The batch alone, where an axis takes it.

// CHECK-LABEL: func.func @main(%arg0: tensor<32x1024xf32>
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh <["data"=2]>
weft.weight @up : tensor<1024x4096xf32> = #weft.external<"f", 0, 16777216>
func.func @main(%x: tensor<64x1024xf32> {weft.name = "x"}) -> (tensor<64x4096xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<1024x4096xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<64x1024xf32>, tensor<1024x4096xf32>) -> tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}

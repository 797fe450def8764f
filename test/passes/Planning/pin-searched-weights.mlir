// RUN: weft-opt %s -split-input-file -verify-diagnostics --weft-choose-shardings=cluster=dgx-h100 --weft-propagate-shardings --weft-partition | FileCheck %s

// Columns would need no sum; but what reads a weight reads it as it is pinned.

// CHECK-LABEL: func.func @main
// CHECK: dist.load_shard @up {{.*}}tensor<32x256xf32>
// CHECK: weft.dot_general %{{.*}} -> tensor<8x256xf32>
// CHECK: dist.{{all_reduce|reduce_scatter}}
dist.mesh @mesh <["model"=2]>
weft.weight @up : tensor<64x256xf32> = #weft.external<"f", 0, 65536> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
func.func @main(%x: tensor<8x64xf32> {weft.name = "x"}) -> (tensor<8x256xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<64x256xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  return %0 : tensor<8x256xf32>
}

// -----

// Through a view of the weight, and by an axis that would not take a weight of itself.

// CHECK-LABEL: func.func @main
// CHECK: dist.load_shard @up {{.*}}tensor<64x128xf32>
// CHECK: weft.dot_general %{{.*}} -> tensor<8x128xf32>
dist.mesh @mesh <["data"=2]>
weft.weight @up : tensor<256x64xf32> = #weft.external<"f", 0, 65536> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>}
func.func @main(%x: tensor<8x64xf32> {weft.name = "x"}) -> (tensor<8x256xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<256x64xf32>
  %t = weft.transpose %up [1, 0] : tensor<256x64xf32> -> tensor<64x256xf32>
  %0 = weft.dot_general %x, %t batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  return %0 : tensor<8x256xf32>
}

// -----

// Two weights of which one operation can read only one as it is pinned: the other is joined first,
// where that takes least. What is pinned is held as it is pinned.

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = dist.load_shard @a {{.*}}tensor<4x64xf32>
// CHECK: %[[WHOLE:.*]] = dist.all_gather %[[A]] dim 0 axes ["model"] on @mesh : tensor<4x64xf32> -> tensor<8x64xf32>
// CHECK: %[[B:.*]] = dist.load_shard @b {{.*}}tensor<64x128xf32>
// CHECK: weft.dot_general %[[WHOLE]], %[[B]] {{.*}} -> tensor<8x128xf32>

dist.mesh @mesh <["model"=2]>
weft.weight @a : tensor<8x64xf32> = #weft.external<"f", 0, 2048> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
weft.weight @b : tensor<64x256xf32> = #weft.external<"f", 0, 65536> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
func.func @main(%x: tensor<8x256xf32> {weft.name = "x"}) -> (tensor<8x256xf32> {weft.name = "y"}) {
  %a = weft.load @a : tensor<8x64xf32>
  %b = weft.load @b : tensor<64x256xf32>
  %0 = weft.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32> loc("product")
  %1 = weft.add %0, %x : tensor<8x256xf32>
  return %1 : tensor<8x256xf32>
}

// -----

// What is pinned is held so, and split no further; whole, too.

// CHECK-LABEL: func.func @main
// CHECK: dist.load_shard @kept {{.*}}tensor<64x256xf32>
// CHECK: dist.load_shard @cut {{.*}}tensor<256x32xf32>
dist.mesh @mesh <["x"=2, "y"=2]>
weft.weight @kept : tensor<64x256xf32> = #weft.external<"f", 0, 65536> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
weft.weight @cut : tensor<256x64xf32> = #weft.external<"f", 0, 65536> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>}
func.func @main(%x: tensor<8x64xf32> {weft.name = "x"}) -> (tensor<8x64xf32> {weft.name = "y"}) {
  %kept = weft.load @kept : tensor<64x256xf32>
  %0 = weft.dot_general %x, %kept batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %cut = weft.load @cut : tensor<256x64xf32>
  %1 = weft.dot_general %0, %cut batch [] x [] contract [1] x [0] : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// -----

// Of what lies side by side in a weight each part is split like the whole.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: dist.load_shard @both {{.*}}tensor<64x32xf32>
dist.mesh @mesh <["model"=2]>
weft.weight @both : tensor<64x128xf32> = #weft.external<"f", 0, 32768> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
func.func @main(%x: tensor<8x64xf32> {weft.name = "x"}) -> (tensor<8x64xf32> {weft.name = "y"}) {
  %both = weft.load @both : tensor<64x128xf32>
  %a = weft.slice %both starts [0, 0] strides [1, 1] : tensor<64x128xf32> to tensor<64x64xf32>
  %b = weft.slice %both starts [0, 64] strides [1, 1] : tensor<64x128xf32> to tensor<64x64xf32>
  %0 = weft.dot_general %x, %a batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = weft.dot_general %x, %b batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = weft.mul %0, %1 : tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// -----

// Of what a reshape takes apart, too.

// CHECK-LABEL: func.func @main
// CHECK: dist.load_shard @three {{.*}}tensor<64x3x16xf32>
dist.mesh @mesh <["model"=2]>
weft.weight @three : tensor<64x96xf32> = #weft.external<"f", 0, 24576> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
func.func @main(%x: tensor<8x64xf32> {weft.name = "x"}) -> (tensor<8x3x32xf32> {weft.name = "y"}) {
  %three = weft.load @three : tensor<64x96xf32>
  %parts = weft.reshape %three : tensor<64x96xf32> to tensor<64x3x32xf32>
  %0 = weft.dot_general %x, %parts batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x3x32xf32>) -> tensor<8x3x32xf32>
  return %0 : tensor<8x3x32xf32>
}

// -----

// A view that has no dimension split as the weight is pinned: nothing would say how it is held.

dist.mesh @mesh <["model"=2]>
weft.weight @three : tensor<64x93xf32> = #weft.external<"f", 0, 23808> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
func.func @main(%x: tensor<8x64xf32> {weft.name = "x"}) -> (tensor<8x3x31xf32> {weft.name = "y"}) {
  %three = weft.load @three : tensor<64x93xf32>
  // expected-error @unknown {{expected a split of 'parts' that reads what is pinned as it is pinned, got none}}
  %parts = weft.reshape %three : tensor<64x93xf32> to tensor<64x3x31xf32> loc("parts")
  %0 = weft.dot_general %x, %parts batch [] x [] contract [1] x [0] : (tensor<8x64xf32>, tensor<64x3x31xf32>) -> tensor<8x3x31xf32>
  return %0 : tensor<8x3x31xf32>
}

// RUN: weft-opt %s -split-input-file --weft-choose-shardings=cluster=%S/Inputs/ratios.txtpb --weft-propagate-shardings --weft-partition --cse | FileCheck %s

// A transformer's block: heads, columns then rows, and one sum each for attention and the two products. A sum, what is
// added to it and the norm take less where the sequence is split between a reduce-scatter and an all-gather.

// CHECK-LABEL: func.func @main(%arg0: tensor<1x64x256xf32>
// CHECK: %[[NORM:.*]] = weft.rms_norm %arg0
// CHECK-COUNT-3: weft.dot_general %[[NORM]], {{.*}} -> tensor<1x64x2x64xf32>
// CHECK: weft.attention {{.*}} -> tensor<1x2x64x64xf32>
// CHECK: weft.dot_general {{.*}} (tensor<1x64x128xf32>, tensor<128x256xf32>)
// CHECK: %[[SUM:.*]] = dist.reduce_scatter sum {{.*}} dim 1 {{.*}} -> tensor<1x32x256xf32>
// CHECK: %[[ADDED:.*]] = weft.add {{.*}}, %[[SUM]]
// CHECK: %[[PART:.*]] = weft.rms_norm %[[ADDED]] {{.*}} : tensor<1x32x256xf32>
// CHECK-NEXT: dist.all_gather %[[PART]] dim 1
// CHECK: weft.dot_general {{.*}} -> tensor<1x64x512xf32>
// CHECK: weft.gelu tanh {{.*}} : tensor<1x64x512xf32>
// CHECK: %[[LAST:.*]] = weft.dot_general {{.*}} (tensor<1x64x512xf32>, tensor<512x256xf32>)
// CHECK-NEXT: dist.reduce_scatter sum %[[LAST]] dim 1
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh <["model"=2]>
weft.weight @n1 : tensor<256xf32> = #weft.external<"f", 0, 1024>
weft.weight @q : tensor<256x4x64xf32> = #weft.external<"f", 1024, 262144>
weft.weight @k : tensor<256x4x64xf32> = #weft.external<"f", 263168, 262144>
weft.weight @v : tensor<256x4x64xf32> = #weft.external<"f", 525312, 262144>
weft.weight @o : tensor<256x256xf32> = #weft.external<"f", 787456, 262144>
weft.weight @n2 : tensor<256xf32> = #weft.external<"f", 1049600, 1024>
weft.weight @up : tensor<256x1024xf32> = #weft.external<"f", 1050624, 1048576>
weft.weight @down : tensor<1024x256xf32> = #weft.external<"f", 2099200, 1048576>
func.func @main(%x: tensor<1x64x256xf32> {weft.name = "x"}) -> (tensor<1x64x256xf32> {weft.name = "y"}) {
  %n1 = weft.load @n1 : tensor<256xf32>
  %q = weft.load @q : tensor<256x4x64xf32>
  %k = weft.load @k : tensor<256x4x64xf32>
  %v = weft.load @v : tensor<256x4x64xf32>
  %o = weft.load @o : tensor<256x256xf32>
  %n2 = weft.load @n2 : tensor<256xf32>
  %up = weft.load @up : tensor<256x1024xf32>
  %down = weft.load @down : tensor<1024x256xf32>
  %0 = weft.rms_norm %x scale %n1 : tensor<256xf32> axis 2 epsilon 1.0e-05 : tensor<1x64x256xf32>
  %q0 = weft.dot_general %0, %q batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x4x64xf32>) -> tensor<1x64x4x64xf32>
  %q1 = weft.transpose %q0 [0, 2, 1, 3] : tensor<1x64x4x64xf32> -> tensor<1x4x64x64xf32>
  %k0 = weft.dot_general %0, %k batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x4x64xf32>) -> tensor<1x64x4x64xf32>
  %k1 = weft.transpose %k0 [0, 2, 1, 3] : tensor<1x64x4x64xf32> -> tensor<1x4x64x64xf32>
  %v0 = weft.dot_general %0, %v batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x4x64xf32>) -> tensor<1x64x4x64xf32>
  %v1 = weft.transpose %v0 [0, 2, 1, 3] : tensor<1x64x4x64xf32> -> tensor<1x4x64x64xf32>
  %1 = weft.attention %q1, %k1, %v1 scale 0.125 causal masked_rows nan : (tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32>) -> tensor<1x4x64x64xf32>
  %2 = weft.transpose %1 [0, 2, 1, 3] : tensor<1x4x64x64xf32> -> tensor<1x64x4x64xf32>
  %3 = weft.reshape %2 : tensor<1x64x4x64xf32> to tensor<1x64x256xf32>
  %4 = weft.dot_general %3, %o batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x256xf32>) -> tensor<1x64x256xf32>
  %5 = weft.add %x, %4 : tensor<1x64x256xf32>
  %6 = weft.rms_norm %5 scale %n2 : tensor<256xf32> axis 2 epsilon 1.0e-05 : tensor<1x64x256xf32>
  %7 = weft.dot_general %6, %up batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x1024xf32>) -> tensor<1x64x1024xf32>
  %8 = weft.gelu tanh %7 : tensor<1x64x1024xf32>
  %9 = weft.dot_general %8, %down batch [] x [] contract [2] x [0] : (tensor<1x64x1024xf32>, tensor<1024x256xf32>) -> tensor<1x64x256xf32>
  %10 = weft.add %5, %9 : tensor<1x64x256xf32>
  return %10 : tensor<1x64x256xf32>
}

// -----

// One step of a decoder: weights are as large as ever and activations next to nothing, so that all weights are split, and the
// activations of one token are moved as often as that takes.

// CHECK-LABEL: func.func @main(%arg0: tensor<1x1x256xf32>
// CHECK-COUNT-3: dist.load_shard @{{[qkv] }}{{.*}} : tensor<256x2x64xf32>
// CHECK: dist.load_shard @o {{.*}} : tensor<{{128x256|256x128}}xf32>
// CHECK: dist.load_shard @up {{.*}} : tensor<256x512xf32>
// CHECK: dist.load_shard @down {{.*}} : tensor<512x256xf32>
// CHECK-NOT: dist.load_shard @{{[qkvoud]}}
// CHECK: return
dist.mesh @mesh <["model"=2]>
weft.weight @n1 : tensor<256xf32> = #weft.external<"f", 0, 1024>
weft.weight @q : tensor<256x4x64xf32> = #weft.external<"f", 1024, 262144>
weft.weight @k : tensor<256x4x64xf32> = #weft.external<"f", 263168, 262144>
weft.weight @v : tensor<256x4x64xf32> = #weft.external<"f", 525312, 262144>
weft.weight @o : tensor<256x256xf32> = #weft.external<"f", 787456, 262144>
weft.weight @n2 : tensor<256xf32> = #weft.external<"f", 1049600, 1024>
weft.weight @up : tensor<256x1024xf32> = #weft.external<"f", 1050624, 1048576>
weft.weight @down : tensor<1024x256xf32> = #weft.external<"f", 2099200, 1048576>
func.func @main(%x: tensor<1x1x256xf32> {weft.name = "x"}) -> (tensor<1x1x256xf32> {weft.name = "y"}) {
  %n1 = weft.load @n1 : tensor<256xf32>
  %q = weft.load @q : tensor<256x4x64xf32>
  %k = weft.load @k : tensor<256x4x64xf32>
  %v = weft.load @v : tensor<256x4x64xf32>
  %o = weft.load @o : tensor<256x256xf32>
  %n2 = weft.load @n2 : tensor<256xf32>
  %up = weft.load @up : tensor<256x1024xf32>
  %down = weft.load @down : tensor<1024x256xf32>
  %0 = weft.rms_norm %x scale %n1 : tensor<256xf32> axis 2 epsilon 1.0e-05 : tensor<1x1x256xf32>
  %q0 = weft.dot_general %0, %q batch [] x [] contract [2] x [0] : (tensor<1x1x256xf32>, tensor<256x4x64xf32>) -> tensor<1x1x4x64xf32>
  %q1 = weft.transpose %q0 [0, 2, 1, 3] : tensor<1x1x4x64xf32> -> tensor<1x4x1x64xf32>
  %k0 = weft.dot_general %0, %k batch [] x [] contract [2] x [0] : (tensor<1x1x256xf32>, tensor<256x4x64xf32>) -> tensor<1x1x4x64xf32>
  %k1 = weft.transpose %k0 [0, 2, 1, 3] : tensor<1x1x4x64xf32> -> tensor<1x4x1x64xf32>
  %v0 = weft.dot_general %0, %v batch [] x [] contract [2] x [0] : (tensor<1x1x256xf32>, tensor<256x4x64xf32>) -> tensor<1x1x4x64xf32>
  %v1 = weft.transpose %v0 [0, 2, 1, 3] : tensor<1x1x4x64xf32> -> tensor<1x4x1x64xf32>
  %1 = weft.attention %q1, %k1, %v1 scale 0.125 causal masked_rows nan : (tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x1x64xf32>
  %2 = weft.transpose %1 [0, 2, 1, 3] : tensor<1x4x1x64xf32> -> tensor<1x1x4x64xf32>
  %3 = weft.reshape %2 : tensor<1x1x4x64xf32> to tensor<1x1x256xf32>
  %4 = weft.dot_general %3, %o batch [] x [] contract [2] x [0] : (tensor<1x1x256xf32>, tensor<256x256xf32>) -> tensor<1x1x256xf32>
  %5 = weft.add %x, %4 : tensor<1x1x256xf32>
  %6 = weft.rms_norm %5 scale %n2 : tensor<256xf32> axis 2 epsilon 1.0e-05 : tensor<1x1x256xf32>
  %7 = weft.dot_general %6, %up batch [] x [] contract [2] x [0] : (tensor<1x1x256xf32>, tensor<256x1024xf32>) -> tensor<1x1x1024xf32>
  %8 = weft.gelu tanh %7 : tensor<1x1x1024xf32>
  %9 = weft.dot_general %8, %down batch [] x [] contract [2] x [0] : (tensor<1x1x1024xf32>, tensor<1024x256xf32>) -> tensor<1x1x256xf32>
  %10 = weft.add %5, %9 : tensor<1x1x256xf32>
  return %10 : tensor<1x1x256xf32>
}

// RUN: weft-opt %s --weft-choose-shardings=cluster=%S/Inputs/ratios.txtpb --weft-propagate-shardings --weft-partition | FileCheck %s

// A pin of one weight refines what is searched: all others are split on the same axis as they would be.

// CHECK-LABEL: func.func @main
// CHECK: dist.load_shard @up0 {{.*}}tensor<128x1024xf32>
// CHECK: dist.reduce_scatter sum {{.*}} -> tensor<1x64x512xf32>
// CHECK: dist.load_shard @down0 {{.*}}tensor<512x256xf32>
// CHECK: dist.all_reduce
// CHECK: dist.load_shard @up1 {{.*}}tensor<256x512xf32>
// CHECK: dist.load_shard @down1 {{.*}}tensor<512x256xf32>
// CHECK: dist.reduce_scatter sum
dist.mesh @mesh <["model"=2]>
weft.weight @up0 : tensor<256x1024xf32> = #weft.external<"f", 0, 1048576> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
weft.weight @down0 : tensor<1024x256xf32> = #weft.external<"f", 0, 1048576>
weft.weight @up1 : tensor<256x1024xf32> = #weft.external<"f", 0, 1048576>
weft.weight @down1 : tensor<1024x256xf32> = #weft.external<"f", 0, 1048576>
func.func @main(%x: tensor<1x64x256xf32> {weft.name = "x"}) -> (tensor<1x64x256xf32> {weft.name = "y"}) {
  %up0 = weft.load @up0 : tensor<256x1024xf32>
  %0 = weft.dot_general %x, %up0 batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x1024xf32>) -> tensor<1x64x1024xf32>
  %1 = weft.gelu erf %0 : tensor<1x64x1024xf32>
  %down0 = weft.load @down0 : tensor<1024x256xf32>
  %2 = weft.dot_general %1, %down0 batch [] x [] contract [2] x [0] : (tensor<1x64x1024xf32>, tensor<1024x256xf32>) -> tensor<1x64x256xf32>
  %up1 = weft.load @up1 : tensor<256x1024xf32>
  %3 = weft.dot_general %2, %up1 batch [] x [] contract [2] x [0] : (tensor<1x64x256xf32>, tensor<256x1024xf32>) -> tensor<1x64x1024xf32>
  %4 = weft.gelu erf %3 : tensor<1x64x1024xf32>
  %down1 = weft.load @down1 : tensor<1024x256xf32>
  %5 = weft.dot_general %4, %down1 batch [] x [] contract [2] x [0] : (tensor<1x64x1024xf32>, tensor<1024x256xf32>) -> tensor<1x64x256xf32>
  return %5 : tensor<1x64x256xf32>
}

// RUN: weft-opt %s --split-input-file --weft-propagate-shardings --weft-partition --canonicalize --cse | FileCheck %s

// Queries, keys and values fused as (3, h, d): each is a strided view of the weight, split by heads. One all_reduce.
dist.mesh @mesh <["model"=2]>
weft.weight @qkv : tensor<64x192xf32> = #weft.external<"w.data", 0, 49152>
weft.weight @out : tensor<64x64xf32> = #weft.external<"w.data", 49152, 16384>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8x64xf32> {weft.name = "x"}) -> (tensor<2x8x64xf32> {weft.name = "y"}) {
  // CHECK-DAG: dist.load_shard @qkv start 0 shape [64, 4, 16] strides [192, 16, 1] sharding <@mesh, [{}, {"model"}, {}]> : tensor<64x2x16xf32>
  // CHECK-DAG: dist.load_shard @qkv start 64 shape [64, 4, 16] strides [192, 16, 1] sharding <@mesh, [{}, {"model"}, {}]> : tensor<64x2x16xf32>
  // CHECK-DAG: dist.load_shard @qkv start 128 shape [64, 4, 16] strides [192, 16, 1] sharding <@mesh, [{}, {"model"}, {}]> : tensor<64x2x16xf32>
  // CHECK: weft.attention {{.*}} -> tensor<2x2x8x16xf32>
  // CHECK: dist.load_shard @out start 0 shape [4, 16, 64] strides [1024, 64, 1] sharding <@mesh, [{"model"}, {}, {}]> : tensor<2x16x64xf32>
  // CHECK: %[[P:.*]] = weft.dot_general
  // CHECK: %[[Y:.*]] = dist.all_reduce sum %[[P]] axes ["model"] on @mesh : tensor<2x8x64xf32>
  // CHECK-NOT: dist.
  // CHECK: return %[[Y]]
  %qkv = weft.load @qkv : tensor<64x192xf32>
  %parts = weft.reshape %qkv : tensor<64x192xf32> to tensor<64x3x4x16xf32>
  %wq4 = weft.slice %parts starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<64x3x4x16xf32> to tensor<64x1x4x16xf32>
  %wk4 = weft.slice %parts starts [0, 1, 0, 0] strides [1, 1, 1, 1] : tensor<64x3x4x16xf32> to tensor<64x1x4x16xf32>
  %wv4 = weft.slice %parts starts [0, 2, 0, 0] strides [1, 1, 1, 1] : tensor<64x3x4x16xf32> to tensor<64x1x4x16xf32>
  %wq = weft.reshape %wq4 : tensor<64x1x4x16xf32> to tensor<64x4x16xf32>
  %wk = weft.reshape %wk4 : tensor<64x1x4x16xf32> to tensor<64x4x16xf32>
  %wv = weft.reshape %wv4 : tensor<64x1x4x16xf32> to tensor<64x4x16xf32>
  %q0 = weft.dot_general %x, %wq batch [] x [] contract [2] x [0] : (tensor<2x8x64xf32>, tensor<64x4x16xf32>) -> tensor<2x8x4x16xf32>
  %k0 = weft.dot_general %x, %wk batch [] x [] contract [2] x [0] : (tensor<2x8x64xf32>, tensor<64x4x16xf32>) -> tensor<2x8x4x16xf32>
  %v0 = weft.dot_general %x, %wv batch [] x [] contract [2] x [0] : (tensor<2x8x64xf32>, tensor<64x4x16xf32>) -> tensor<2x8x4x16xf32>
  %q = weft.transpose %q0 [0, 2, 1, 3] : tensor<2x8x4x16xf32> -> tensor<2x4x8x16xf32>
  %k = weft.transpose %k0 [0, 2, 1, 3] : tensor<2x8x4x16xf32> -> tensor<2x4x8x16xf32>
  %v = weft.transpose %v0 [0, 2, 1, 3] : tensor<2x8x4x16xf32> -> tensor<2x4x8x16xf32>
  %a = weft.attention %q, %k, %v scale 0.25 causal masked_rows nan {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}, {}, {}]>} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  %t = weft.transpose %a [0, 2, 1, 3] : tensor<2x4x8x16xf32> -> tensor<2x8x4x16xf32>
  %o = weft.load @out : tensor<64x64xf32>
  %oh = weft.reshape %o : tensor<64x64xf32> to tensor<4x16x64xf32>
  %y = weft.dot_general %t, %oh batch [] x [] contract [2, 3] x [0, 1] : (tensor<2x8x4x16xf32>, tensor<4x16x64xf32>) -> tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}

// -----

// Two key/value heads on four devices: sub-axes split them in two, replicated within each half.
dist.mesh @mesh <["model"=4]>
weft.weight @q : tensor<64x128xf32> = #weft.external<"w.data", 0, 32768>
weft.weight @k : tensor<64x32xf32> = #weft.external<"w.data", 32768, 8192>
weft.weight @v : tensor<64x32xf32> = #weft.external<"w.data", 40960, 8192>
weft.weight @out : tensor<128x64xf32> = #weft.external<"w.data", 49152, 32768>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8x64xf32> {weft.name = "x"}) -> (tensor<2x8x64xf32> {weft.name = "y"}) {
  // CHECK-DAG: dist.load_shard @q start 0 shape [64, 8, 16] strides [128, 16, 1] sharding <@mesh, [{}, {"model"}, {}]> : tensor<64x2x16xf32>
  // CHECK-DAG: dist.load_shard @k start 0 shape [64, 2, 16] strides [32, 16, 1] sharding <@mesh, [{}, {"model":(1)2}, {}]> : tensor<64x1x16xf32>
  // CHECK-DAG: dist.load_shard @v start 0 shape [64, 2, 16] strides [32, 16, 1] sharding <@mesh, [{}, {"model":(1)2}, {}]> : tensor<64x1x16xf32>
  // CHECK: weft.attention {{.*}} : (tensor<2x2x8x16xf32>, tensor<2x1x8x16xf32>, tensor<2x1x8x16xf32>) -> tensor<2x2x8x16xf32>
  // CHECK: %[[P:.*]] = weft.dot_general
  // CHECK: %[[Y:.*]] = dist.all_reduce sum %[[P]] axes ["model"] on @mesh : tensor<2x8x64xf32>
  // CHECK-NOT: dist.
  // CHECK: return %[[Y]]
  %q0 = weft.load @q : tensor<64x128xf32>
  %k0 = weft.load @k : tensor<64x32xf32>
  %v0 = weft.load @v : tensor<64x32xf32>
  %wq = weft.reshape %q0 : tensor<64x128xf32> to tensor<64x8x16xf32>
  %wk = weft.reshape %k0 : tensor<64x32xf32> to tensor<64x2x16xf32>
  %wv = weft.reshape %v0 : tensor<64x32xf32> to tensor<64x2x16xf32>
  %q1 = weft.dot_general %x, %wq batch [] x [] contract [2] x [0] : (tensor<2x8x64xf32>, tensor<64x8x16xf32>) -> tensor<2x8x8x16xf32>
  %k1 = weft.dot_general %x, %wk batch [] x [] contract [2] x [0] : (tensor<2x8x64xf32>, tensor<64x2x16xf32>) -> tensor<2x8x2x16xf32>
  %v1 = weft.dot_general %x, %wv batch [] x [] contract [2] x [0] : (tensor<2x8x64xf32>, tensor<64x2x16xf32>) -> tensor<2x8x2x16xf32>
  %q = weft.transpose %q1 [0, 2, 1, 3] : tensor<2x8x8x16xf32> -> tensor<2x8x8x16xf32>
  %k = weft.transpose %k1 [0, 2, 1, 3] : tensor<2x8x2x16xf32> -> tensor<2x2x8x16xf32>
  %v = weft.transpose %v1 [0, 2, 1, 3] : tensor<2x8x2x16xf32> -> tensor<2x2x8x16xf32>
  %a = weft.attention %q, %k, %v scale 0.25 causal masked_rows nan {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}, {}, {}]>} : (tensor<2x8x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> tensor<2x8x8x16xf32>
  %t = weft.transpose %a [0, 2, 1, 3] : tensor<2x8x8x16xf32> -> tensor<2x8x8x16xf32>
  %o = weft.load @out : tensor<128x64xf32>
  %oh = weft.reshape %o : tensor<128x64xf32> to tensor<8x16x64xf32>
  %y = weft.dot_general %t, %oh batch [] x [] contract [2, 3] x [0, 1] : (tensor<2x8x8x16xf32>, tensor<8x16x64xf32>) -> tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}

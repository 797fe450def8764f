// RUN: weft-opt %s --weft-advance-reductions | FileCheck %s

dist.mesh @mesh <["data"=2, "model"=2]>
// Gradients are joined where they are made, behind each other; what axes of a model join stays.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<8x7xf32>) -> (tensor<8x7xf32>, tensor<8x4xf32>, tensor<8x7xf32>) {
  // CHECK: %[[ZERO:.*]] = weft.constant
  %zero = weft.constant dense<0.0> : tensor<f32>
  // CHECK: %[[A:.*]] = weft.exp
  // CHECK-NEXT: %[[SUM:.*]] = dist.accumulate %[[A]]
  // CHECK-NEXT: dist.all_reduce sum %[[SUM]] axes ["data"]
  %a = weft.exp %x : tensor<8x7xf32>
  // CHECK-NEXT: %[[B:.*]] = weft.tanh
  // CHECK-NEXT: %[[PADDED:.*]] = weft.pad %[[B]]
  // CHECK-NEXT: dist.reduce_scatter sum %[[PADDED]]
  %b = weft.tanh %x : tensor<8x7xf32>
  // CHECK-NEXT: %[[C:.*]] = weft.sqrt
  %c = weft.sqrt %x : tensor<8x7xf32>
  // CHECK-NEXT: weft.neg %[[C]]
  // CHECK-NEXT: dist.all_reduce sum %[[C]] axes ["model"]
  %d = weft.neg %c : tensor<8x7xf32>
  %s = dist.accumulate %a : tensor<8x7xf32> to tensor<8x7xf32>
  %0 = dist.all_reduce sum %s axes ["data"] on @mesh : tensor<8x7xf32>
  %p = weft.pad %b, %zero low [0, 0] high [0, 1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8x8xf32>
  %1 = dist.reduce_scatter sum %p dim 1 axes ["data"] on @mesh : tensor<8x8xf32> -> tensor<8x4xf32>
  %2 = dist.all_reduce sum %c axes ["model"] on @mesh : tensor<8x7xf32>
  return %0, %1, %2 : tensor<8x7xf32>, tensor<8x4xf32>, tensor<8x7xf32>
}

// Small blocks are gathered where they are made, with the arithmetic on them, so that they may be sent together; large ones, and
// weights, where they are read.
// CHECK-LABEL: func.func @gathers(
weft.weight @w : tensor<4x8xf32> = #weft.external<"w.bin", 0, 128>
func.func @gathers(%x: tensor<4x4xf32>, %y: tensor<64x128xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<64x256xf32>, tensor<4x8xf32>) {
  // CHECK: %[[ONE:.*]] = weft.constant
  %one = weft.constant dense<1.0> : tensor<4x4xf32>
  // CHECK-NEXT: %[[W:.*]] = dist.load_shard @w
  %w = dist.load_shard @w start 0 shape [4, 8] strides [8, 1] sharding <@mesh, [{}, {"model"}]> : tensor<4x4xf32>
  // CHECK-NEXT: %[[A:.*]] = weft.exp
  // CHECK-NEXT: dist.all_gather %[[A]] dim 1
  %a = weft.exp %x : tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = weft.tanh
  // CHECK-NEXT: %[[C:.*]] = weft.add %[[B]], %[[ONE]]
  // CHECK-NEXT: dist.all_gather %[[C]] dim 1
  %b = weft.tanh %x : tensor<4x4xf32>
  // CHECK-NEXT: %[[D:.*]] = weft.sqrt
  %d = weft.sqrt %y : tensor<64x128xf32>
  // CHECK-NEXT: weft.neg %[[D]]
  // CHECK-NEXT: dist.all_gather %[[D]] dim 1
  // CHECK-NEXT: dist.all_gather %[[W]] dim 1
  %n = weft.neg %d : tensor<64x128xf32>
  %0 = dist.all_gather %a dim 1 axes ["model"] on @mesh : tensor<4x4xf32> -> tensor<4x8xf32>
  %c = weft.add %b, %one : tensor<4x4xf32>
  %1 = dist.all_gather %c dim 1 axes ["model"] on @mesh : tensor<4x4xf32> -> tensor<4x8xf32>
  %2 = dist.all_gather %d dim 1 axes ["model"] on @mesh : tensor<64x128xf32> -> tensor<64x256xf32>
  %3 = dist.all_gather %w dim 1 axes ["model"] on @mesh : tensor<4x4xf32> -> tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<64x256xf32>, tensor<4x8xf32>
}

// What a reduce-scatter reads need not wait for its first use, whatever axes join it: devices keep the smaller part alone.
// CHECK-LABEL: func.func @scatters(
func.func @scatters(%x: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = weft.exp
  // CHECK-NEXT: dist.reduce_scatter sum %[[A]] dim 0 axes ["model"]
  // CHECK-NEXT: %[[B:.*]] = weft.tanh
  // CHECK-NEXT: dist.reduce_scatter sum %[[B]] dim 0 axes ["model", "data"]
  // CHECK-NEXT: %[[C:.*]] = weft.sqrt
  // CHECK-NEXT: dist.all_reduce sum %[[C]] axes ["data", "model"]
  // CHECK-NEXT: weft.neg
  %a = weft.exp %x : tensor<8x8xf32>
  %b = weft.tanh %x : tensor<8x8xf32>
  %c = weft.sqrt %x : tensor<8x8xf32>
  %d = weft.neg %c : tensor<8x8xf32>
  %0 = dist.reduce_scatter sum %a dim 0 axes ["model"] on @mesh : tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = dist.reduce_scatter sum %b dim 0 axes ["model", "data"] on @mesh : tensor<8x8xf32> -> tensor<2x8xf32>
  %2 = dist.all_reduce sum %c axes ["data", "model"] on @mesh : tensor<8x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>
}

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

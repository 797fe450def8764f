// RUN: weft-opt --weft-split-constants %s | FileCheck %s

weft.weight @w : tensor<4xf32> = #weft.external<"w", 0, 16>

// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: weft.load @w
// CHECK-NOT: weft.load
// CHECK-COUNT-2: weft.constant
// CHECK-COUNT-2: weft.broadcast
func.func @main(%x: tensor<2x4xf32>, %v: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %w = weft.load @w : tensor<4xf32>
  %0 = weft.mul %v, %w : tensor<4xf32>
  %1 = weft.add %w, %w : tensor<4xf32>
  %c = weft.constant dense<2.0> : tensor<f32>
  %b = weft.broadcast %c dims [] : tensor<f32> to tensor<2x4xf32>
  %2 = weft.mul %x, %b : tensor<2x4xf32>
  %3 = weft.add %2, %b : tensor<2x4xf32>
  return %2, %3, %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A scalar that is computed is one value, but what it is repeated over are several.
// CHECK-LABEL: func.func @scalar
// CHECK: weft.exp
// CHECK-COUNT-2: weft.broadcast
func.func @scalar(%x: tensor<2x4xf32>, %s: tensor<f32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = weft.exp %s : tensor<f32>
  %b = weft.broadcast %0 dims [] : tensor<f32> to tensor<2x4xf32>
  %1 = weft.mul %x, %b : tensor<2x4xf32>
  %2 = weft.add %1, %b : tensor<2x4xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// The forward and the backward pass each look at a weight, and may each load it.
// CHECK-LABEL: func.func @views
// CHECK-COUNT-2: weft.load @w
// CHECK-COUNT-2: weft.slice
func.func @views(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %w = weft.load @w : tensor<4xf32>
  %v = weft.slice %w starts [2] strides [1] : tensor<4xf32> to tensor<2xf32>
  %0 = weft.mul %x, %v : tensor<2xf32>
  %1 = weft.add %0, %v : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

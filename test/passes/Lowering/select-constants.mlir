// Constants become weights with names of their own, also where another part's program had the first of them.

// RUN: weft-opt --weft-select-instructions %s | FileCheck %s

// CHECK: exec.weight constant @constant_0 f32 [2, 2]
// CHECK: exec.weight constant @constant_1 f32 [2, 2]
// CHECK: exec.weight constant @constant_2 f32 [2, 2]
// CHECK: exec.weight constant @constant_3 f32 [2, 2]
// CHECK-NOT: exec.weight

dist.mesh @a <["x"=1]>
dist.mesh @b <["x"=1], first_device = 1>
func.func @first(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) attributes {dist.mesh = @a} {
  %0 = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %1 = weft.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %2 = weft.dot_general %x, %0 batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = weft.dot_general %x, %1 batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2, %3 : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @second(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) attributes {dist.mesh = @b} {
  %0 = weft.constant dense<[[1.5, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %1 = weft.constant dense<[[5.5, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %2 = weft.dot_general %x, %0 batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = weft.dot_general %x, %1 batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2, %3 : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0:2 = call @first(%x) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %1:2 = call @second(%y) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

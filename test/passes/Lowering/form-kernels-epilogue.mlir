// RUN: weft-opt %s --split-input-file --weft-form-kernels | FileCheck %s

// Biases, a sum and what is cut off follow the later of two convolutions, in its memory, which is the kernel's result: it is made
// right before. The other is an operand like any.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = weft.conv {{.*}}exec.strides = array<i64: 512, 1, 32>
// CHECK: %[[T:.*]] = call @[[TANH:.*]](%{{.*}}) : (tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
// CHECK: %[[L:.*]] = weft.conv {{.*}}exec.strides = array<i64: 512, 1, 32>
// CHECK-NEXT: %[[R:.*]] = call @[[SUM:.*]](%[[A]], %{{.*}}, %[[L]], %[[T]]) {exec.epilogue = 2 : i64}
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x32x16xf32>, %y: tensor<2x16x32xf32>, %b: tensor<32xf32>, %k: tensor<32x32x3xf32>) -> tensor<2x16x32xf32> {
  %1 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x32x16xf32>, tensor<32x32x3xf32>) -> tensor<2x32x16xf32>
  %2 = weft.conv %x, %k strides [1] low [2] high [2] dilations [2] groups 1 : (tensor<2x32x16xf32>, tensor<32x32x3xf32>) -> tensor<2x32x16xf32>
  %3 = weft.tanh %y : tensor<2x16x32xf32>
  %4 = weft.softmax %3 axis 2 : tensor<2x16x32xf32>
  %5 = weft.transpose %1 [0, 2, 1] : tensor<2x32x16xf32> -> tensor<2x16x32xf32>
  %6 = weft.transpose %2 [0, 2, 1] : tensor<2x32x16xf32> -> tensor<2x16x32xf32>
  %wide = weft.broadcast %b dims [2] : tensor<32xf32> to tensor<2x16x32xf32>
  %7 = weft.add %5, %wide : tensor<2x16x32xf32>
  %8 = weft.add %7, %6 : tensor<2x16x32xf32>
  %9 = weft.add %8, %4 : tensor<2x16x32xf32>
  %10 = weft.tanh %9 : tensor<2x16x32xf32>
  return %10 : tensor<2x16x32xf32>
}
// CHECK-DAG: func.func private @[[SUM]](%{{[^:]*}}: tensor<2x32x16xf32> {exec.strides = array<i64: 512, 1, 32>}, %{{[^:]*}}: tensor<32xf32>, %{{[^:]*}}: tensor<2x32x16xf32> {exec.in_place = 0 : i64, exec.strides = array<i64: 512, 1, 32>}, %{{[^:]*}}: tensor<2x16x32xf32>) -> tensor<2x16x32xf32>

// -----

// Whoever else reads the convolution wants it as it was.
// CHECK-LABEL: func.func @main
// CHECK-NOT: exec.epilogue
// CHECK-NOT: exec.in_place
func.func @main(%x: tensor<2x16x8xf32>, %k: tensor<16x16x3xf32>) -> (tensor<2x16x8xf32>, tensor<2x16x8xf32>) {
  %1 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %2 = weft.tanh %1 : tensor<2x16x8xf32>
  return %1, %2 : tensor<2x16x8xf32>, tensor<2x16x8xf32>
}

// -----

// So does another kernel: a later reader, as in a training step. It follows the other convolution.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = weft.conv
// CHECK-NEXT: %[[B:.*]] = call @[[TANH:.*]](%[[A]]) : (
// CHECK-NEXT: %[[C:.*]] = weft.conv %[[B]]
// CHECK-NEXT: call @[[MUL:.*]](%[[C]], %[[A]]) {exec.epilogue = 0 : i64}
// CHECK: func.func private @[[TANH]](%{{[^:]*}}: tensor<2x16x8xf32>)
// CHECK: func.func private @[[MUL]](%{{[^:]*}}: tensor<2x16x8xf32> {exec.in_place = 0 : i64}, %{{[^:]*}}: tensor<2x16x8xf32>)
func.func @main(%x: tensor<2x16x8xf32>, %k: tensor<16x16x3xf32>) -> (tensor<2x16x8xf32>, tensor<2x16x8xf32>) {
  %1 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %2 = weft.tanh %1 : tensor<2x16x8xf32>
  %3 = weft.conv %2, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %4 = weft.mul %3, %1 : tensor<2x16x8xf32>
  return %2, %4 : tensor<2x16x8xf32>, tensor<2x16x8xf32>
}

// -----

// What needs more than the element in its place, is in another order, of another type, or checks indices, does not follow.
// CHECK-LABEL: func.func @main
// CHECK-NOT: exec.epilogue
func.func @main(%x: tensor<2x16x8xf32>, %k: tensor<16x16x3xf32>, %t: tensor<64xf32>, %i: tensor<2x16x8xi64>)
    -> (tensor<2x16xf32>, tensor<2x8x16xf32>, tensor<2x16x8xf64>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) {
  %1 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %sum = weft.reduce sum %1 dims [2] : tensor<2x16x8xf32> -> tensor<2x16xf32>
  %2 = weft.conv %x, %k strides [1] low [2] high [2] dilations [2] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %turned = weft.transpose %2 [0, 2, 1] : tensor<2x16x8xf32> -> tensor<2x8x16xf32>
  %same = weft.reshape %2 : tensor<2x16x8xf32> to tensor<2x8x16xf32>
  %both = weft.add %turned, %same : tensor<2x8x16xf32>
  %3 = weft.conv %x, %k strides [1] low [3] high [3] dilations [3] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %cast = weft.cast %3 : tensor<2x16x8xf32> to tensor<2x16x8xf64>
  %4 = weft.conv %x, %k strides [1] low [4] high [4] dilations [4] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %chosen = weft.gather %t, %i axis 0 : (tensor<64xf32>, tensor<2x16x8xi64>) -> tensor<2x16x8xf32>
  %checked = weft.add %4, %chosen : tensor<2x16x8xf32>
  %5 = weft.conv %x, %k strides [1] low [5] high [5] dilations [5] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
  %back = weft.reverse %5 dims [2] : tensor<2x16x8xf32>
  %reversed = weft.tanh %back : tensor<2x16x8xf32>
  return %sum, %both, %cast, %checked, %reversed : tensor<2x16xf32>, tensor<2x8x16xf32>, tensor<2x16x8xf64>, tensor<2x16x8xf32>, tensor<2x16x8xf32>
}

// -----

// The convolution reads the state, so it stays before what changes that where it lies, and nothing follows it.
// CHECK-LABEL: func.func @main
// CHECK: weft.conv
// CHECK: weft.dot_general
// CHECK-NOT: exec.epilogue
module {
  weft.weight kind(state) @k : tensor<16x16x3xf32> = dense<0.0> : tensor<16x16x3xf32>
  func.func @main(%x: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
    %k = weft.load @k : tensor<16x16x3xf32>
    %1 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x16x8xf32>, tensor<16x16x3xf32>) -> tensor<2x16x8xf32>
    %2 = weft.tanh %k : tensor<16x16x3xf32>
    weft.store @k, %2 : tensor<16x16x3xf32>
    %3 = weft.dot_general %2, %2 batch [] x [] contract [0, 1, 2] x [0, 1, 2] : (tensor<16x16x3xf32>, tensor<16x16x3xf32>) -> tensor<f32>
    %4 = weft.broadcast %3 dims [] : tensor<f32> to tensor<2x16x8xf32>
    %5 = weft.add %1, %4 : tensor<2x16x8xf32>
    return %5 : tensor<2x16x8xf32>
  }
}

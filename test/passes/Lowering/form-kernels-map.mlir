// RUN: weft-opt %s --weft-form-kernels | FileCheck %s --implicit-check-not=weft.map

// What weft.map does to each element is written out in the kernels: of a scalar that all elements have in common once, with what the
// function has as constants in the tensors' shape, and fused with what makes an operand.

func.func private @descend(%x: tensor<f32>, %gradient: tensor<f32>, %rate: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %half = weft.constant dense<0.5> : tensor<f32>
  %0 = weft.mul %rate, %half : tensor<f32>
  %1 = weft.mul %gradient, %0 : tensor<f32>
  %2 = weft.mul %1, %half : tensor<f32>
  %3 = weft.sub %x, %1 : tensor<f32>
  return %3, %2 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @main
// CHECK: %[[RATE:.*]] = call @[[SCALAR:kernel_[0-9]+]](%arg2) : (tensor<f32>) -> tensor<f32>
// CHECK: call @[[KERNEL:kernel_[0-9]+]](%arg1, %[[RATE]], %arg0)
// CHECK-NOT: call
// CHECK: return
func.func @main(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %r: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = weft.exp %g : tensor<4x8xf32>
  %1:2 = weft.map @descend(%x, %0, %r) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %1#0, %1#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK: func.func private @[[SCALAR]](
// CHECK: weft.mul %{{.*}} : tensor<f32>
// CHECK: func.func private @[[KERNEL]](
// CHECK-DAG: weft.exp %{{.*}} : tensor<4x8xf32>
// CHECK-DAG: weft.broadcast %arg1 dims [] : tensor<f32> to tensor<4x8xf32>
// CHECK-DAG: weft.constant dense<5.000000e-01> : tensor<4x8xf32>
// CHECK-DAG: weft.sub %{{.*}} : tensor<4x8xf32>

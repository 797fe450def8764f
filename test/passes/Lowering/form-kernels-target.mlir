// RUN: weft-opt %s --split-input-file --weft-form-kernels=target=cpu | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: weft-opt %s --split-input-file --weft-form-kernels=target=cuda | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: not weft-opt %s --split-input-file --weft-form-kernels=target=generic 2>&1 | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: not weft-opt %s --split-input-file --weft-form-kernels=target=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected target to be one of cpu, cuda, generic, got: tpu

// GENERIC-DAG: error: 'weft.conv' op expected a target with a library for it, got: generic

// A product is a library's where the target has one; else a kernel, which reads its operand's transpose itself.
// CHECK-LABEL: func.func @main
// CPU: weft.transpose
// CPU-NEXT: weft.dot_general
// CPU-NEXT: call @kernel_0
// GENERIC-NOT: weft.dot_general
// GENERIC: %[[P:.*]] = call @[[PRODUCT:.*]](%{{.*}}, %{{.*}})
// GENERIC: call @{{.*}}(%[[P]])
// GENERIC: func.func private @[[PRODUCT]]({{.*}}) -> tensor<4x4xf32> attributes {exec.kernel}
// GENERIC: weft.dot_general
func.func @main(%x: tensor<4x6xf32>, %w: tensor<4x6xf32>) -> tensor<4x4xf32> {
  %t = weft.transpose %w [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %p = weft.dot_general %x, %t batch [] x [] contract [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %g = weft.tanh %p : tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

// A convolution stays a library's call; a target without one is told so.
// CPU-LABEL: func.func @main
// CPU: weft.conv
func.func @main(%x: tensor<1x2x4xf32>, %k: tensor<3x2x2xf32>) -> tensor<1x3x3xf32> {
  %y = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1 : (tensor<1x2x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x3xf32>
  return %y : tensor<1x3x3xf32>
}

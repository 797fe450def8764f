// RUN: weft-opt %s --weft-form-kernels --weft-select-instructions | FileCheck %s

// A matrix in panels stays so, however many rows it is multiplied by.
// CHECK-NOT: copy
// CHECK: "gemm b=3 m=16384 n=400 k=768 f32"
// CHECK-NOT: copy
weft.weight @w : tensor<768x1200xf32> = #weft.external<"w.bin", 0, 3686400>
func.func @main(%x: tensor<16384x768xf32> {weft.name = "x"}) -> (tensor<16384x1200xf32> {weft.name = "y"}) {
  %w = weft.load @w : tensor<768x1200xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<16384x768xf32>, tensor<768x1200xf32>) -> tensor<16384x1200xf32>
  return %0 : tensor<16384x1200xf32>
}

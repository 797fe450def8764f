// RUN: weft-opt %s --weft-drop-unused-weights | FileCheck %s

// CHECK-NOT: @table
weft.weight kind(constant) @table : tensor<4xf32> = dense<0.0> : tensor<4xf32>
// CHECK: weft.weight @used
weft.weight @used : tensor<4xf32> = dense<1.0> : tensor<4xf32>
// A state that is only set is used.
// CHECK: weft.weight kind(state) @count
weft.weight kind(state) @count : tensor<4xf32> = dense<1.0> : tensor<4xf32>

func.func @main() -> tensor<4xf32> {
  %0 = weft.load @used : tensor<4xf32>
  weft.store @count, %0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

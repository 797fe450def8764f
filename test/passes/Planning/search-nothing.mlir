// RUN: weft-opt %s --weft-choose-shardings | FileCheck %s

// A model without anything that may be split has one plan: what is left to choose may be nothing.

dist.mesh @mesh <["model"=2]>

// CHECK-LABEL: func.func @main
// CHECK: weft.constant
func.func @main() -> tensor<4x6xf32> {
  %0 = weft.constant dense<1.0> : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

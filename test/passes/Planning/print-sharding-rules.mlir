// RUN: weft-opt %s --weft-print-sharding-rules 2>&1 >%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t

// One remark an operation, at its place in the model; the module stays as it is. dialects/Weft/rules.mlir pins the rules.
// KEPT-LABEL: func.func @main
// KEPT: weft.dot_general
// KEPT: weft.neg
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: print-sharding-rules.mlir:[[# @LINE + 1]]:{{.*}} remark: ([m, k], [k, n]) -> ([m, n]) {m=4, k=8, n=2} reduction={k} linear=each
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
      : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  // CHECK: print-sharding-rules.mlir:[[# @LINE + 1]]:{{.*}} remark: ([d0, d1]) -> ([d0, d1]) {d0=4, d1=2} linear=joint
  %1 = weft.neg %0 : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

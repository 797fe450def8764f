// RUN: weft-opt %s --weft-split-microbatches=batches=3 --split-input-file --verify-diagnostics | FileCheck %s

// A step takes three batches: nothing is of another type, and inputs without the batch are alike for all. A running sum over the batch is
// each batch's own.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<16x8xf32> {weft.microbatch_dim = 0 : i64}, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<16xi64> {weft.microbatch_dim = 0 : i64})
// CHECK-SAME: -> tensor<f32> attributes {weft.microbatches = 3 : i64}
func.func @main(%x: tensor<16x8xf32>, %bias: tensor<8xf32>, %labels: tensor<16xi64>) -> tensor<f32> {
  // CHECK-NOT: dist.microbatch
  // CHECK: weft.cumsum %[[X]] axis 0 : tensor<16x8xf32>
  %0 = weft.cumsum %x axis 0 : tensor<16x8xf32>
  %1 = weft.broadcast %bias dims [1] : tensor<8xf32> to tensor<16x8xf32>
  %2 = weft.add %0, %1 : tensor<16x8xf32>
  %3 = weft.reduce sum %2 dims [0, 1] : tensor<16x8xf32> -> tensor<f32>
  %4 = dist.accumulate %3 : tensor<f32> to tensor<f32>
  return %4 : tensor<f32>
}

// -----

// expected-error @+1 {{expected inputs with a batch, to take several of}}
func.func @main() -> tensor<f32> {
  %0 = weft.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}

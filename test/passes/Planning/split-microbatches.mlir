// RUN: weft-opt %s --weft-split-microbatches=microbatches=4 --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-split-microbatches --split-input-file | FileCheck %s --check-prefix=ONE

// A mean over the rows that count: how many do is a sum of its own, which every microbatch reads; the gradient and the loss are
// sums behind the last. What does not carry the batch stays as it is.
// ONE-NOT: dist.accumulate
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32> {weft.microbatch_dim = 0 : i64, weft.name = "x"}, %[[VALID:.*]]: tensor<4xf32> {weft.microbatch_dim = 0 : i64, weft.name = "valid"})
// CHECK-SAME: attributes {weft.microbatches = 4 : i64}
func.func @main(%x: tensor<16x8xf32> {weft.name = "x"}, %valid: tensor<16xf32> {weft.name = "valid"}) -> (tensor<f32>, tensor<8xf32>) {
  // CHECK: %[[W:.*]] = weft.load @w
  %w = weft.load @w : tensor<8xf32>
  // CHECK: weft.exp %[[W]] : tensor<8xf32>
  %e = weft.exp %w : tensor<8xf32>
  %y = weft.dot_general %x, %e batch [] x [] contract [1] x [0] : (tensor<16x8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %v = weft.mul %y, %valid : tensor<16xf32>
  // CHECK: %[[SUM:.*]] = weft.reduce sum %{{.*}} dims [0] : tensor<4xf32> -> tensor<f32>
  %s = weft.reduce sum %v dims [0] : tensor<16xf32> -> tensor<f32>
  // CHECK: %[[COUNT:.*]] = weft.reduce sum %[[VALID]] dims [0]
  // CHECK: %[[ALL:.*]] = dist.accumulate %[[COUNT]] : tensor<f32> to tensor<f32>
  %n = weft.reduce sum %valid dims [0] : tensor<16xf32> -> tensor<f32>
  // CHECK: %[[LOSS:.*]] = weft.div %[[SUM]], %[[ALL]]
  %loss = weft.div %s, %n : tensor<f32>
  // CHECK: weft.broadcast %[[ALL]] dims [] : tensor<f32> to tensor<4xf32>
  %b = weft.broadcast %n dims [] : tensor<f32> to tensor<16xf32>
  %d = weft.div %valid, %b : tensor<16xf32>
  // CHECK: %[[GRADIENT:.*]] = weft.dot_general {{.*}} -> tensor<8xf32>
  %g = weft.dot_general %d, %x batch [] x [] contract [0] x [0] : (tensor<16xf32>, tensor<16x8xf32>) -> tensor<8xf32>
  // CHECK-DAG: dist.accumulate %[[GRADIENT]] : tensor<8xf32> to tensor<8xf32>
  // CHECK-DAG: dist.accumulate %[[LOSS]] : tensor<f32> to tensor<f32>
  return %loss, %g : tensor<f32>, tensor<8xf32>
}
weft.weight @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>

// -----

// Sums of narrow floats are of f32.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<8x4xbf16>) -> tensor<4xbf16> {
  // CHECK: %[[SUM:.*]] = weft.reduce sum %{{.*}} : tensor<2x4xbf16> -> tensor<4xbf16>
  // CHECK: %[[WIDE:.*]] = dist.accumulate %[[SUM]] : tensor<4xbf16> to tensor<4xf32>
  // CHECK: weft.cast %[[WIDE]] : tensor<4xf32> to tensor<4xbf16>
  %0 = weft.reduce sum %x dims [0] : tensor<8x4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// Positions along the batch are those of the whole; along other dimensions they stay what they are.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<16x8xi64>) -> tensor<i64> {
  // CHECK: %[[WITHIN:.*]] = weft.iota 0 : tensor<4x8xi64>
  // CHECK: %[[NUMBER:.*]] = dist.microbatch : tensor<i64>
  // CHECK: %[[ROWS:.*]] = weft.constant dense<4> : tensor<i64>
  // CHECK: %[[START:.*]] = weft.mul %[[NUMBER]], %[[ROWS]]
  // CHECK: %[[ALL:.*]] = weft.broadcast %[[START]] dims [] : tensor<i64> to tensor<4x8xi64>
  // CHECK: %[[POSITION:.*]] = weft.add %[[WITHIN]], %[[ALL]]
  // CHECK: weft.mul %{{.*}}, %[[POSITION]]
  %0 = weft.iota 0 : tensor<16x8xi64>
  %1 = weft.mul %x, %0 : tensor<16x8xi64>
  // CHECK: %[[COLUMN:.*]] = weft.iota 1 : tensor<4x8xi64>
  // CHECK-NEXT: weft.add %{{.*}}, %[[COLUMN]]
  %2 = weft.iota 1 : tensor<16x8xi64>
  %3 = weft.add %1, %2 : tensor<16x8xi64>
  %4 = weft.reduce sum %3 dims [0, 1] : tensor<16x8xi64> -> tensor<i64>
  return %4 : tensor<i64>
}

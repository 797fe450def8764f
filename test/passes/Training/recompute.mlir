// RUN: split-file %s %t
// RUN: weft-opt %t/layers.mlir --weft-recompute=mode=none | FileCheck %t/layers.mlir --check-prefixes=CHECK,NONE
// RUN: weft-opt %t/layers.mlir --weft-recompute=mode=selective | FileCheck %t/layers.mlir --check-prefixes=CHECK,SELECTIVE
// RUN: weft-opt %t/blocks.mlir --weft-recompute=mode=full | FileCheck %t/blocks.mlir --check-prefix=FULL
// RUN: weft-opt %t/layers.mlir --weft-recompute="mode=auto limit=200" | FileCheck %t/layers.mlir --check-prefixes=CHECK,SELECTIVE
// RUN: weft-opt %t/layers.mlir --weft-recompute=mode=auto | FileCheck %t/layers.mlir --check-prefixes=CHECK,NONE
// RUN: not weft-opt %t/layers.mlir --weft-recompute=mode=some 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not weft-opt %t/loss.mlir --weft-recompute 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// WORD: expected mode to be one of none, selective, full, auto, got: some
// UNKNOWN: expected a result of @main with weft.role = "loss" that it computes

// Nothing that follows takes what is computed again for the first: each kernel of an activation stands behind its use.
// RUN: weft-opt %t/layers.mlir --weft-recompute=mode=selective --weft-plan-pipeline=mesh=x=1 --weft-partition-pipeline --weft-kernel-pipeline | FileCheck %t/layers.mlir --check-prefix=KERNELS

//--- layers.mlir
weft.weight kind(trained) @w : tensor<4x4xf32> = dense<1.0> : tensor<4x4xf32>
weft.weight kind(trained) @v : tensor<4x4xf32> = dense<1.0> : tensor<4x4xf32>
func.func @main(%x: tensor<8x4xf32>, %keep: tensor<8x4xi1>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<4x4xf32> {weft.name = "grad:w", weft.role = "gradient"}, tensor<4x4xf32> {weft.name = "grad:v", weft.role = "gradient"}) {
  // CHECK: weft.load @w
  %w = weft.load @w : tensor<4x4xf32>
  %v = weft.load @v : tensor<4x4xf32>
  // CHECK: %[[H:.*]] = weft.dot_general
  %h = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[A:.*]] = weft.gelu tanh %[[H]]
  %a = weft.gelu tanh %h : tensor<8x4xf32>
  %zero = weft.constant dense<0.0> : tensor<8x4xf32>
  // CHECK: %[[D:.*]] = weft.select %{{.*}}, %[[A]],
  %d = weft.select %keep, %a, %zero : tensor<8x4xi1>, tensor<8x4xf32>
  %y = weft.dot_general %d, %v batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %r = weft.max %h, %zero : tensor<8x4xf32>
  %z = weft.add %y, %r : tensor<8x4xf32>
  // CHECK: %{{.*}} = weft.reduce sum
  %loss = weft.reduce sum %z dims [0, 1] : tensor<8x4xf32> -> tensor<f32>
  // CHECK: %[[G:.*]] = weft.constant dense<1.000000e+00> : tensor<8x4xf32>
  %g = weft.constant dense<1.0> : tensor<8x4xf32>
  // What is chosen of the activation is kept; or both are computed again from the product, which is kept anyway.
  // NONE: %[[READ:.*]] = weft.barrier %[[D]]
  // SELECTIVE: %[[KEPT:.*]] = weft.barrier %[[H]]
  // SELECTIVE: %[[AGAIN:.*]] = weft.gelu tanh %[[KEPT]]
  // SELECTIVE: %[[READ:.*]] = weft.select %{{.*}}, %[[AGAIN]],
  // CHECK: weft.dot_general %[[READ]], %[[G]]
  // CHECK: %[[V:.*]] = weft.load @v
  // CHECK: weft.dot_general %[[G]], %[[V]]
  %dv = weft.dot_general %d, %g batch [] x [] contract [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %dd = weft.dot_general %g, %v batch [] x [] contract [1] x [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %da = weft.select %keep, %dd, %zero : tensor<8x4xi1>, tensor<8x4xf32>
  // NONE: %[[KEPT:.*]] = weft.barrier %[[H]]
  // CHECK: %[[T:.*]] = weft.tanh %[[KEPT]]
  %t = weft.tanh %h : tensor<8x4xf32>
  // What costs next to nothing is never kept beside what it follows from.
  // CHECK: %[[R:.*]] = weft.max %[[KEPT]],
  // CHECK: weft.mul %[[T]], %[[R]]
  %tr = weft.mul %t, %r : tensor<8x4xf32>
  %dh = weft.mul %da, %tr : tensor<8x4xf32>
  %dw = weft.dot_general %x, %dh batch [] x [] contract [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %loss, %dw, %dv : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// One kernel computes the activation for the forward pass, and hands on what is chosen of it alone; another computes it
// again from the same product.
// KERNELS: func.func @main
// KERNELS: %[[H:.*]] = weft.dot_general
// KERNELS: %[[D:.*]] = call @[[FORWARD:.*]](%[[H]],
// KERNELS: weft.dot_general %[[D]],
// KERNELS: call @[[BACKWARD:.*]](%[[H]], %{{.*}}) : (tensor<8x4xf32>, tensor<8x4xi1>) -> tensor<8x4xf32>
// KERNELS: func.func private @[[FORWARD]]({{.*}}) -> tensor<8x4xf32>
// KERNELS: weft.gelu
// KERNELS: func.func private @[[BACKWARD]]({{.*}}) -> tensor<8x4xf32>
// KERNELS: weft.gelu

//--- blocks.mlir
weft.weight kind(trained) @w0 : tensor<4x4xf32> = dense<1.0> : tensor<4x4xf32>
weft.weight kind(trained) @w1 : tensor<4x4xf32> = dense<2.0> : tensor<4x4xf32>
weft.weight kind(trained) @w2 : tensor<4x4xf32> = dense<3.0> : tensor<4x4xf32>
weft.weight kind(trained) @w3 : tensor<4x4xf32> = dense<4.0> : tensor<4x4xf32>
// Four equal layers: of each but the last, its input is kept, and the product computed again.
// FULL: func.func @main(%[[X:[a-z0-9]*]]:
func.func @main(%x: tensor<8x4xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<8x4xf32> {weft.name = "grad:x", weft.role = "gradient"}) {
  %w0 = weft.load @w0 : tensor<4x4xf32>
  %w1 = weft.load @w1 : tensor<4x4xf32>
  %w2 = weft.load @w2 : tensor<4x4xf32>
  %w3 = weft.load @w3 : tensor<4x4xf32>
  %h0 = weft.dot_general %x, %w0 batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t0 = weft.tanh %h0 : tensor<8x4xf32>
  // FULL: %[[X1:.*]] = weft.add %[[X]],
  %x1 = weft.add %x, %t0 : tensor<8x4xf32>
  %h1 = weft.dot_general %x1, %w1 batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t1 = weft.tanh %h1 : tensor<8x4xf32>
  // FULL: %[[X2:.*]] = weft.add %[[X1]],
  %x2 = weft.add %x1, %t1 : tensor<8x4xf32>
  %h2 = weft.dot_general %x2, %w2 batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t2 = weft.tanh %h2 : tensor<8x4xf32>
  %x3 = weft.add %x2, %t2 : tensor<8x4xf32>
  %h3 = weft.dot_general %x3, %w3 batch [] x [] contract [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t3 = weft.tanh %h3 : tensor<8x4xf32>
  %x4 = weft.add %x3, %t3 : tensor<8x4xf32>
  // FULL: weft.reduce sum
  %loss = weft.reduce sum %x4 dims [0, 1] : tensor<8x4xf32> -> tensor<f32>
  // Weights are loaded again where they are read again.
  %g = weft.constant dense<1.0> : tensor<8x4xf32>
  %d3 = weft.mul %g, %t3 : tensor<8x4xf32>
  // FULL: %[[KEPT2:.*]] = weft.barrier %[[X2]]
  // FULL: %[[W2:.*]] = weft.load @w2
  // FULL: %[[H2:.*]] = weft.dot_general %[[KEPT2]], %[[W2]]
  // FULL: weft.tanh %[[H2]]
  %d2 = weft.mul %d3, %t2 : tensor<8x4xf32>
  // FULL: %[[KEPT1:.*]] = weft.barrier %[[X1]]
  // FULL: weft.dot_general %[[KEPT1]],
  %d1 = weft.mul %d2, %t1 : tensor<8x4xf32>
  // FULL: %[[W0:.*]] = weft.load @w0
  // FULL: %[[KEPT0:.*]] = weft.barrier %[[X]]
  // FULL: %[[H0:.*]] = weft.dot_general %[[KEPT0]], %[[W0]]
  // FULL: weft.tanh %[[H0]]
  %d0 = weft.mul %d1, %t0 : tensor<8x4xf32>
  return %loss, %d0 : tensor<f32>, tensor<8x4xf32>
}

//--- loss.mlir
func.func @main(%x: tensor<f32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  return %x : tensor<f32>
}

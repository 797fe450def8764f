// RUN: weft-opt %s --weft-differentiate --split-input-file --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A product's gradients are products with no transpose behind them; a bias's is a sum; the loss's own is one. What is
// made for an operation is called grad: and its name, and so is the whole gradient of a weight.
weft.weight kind(trained) @w : tensor<8x4xf32> = dense<1.0> : tensor<8x4xf32>
weft.weight kind(trained) @b : tensor<4xf32> = dense<1.0> : tensor<4xf32>
weft.weight @frozen : tensor<4x4xf32> = dense<1.0> : tensor<4x4xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x8xf32>
// CHECK-SAME: -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<8x4xf32> {weft.name = "grad:w", weft.role = "gradient"}, tensor<4xf32> {weft.name = "grad:b", weft.role = "gradient"})
func.func @main(%x: tensor<2x3x8xf32>) -> (tensor<2x3x4xf32>, tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %w = weft.load @w : tensor<8x4xf32> loc("w")
  %b = weft.load @b : tensor<4xf32> loc("b")
  // CHECK: %[[F:.*]] = weft.load @frozen
  %f = weft.load @frozen : tensor<4x4xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32> loc("up")
  %1 = weft.broadcast %b dims [2] : tensor<4xf32> to tensor<2x3x4xf32> loc("biases")
  %2 = weft.add %0, %1 : tensor<2x3x4xf32> loc("sum")
  // The weight that is not trained has no gradient; the other's transpose is contracted as it lies.
  %3 = weft.dot_general %2, %f batch [] x [] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32> loc("down")
  %4 = weft.reduce sum %3 dims [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32> loc("loss")
  // CHECK: %[[LOSS:.*]] = weft.reduce sum
  // CHECK: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[D3:.*]] = weft.broadcast %[[ONE]] dims [] : tensor<f32> to tensor<2x3x4xf32>
  // CHECK: %[[D2:.*]] = weft.dot_general %[[D3]], %[[F]] batch [] x [] contract [2] x [0] {{.*}} -> tensor<2x3x4xf32> loc({{.*}}"grad:down"
  // CHECK-NEXT: %[[DB:.*]] = weft.reduce sum %[[D2]] dims [0, 1] : tensor<2x3x4xf32> -> tensor<4xf32> loc({{.*}}"grad:b"
  // CHECK-NEXT: %[[DW:.*]] = weft.dot_general %[[X]], %[[D2]] batch [] x [] contract [0, 1] x [0, 1] {{.*}} -> tensor<8x4xf32> loc({{.*}}"grad:w"
  // CHECK-NEXT: return %[[LOSS]], %[[DW]], %[[DB]]
  return %3, %4 : tensor<2x3x4xf32>, tensor<f32>
}

// -----

// Attention gets the logarithms of its sums, and is computed backward from them.
weft.weight kind(trained) @w : tensor<1x2x4x8xf32> = dense<1.0> : tensor<1x2x4x8xf32>
// CHECK-LABEL: func.func @main
func.func @main(%k: tensor<1x2x4x8xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  // CHECK: %[[Q:.*]] = weft.load @w
  %q = weft.load @w : tensor<1x2x4x8xf32>
  // CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = weft.attention %[[Q]], %[[K:.*]], %[[K]] scale {{.*}} causal masked_rows zero
  %o = weft.attention %q, %k, %k scale 0.5 causal masked_rows zero : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  // CHECK-NEXT: weft.reduce sum %[[O]]
  %l = weft.reduce sum %o dims [0, 1, 2, 3] : tensor<1x2x4x8xf32> -> tensor<f32>
  // CHECK: %[[G:.*]] = weft.broadcast
  // CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}} = weft.attention_backward %[[Q]], %[[K]], %[[K]] result %[[O]] lse %[[LSE]] gradient %[[G]] scale {{.*}} causal masked_rows zero
  // CHECK: return %{{.*}}, %[[DQ]]
  return %l : tensor<f32>
}

// -----

// Attention whose bias is trained is written out.
weft.weight kind(trained) @bias : tensor<1x2x4x4xf32> = dense<1.0> : tensor<1x2x4x4xf32>
// CHECK-LABEL: func.func @main
func.func @main(%k: tensor<3x2x4x8xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %bias = weft.load @bias : tensor<1x2x4x4xf32>
  // CHECK-NOT: weft.attention
  // CHECK: %[[P:.*]] = weft.softmax
  %o = weft.attention %k, %k, %k bias %bias scale 0.5 masked_rows nan : (tensor<3x2x4x8xf32>, tensor<3x2x4x8xf32>, tensor<3x2x4x8xf32>, tensor<1x2x4x4xf32>) -> tensor<3x2x4x8xf32>
  %l = weft.reduce sum %o dims [0, 1, 2, 3] : tensor<3x2x4x8xf32> -> tensor<f32>
  // CHECK: %[[DS:.*]] = weft.mul %[[P]],
  // CHECK: %[[SUM:.*]] = weft.reduce sum %[[DS]] dims [0]
  // CHECK: %[[DBIAS:.*]] = weft.reshape %[[SUM]] {{.*}} to tensor<1x2x4x4xf32>
  // CHECK: return %{{.*}}, %[[DBIAS]]
  return %l : tensor<f32>
}

// -----

// Rows of a table that are taken several times are added up.
weft.weight kind(trained) @table : tensor<16x4xf32> = dense<1.0> : tensor<16x4xf32>
// CHECK-LABEL: func.func @main
func.func @main(%i: tensor<2x3xi64>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %table = weft.load @table : tensor<16x4xf32>
  %0 = weft.gather %table, %i axis 0 : (tensor<16x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %1 = weft.mul %0, %0 : tensor<2x3x4xf32>
  %l = weft.reduce sum %1 dims [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  // CHECK: %[[G:.*]] = weft.add
  // CHECK: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<16x4xf32>
  // CHECK: %[[I:.*]] = weft.reshape %{{.*}} : tensor<2x3xi64> to tensor<2x3x1xi64>
  // CHECK: weft.scatter_nd add %[[ZERO]], %[[I]], %[[G]]
  return %l : tensor<f32>
}

// -----

// Gradients of slices that lie side by side are joined, in whatever order they are read; what overlaps is added; what is left
// has zeros around it.
weft.weight kind(trained) @w : tensor<4x12xf32> = dense<1.0> : tensor<4x12xf32>
weft.weight kind(trained) @v : tensor<8xf32> = dense<1.0> : tensor<8xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %w = weft.load @w : tensor<4x12xf32> loc("w")
  %a = weft.slice %w starts [0, 0] strides [1, 1] : tensor<4x12xf32> to tensor<4x4xf32> loc("a")
  %b = weft.slice %w starts [0, 4] strides [1, 1] : tensor<4x12xf32> to tensor<4x4xf32> loc("b")
  %c = weft.slice %w starts [0, 8] strides [1, 1] : tensor<4x12xf32> to tensor<4x4xf32> loc("c")
  %v = weft.load @v : tensor<8xf32> loc("v")
  %d = weft.slice %v starts [1] strides [1] : tensor<8xf32> to tensor<4xf32> loc("d")
  %e = weft.slice %v starts [3] strides [1] : tensor<8xf32> to tensor<4xf32> loc("e")
  // CHECK-DAG: %[[DA:.*]] = weft.dot_general {{.*}} loc({{.*}}"grad:a"
  // CHECK-DAG: %[[DB:.*]] = weft.dot_general {{.*}} loc({{.*}}"grad:b"
  // CHECK-DAG: %[[DC:.*]] = weft.dot_general {{.*}} loc({{.*}}"grad:c"
  // CHECK-DAG: %[[PD:.*]] = weft.pad {{.*}} low [1] high [3] {{.*}} loc({{.*}}"grad:d"
  // CHECK-DAG: %[[PE:.*]] = weft.pad {{.*}} low [3] high [1] {{.*}} loc({{.*}}"grad:e"
  %0 = weft.dot_general %x, %b batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = weft.dot_general %0, %c batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = weft.dot_general %1, %a batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = weft.mul %y, %d : tensor<4xf32>
  %4 = weft.mul %3, %e : tensor<4xf32>
  %5 = weft.reduce sum %2 dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %6 = weft.reduce sum %4 dims [0] : tensor<4xf32> -> tensor<f32>
  %7 = weft.add %5, %6 : tensor<f32>
  // CHECK-DAG: %[[DW:.*]] = weft.concat %[[DA]], %[[DB]], %[[DC]] axis 1 {{.*}} loc({{.*}}"grad:w"
  // CHECK-DAG: %[[DV:.*]] = weft.add %[[PD]], %[[PE]] {{.*}} loc({{.*}}"grad:v"
  // CHECK: return %{{.*}}, %[[DW]], %[[DV]]
  return %7 : tensor<f32>
}

// -----

// A weight on which the loss does not depend, or does by what is held constant, is not trained.
// expected-warning @+1 {{the loss does not depend on 'unused', which is not trained}}
weft.weight kind(trained) @unused : tensor<4xf32> = dense<1.0> : tensor<4xf32>
// expected-warning @+1 {{the loss does not depend on 'stopped', which is not trained}}
weft.weight kind(trained) @stopped : tensor<4xf32> = dense<1.0> : tensor<4xf32>
// CHECK: weft.weight @unused
// CHECK: weft.weight @stopped
func.func @main(%x: tensor<4xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %u = weft.load @unused : tensor<4xf32>
  %w = weft.load @stopped : tensor<4xf32>
  %0 = weft.stop_gradient %w : tensor<4xf32>
  %1 = weft.mul %x, %0 : tensor<4xf32>
  %l = weft.reduce sum %1 dims [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A use that has no gradient: a shard of a table, which training never sees.
weft.weight kind(trained) @w : tensor<4x2xf32> = dense<1.0> : tensor<4x2xf32>
func.func @main(%i: tensor<2xi64>, %o: tensor<i64>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %w = weft.load @w : tensor<4x2xf32>
  // expected-error @+1 {{'weft.gather' has no gradient, but the loss depends by it on what is trained}}
  %0 = weft.gather %w, %i offset %o : tensor<i64> axis 0 extent 8 : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %l = weft.reduce sum %0 dims [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{expected a result of @main with weft.role = "loss"}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a loss of one float, got: 'tensor<4xf32>'}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {weft.role = "loss"}) {
  return %x : tensor<4xf32>
}

// -----

// What a bound has chosen is read off its result: a model keeps that for what reads it, and nothing else.
weft.weight kind(trained) @w : tensor<8x4xf32> = dense<1.0> : tensor<8x4xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %w = weft.load @w : tensor<8x4xf32>
  // CHECK: %[[H:.*]] = weft.dot_general
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %zero = weft.constant dense<0.0> : tensor<2x4xf32>
  %1 = weft.compare le %0, %zero : tensor<2x4xf32>
  // CHECK: %[[RELU:.*]] = weft.select {{.*}}, %[[H]] :
  %2 = weft.select %1, %zero, %0 : tensor<2x4xi1>, tensor<2x4xf32>
  %3 = weft.mul %2, %2 : tensor<2x4xf32>
  %4 = weft.reduce sum %3 dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  // CHECK: weft.reduce sum
  // CHECK-NOT: %[[H]],
  // CHECK: %[[C:.*]] = weft.compare le %[[RELU]], {{.*}} : tensor<2x4xf32>
  // CHECK-NEXT: weft.select %[[C]]
  // CHECK: return
  return %4 : tensor<f32>
}

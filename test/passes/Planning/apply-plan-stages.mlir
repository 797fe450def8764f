// The stages of a training step: each weight has its gradient, its update and its state in the stage that reads it first; what one
// stage makes of all gradients, the factor by which they are clipped, is one number there.

// RUN: weft-opt --mlir-print-debuginfo '--weft-train-pipeline=training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.1 clip_norm: 1.0 } parameters: "u" parameters: "v"}' %S/Inputs/stages.mlir -o %t.mlir
// RUN: weft-opt --weft-apply-plan="mesh=data=2 cuts=h" %t.mlir | FileCheck %s

// CHECK-LABEL: func.func @part0(
// CHECK-SAME: %[[X:.*]]: tensor<4x16xf32> {weft.name = "x"}
// CHECK-SAME: %[[DZ:.*]]: tensor<4x32xf32> {weft.name = "grad:h", weft.of_later_part}
// CHECK-SAME: %[[SQUARES:.*]]: tensor<f32> {weft.name = "optimizer.norm/reduce~2", weft.of_later_part}
// CHECK: %[[H:.*]] = weft.tanh
// CHECK: %[[DU:.*]] = weft.dot_general %[[X]], %[[DZ]]
// CHECK: weft.add %{{.*}}, %[[SQUARES]]
// CHECK: %[[FACTOR:.*]] = weft.min
// CHECK: weft.store @optimizer.step
// CHECK: weft.store @u
// CHECK-NOT: @v
// CHECK: return %[[DU]], %[[H]], %[[FACTOR]] : tensor<16x32xf32>, tensor<4x32xf32>, tensor<f32>

// CHECK-LABEL: func.func @part1(
// CHECK-SAME: %[[H:.*]]: tensor<4x32xf32> {weft.name = "h/tanh"}
// CHECK-SAME: %[[FACTOR:.*]]: tensor<f32> {weft.name = "optimizer.norm/min"}
// CHECK-NOT: @u
// CHECK: weft.broadcast %[[FACTOR]]
// CHECK: weft.store @v

// CHECK-LABEL: func.func @main(
// CHECK: %[[LATER:.*]] = dist.result_of @part1 2 : tensor<4x32xf32>
// CHECK: %[[LATER_SQUARES:.*]] = dist.result_of @part1 3 : tensor<f32>
// CHECK: %[[ZERO:.*]]:3 = call @part0(%{{.*}}, %[[LATER]], %[[LATER_SQUARES]])
// CHECK: call @part1(%[[ZERO]]#1, %[[ZERO]]#2)

// RUN: not weft-opt --weft-apply-plan="mesh=data=2 cuts=grad:y/add" %t.mlir 2>&1 | FileCheck %s --check-prefix=BACKWARD
// BACKWARD: cannot cut behind 'grad:y': the loss does not depend on it; a stage of a training step ends behind a value of the forward pass, and has its backward pass besides
// RUN: not weft-opt --weft-apply-plan="mesh=data=2 cuts=loss" %t.mlir 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: cannot cut behind 'loss': nothing is left to compute behind it
// RUN: not weft-opt --weft-apply-plan="mesh=data=2 cuts=h,h" %t.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: cannot cut behind 'h': the part that ends behind 'h' holds it already; name cuts in the order in which they are computed, each once

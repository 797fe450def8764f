// Sequences of 8 tokens go through two stages in slices of 3, 3 and 2: attention of a slice reads the keys of those before it, gradients
// of keys go from the last slice to the first, a gradient of weights is one sum of the slices' parts, one that lies along the sequence is joined.

// RUN: weft-opt --mlir-print-debuginfo '--weft-train-pipeline=training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.1 } parameters: "u" parameters: "v" parameters: "positions" parameters: "exact" slices: 3 }' %S/Inputs/attention-stages.mlir -o %t.mlir
// RUN: weft-opt --weft-split-microbatches=microbatches=2 --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-slice-tokens %t.mlir | FileCheck %s
// RUN: weft-opt --weft-split-microbatches=microbatches=2 --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-partition-pipeline %t.mlir -o %t.two.mlir
// RUN: FileCheck %s --check-prefix=PHASES < %t.two.mlir
// RUN: weft-opt --weft-kernel-pipeline --weft-select-pipeline --weft-exec-pipeline %t.two.mlir | FileCheck %s --check-prefix=EXEC
// RUN: weft-opt --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-partition-pipeline %t.mlir -o %t.one.mlir
// RUN: FileCheck %s --check-prefix=ONE < %t.one.mlir
// RUN: weft-opt --weft-kernel-pipeline --weft-select-pipeline --weft-exec-pipeline %t.one.mlir | FileCheck %s --check-prefix=TURN

// CHECK-LABEL: func.func @part0(%arg0: tensor<2x8x8xf32>
// CHECK-SAME: %[[DH0:.*]]: tensor<2x1x3x8xf32> {{.*}}, %{{.*}}: tensor<2x1x3x8xf32> {{.*}}, %{{.*}}: tensor<2x1x2x8xf32>
// CHECK: %[[X0:.*]] = weft.slice %arg0 starts [0, 0, 0]
// CHECK: weft.add %[[X0]], %{{.*}} {{{.*}}weft.level = 0
// CHECK: %[[X2:.*]] = weft.slice %arg0 starts [0, 6, 0] {{.*}} to tensor<2x2x8xf32>
// CHECK: weft.add %[[X2]], %{{.*}} {{{.*}}weft.level = 2
// CHECK: %[[K0:.*]] = weft.reshape %{{.*}} {{{.*}}weft.level = 0 {{.*}} to tensor<2x1x3x8xf32>
// CHECK: weft.attention %{{.*}}, %[[FIRST:.*]], %[[FIRST]] scale 5.000000e-01 causal masked_rows nan {{{.*}}weft.level = 0
// CHECK: %[[TWO:.*]] = weft.concat %[[FIRST]], %{{.*}} axis 2
// CHECK: weft.attention %{{.*}}, %[[TWO]], %[[TWO]] scale 5.000000e-01 causal query_offset 3 masked_rows nan {{{.*}}weft.level = 1
// CHECK: weft.attention {{.*}} causal query_offset 6 {{.*}}weft.level = 2
// CHECK: %{{.*}}, %[[DK2:.*]], %{{.*}} = weft.attention_backward {{.*}} query_offset 6 {{.*}}weft.level = 3
// CHECK: %{{.*}}, %[[DK1:.*]], %{{.*}} = weft.attention_backward {{.*}} query_offset 3 {{.*}}weft.level = 4
// CHECK: %[[LATER:.*]] = weft.slice %[[DK2]] starts [0, 0, 0, 0] {{.*}} to tensor<2x1x6x8xf32>
// CHECK: %[[SUM:.*]] = weft.add %[[DK1]], %[[LATER]]
// CHECK: weft.slice %[[SUM]] starts [0, 0, 3, 0] {{.*}} to tensor<2x1x3x8xf32>
// CHECK: weft.attention_backward {{.*}}weft.level = 5
// CHECK: %[[P2:.*]] = dist.accumulate %{{.*}} : tensor<2x8xf32> to tensor<2x8xf32>
// CHECK: %[[P1:.*]] = dist.accumulate %{{.*}} : tensor<3x8xf32> to tensor<3x8xf32>
// CHECK: %[[P0:.*]] = dist.accumulate %{{.*}} : tensor<3x8xf32> to tensor<3x8xf32>
// CHECK: %[[P:.*]] = weft.concat %[[P0]], %[[P1]], %[[P2]] axis 0
// CHECK: weft.pad %[[P]]
// CHECK: %[[U2:.*]] = dist.accumulate %{{.*}} : tensor<8x8xf32> to tensor<8x8xf32>
// CHECK: %[[U1:.*]] = dist.accumulate %{{.*}} : tensor<8x8xf32> to tensor<8x8xf32> onto %[[U2]] : tensor<8x8xf32>
// CHECK: %[[U0:.*]] = dist.accumulate %{{.*}} : tensor<8x8xf32> to tensor<8x8xf32> onto %[[U1]] : tensor<8x8xf32>
// CHECK: weft.map @update(%{{.*}}, %[[U0]], %{{.*}})

// CHECK-LABEL: func.func @part1(%arg0: tensor<6x8xf32>
// CHECK-SAME: %arg2: tensor<4x8xf32>

// CHECK-LABEL: func.func @main(
// CHECK: %[[LATE0:.*]] = dist.result_of @part1
// CHECK: %[[LATE1:.*]] = dist.result_of @part1
// CHECK: %[[LATE2:.*]] = dist.result_of @part1
// CHECK: %[[H:.*]]:{{.*}} = call @part0(%arg0, %[[LATE0]], %[[LATE1]], %[[LATE2]],
// CHECK: call @part1(%[[H]]#{{.*}}, %[[H]]#{{.*}}, %[[H]]#

// Three phases forward, and three backward, from the last slice; the sum is one memory in all of them.
// PHASES-LABEL: func.func @part0.backward.slice0(
// PHASES: weft.load @accumulate.[[SUM:[0-9]+]].part0.backward.slice0 : tensor<8x8xf32>
// PHASES-LABEL: func.func @part0.backward.slice2(
// PHASES: weft.attention_backward
// PHASES: weft.load @accumulate.[[SUM]].part0.backward.slice2 : tensor<8x8xf32>
// PHASES-LABEL: func.func @main(
// PHASES: call @part0.forward.slice0({{.*}} {weft.microbatches_of_call = array<i64: 0, 2>, weft.pipeline_level = 0 : i64, weft.pipeline_slice = 0 : i64, weft.pipeline_stage = 0 : i64}
// PHASES: call @part1.forward.slice0({{.*}} weft.pipeline_slice = 0 : i64, weft.pipeline_stage = 1 : i64}
// PHASES: call @part0.forward.slice1(
// PHASES: call @part1.forward.slice2(
// PHASES: call @part1.backward.slice2({{.*}}weft.pipeline_level = 1 : i64, weft.pipeline_slice = 2 : i64
// PHASES: call @part0.backward.slice2(
// PHASES: call @part1.backward.slice1(
// PHASES: call @part0.backward.slice0(

// 1F1B: so many slices ahead as the first backward pass wants, then forward and backward passes in turn.
// EXEC: exec.program @class0 ranks 0 to 1
// EXEC-SAME: #exec.entry<@part0.forward.slice0, forward, frames
// EXEC-SAME: #exec.entry<@part0.forward.slice1, forward, slice 1, frames
// EXEC-SAME: #exec.entry<@part0.forward.slice2, forward, slice 2, frames
// EXEC-SAME: #exec.entry<@part0.forward.slice0, forward, microbatch 1, frames
// EXEC-SAME: #exec.entry<@part0.backward.slice2, backward, slice 2, frames
// EXEC-SAME: #exec.entry<@part0.forward.slice1, forward, microbatch 1, slice 1, frames
// EXEC-SAME: #exec.entry<@part0.backward.slice1, backward, slice 1, frames

// Without microbatches a gradient is added up from slice to slice.
// ONE-LABEL: func.func @part0.backward.slice1(
// ONE: weft.add {{.*}} : tensor<8x8xf32>
// ONE-NOT: weft.level
// ONE-LABEL: func.func @part1.forward.slice0(
// ONE: weft.attention

// TURN: exec.program @class0 ranks 0 to 1 schedule [#exec.entry<@part0.forward.slice0, forward>, #exec.entry<@part0.forward.slice1, forward, slice 1>, #exec.entry<@part0.forward.slice2, forward, slice 2>,
// TURN-SAME: #exec.entry<@part0.backward.slice2, backward, slice 2>, #exec.entry<@part0.backward.slice1, backward, slice 1>, #exec.entry<@part0.backward.slice0, backward>

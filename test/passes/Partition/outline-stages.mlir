// Phases of the stages of a training step. In four microbatches: forward down the stages, backward up; the norm of all gradients takes
// three phases of updates. Sums that two stages keep are of different memories. Without microbatches forward and backward phases store.

// RUN: weft-opt --mlir-print-debuginfo '--weft-train-pipeline=training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.1 clip_norm: 1.0 } parameters: "u" parameters: "v"}' %S/../Planning/Inputs/stages.mlir -o %t.mlir
// RUN: weft-opt --weft-split-microbatches=microbatches=4 --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-partition-pipeline %t.mlir -o %t.four.mlir
// RUN: FileCheck %s < %t.four.mlir
// RUN: weft-opt --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-partition-pipeline %t.mlir | FileCheck %s --check-prefix=ONE
// RUN: weft-opt --weft-kernel-pipeline --weft-select-pipeline --weft-exec-pipeline %t.four.mlir | FileCheck %s --check-prefix=EXEC

// CHECK-LABEL: func.func @part0.update1(
// CHECK: dist.load_shard @u
// CHECK: weft.load @accumulate.0.part0.update1
// CHECK: dist.store_shard @u
// CHECK-LABEL: func.func @part0.update(
// CHECK: dist.store_shard @optimizer.step
// CHECK-LABEL: func.func @part0.backward(
// CHECK: %[[DU:.*]] = weft.dot_general
// CHECK: weft.load @accumulate.0.part0.backward
// CHECK: weft.store @accumulate.0.part0.backward
// CHECK-LABEL: func.func @part0.forward(
// CHECK: weft.tanh
// CHECK-LABEL: func.func @part1.update2(
// CHECK: dist.store_shard @v
// CHECK-LABEL: func.func @part1.microbatch(
// CHECK: weft.store @accumulate.65.part1.microbatch

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: call @part0.begin()
// CHECK-NEXT: call @part1.begin()
// CHECK-NEXT: %[[H:.*]] = call @part0.forward(%arg0) {weft.microbatches_of_call = array<i64: 0, 4>, weft.pipeline_level = 0 : i64, weft.pipeline_stage = 0 : i64}
// CHECK-NEXT: %[[SENT:.*]] = dist.transfer %[[H]]
// CHECK-NEXT: %[[DZ:.*]] = call @part1.microbatch(%[[SENT]]) {weft.microbatches_of_call = array<i64: 0, 4>, weft.pipeline_level = 0 : i64, weft.pipeline_stage = 1 : i64}
// CHECK-NEXT: %[[BACK:.*]] = dist.transfer %[[DZ]]
// CHECK-NEXT: call @part0.backward(%[[BACK]], %arg0) {weft.microbatches_of_call = array<i64: 0, 4>, weft.pipeline_level = 1 : i64, weft.pipeline_stage = 0 : i64}
// CHECK-NEXT: call @part1.sent() {weft.microbatches_of_call = array<i64: 0, 4>, weft.pipeline_level = 1 : i64, weft.pipeline_stage = 1 : i64, weft.sent}
// CHECK-NEXT: %[[U0:.*]]:2 = call @part0.update()
// CHECK-NEXT: %[[U1:.*]]:3 = call @part1.update()
// CHECK-NEXT: %[[SQUARES:.*]] = dist.transfer %[[U1]]#2
// CHECK-NEXT: %[[FACTOR:.*]] = call @part0.update1(%[[SQUARES]], %[[U0]]#1)
// CHECK-NEXT: %[[TOLD:.*]] = dist.transfer %[[FACTOR]]
// CHECK-NEXT: call @part1.update2(%[[TOLD]])

// ONE-LABEL: func.func @main(
// ONE-NEXT: %[[H:.*]] = call @part0.forward(%arg0)
// ONE-NEXT: dist.transfer %[[H]]
// ONE-NEXT: %[[ONE:.*]]:4 = call @part1.microbatch(
// ONE-NEXT: dist.transfer %[[ONE]]#{{[0-9]}}
// ONE-NEXT: dist.transfer %[[ONE]]#{{[0-9]}}
// ONE-NEXT: call @part0.backward(
// ONE-NEXT: dist.transfer
// ONE-NEXT: call @part1.pass2(

// 1F1B. What the first stage sends of a microbatch is waited for in its backward phase, so that the second may be behind; what the
// second sends, behind what it does next.
// EXEC: exec.program @class0 ranks 0 to 1 schedule [#exec.entry<@part0.begin, forward>,
// EXEC-SAME: #exec.repeat<2 times [#exec.entry<@part0.forward, forward, microbatch 0 step [1], frames [ports 0 step [1] of 4, activations 0 step [1] of 2, communication 0 step [1] of 2]>]>,
// EXEC-SAME: #exec.repeat<2 times [#exec.entry<@part0.backward, backward, microbatch 0 step [1], frames [ports 0 step [1] of 4, activations 0 step [1] of 2, communication 0 step [1] of 2]>,
// EXEC-SAME: #exec.entry<@part0.forward, forward, microbatch 2 step [1], frames [ports 2 step [1] of 4, activations 0 step [1] of 2, communication 0 step [1] of 2]>]>,
// EXEC-SAME: #exec.repeat<2 times [#exec.entry<@part0.backward, backward, microbatch 2 step [1],
// EXEC-SAME: #exec.entry<@part0.update, forward>, #exec.entry<@part0.update1, forward>]
// EXEC: arena communication 128 align 64 frames 2
// EXEC: segment @part0.forward
// EXEC: send
// EXEC-SAME: async <communication, [[TOKEN:[0-9]+]]>
// EXEC-NOT: wait
// EXEC: segment @part0.backward
// EXEC: receive
// EXEC: wait [[TOKEN]]
// EXEC: segment @part0.update
// EXEC: exec.program @class1 ranks 1 to 2 schedule [#exec.entry<@part1.begin, forward>,
// EXEC-SAME: #exec.repeat<2 times [#exec.entry<@part1.microbatch, forward, microbatch 0 step [1], frames [ports 0 step [1] of 4, communication 0 step [1] of 2]>]>,
// EXEC-SAME: #exec.repeat<2 times [#exec.entry<@part1.sent, backward, microbatch 0 step [1], frames [communication 0 step [1] of 2]>,
// EXEC-SAME: #exec.entry<@part1.microbatch, forward, microbatch 2 step [1]
// EXEC: segment @part1.microbatch
// EXEC: send tag 2
// EXEC-SAME: until @part1.sent
// EXEC-SAME: async <communication, [[BACK:[0-9]+]]>
// EXEC-NOT: wait
// EXEC: segment @part1.sent
// EXEC-NEXT: wait [[BACK]]

// Two meshes of two stages each, zb-v: a way down the meshes and back up. What the last mesh hands itself is sent to nobody, and lies where
// both stages find it; what each stage keeps of microbatches lies in frames of its own.

// RUN: weft-opt --mlir-print-debuginfo '--weft-train-pipeline=training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.1 } parameters: "u" parameters: "v" parameters: "w" pipeline: "zb-v"}' %s -o %t.mlir
// RUN: weft-opt --weft-split-microbatches=microbatches=4 --weft-apply-plan="plan=%S/Inputs/pipeline-chunks.txtpb" --weft-propagate-shardings --weft-partition-pipeline %t.mlir -o %t.parts.mlir
// RUN: FileCheck %s --check-prefix=PARTS < %t.parts.mlir
// RUN: weft-opt --weft-kernel-pipeline --weft-select-pipeline --weft-exec-pipeline %t.parts.mlir | FileCheck %s

// PARTS: dist.mesh @mesh0
// PARTS-NEXT: dist.mesh @mesh1
// PARTS-NOT: @mesh2
// PARTS-LABEL: func.func @main
// PARTS: %[[A:.*]] = call @part0.forward(
// PARTS-NEXT: %[[TO1:.*]] = dist.transfer %[[A]] from <@mesh0, [{}, {}]> to <@mesh1, [{}, {}]>
// PARTS-NEXT: %[[B:.*]]:2 = call @part1.forward(%[[TO1]])
// PARTS-NEXT: %[[C:.*]]:2 = call @part2.forward(%[[B]]#0)
// PARTS-NEXT: dist.transfer %[[C]]#0 from <@mesh1, [{}, {}]> to <@mesh0, [{}, {}]>
// PARTS: %[[D:.*]] = call @part2.backward(
// PARTS-NEXT: call @part1.backward(%[[D]],

// CHECK: exec.program @class0 ranks 0 to 1
// CHECK-SAME: #exec.repeat<3 times [#exec.entry<@part0.forward, forward, microbatch 0 step [1], frames [ports 0 step [1] of 4, activations 0 step [1] of 4, communication 0 step [1] of 4]>]>,
// CHECK-SAME: #exec.entry<@part3.microbatch, forward, frames [ports 0 of 4, activations 0 of 1 behind 4, communication 0 of 4]>,
// CHECK-SAME: #exec.entry<@part3.weights, weight, frames [ports 0 of 4, activations 0 of 1 behind 4, communication 0 of 4]>,
// CHECK-SAME: #exec.entry<@part3.sent, backward, frames [communication 0 of 4]>,
// CHECK: arena activations {{[0-9]+}} align {{[0-9]+}} frames 4
// CHECK-NEXT: arena activations {{[0-9]+}} align 64 behind 4
// CHECK: exec.program @class1 ranks 1 to 2
// CHECK-SAME: #exec.repeat<2 times [#exec.entry<@part1.forward, forward, microbatch 0 step [1]
// CHECK-SAME: #exec.entry<@part2.forward, forward, microbatch 0 step [1]
// CHECK: segment @part1.forward
// CHECK-NEXT: receive tag 1
// CHECK: launch {{.*}} to [#exec.operand<communication, [[AT:[0-9]+]], f32 [1, 32]
// CHECK-NEXT: }
// CHECK-NEXT: segment @part2.forward
// CHECK-NEXT: launch {{.*}} [#exec.operand<communication, [[AT]], f32 [1, 32] value {{[0-9]+}}>] to

weft.weight @u : tensor<16x32xf32> = #weft.external<"w.bin", 0, 2048>
weft.weight @v : tensor<32x32xf32> = #weft.external<"w.bin", 2048, 4096>
weft.weight @w : tensor<32x8xf32> = #weft.external<"w.bin", 6144, 1024>
func.func @main(%x: tensor<4x16xf32> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %u = weft.load @u : tensor<16x32xf32>
  %0 = weft.dot_general %x, %u batch [] x [] contract [1] x [0]
      : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  %a = weft.tanh %0 : tensor<4x32xf32> loc("a")
  %v = weft.load @v : tensor<32x32xf32>
  %1 = weft.dot_general %a, %v batch [] x [] contract [1] x [0]
      : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
  %b = weft.tanh %1 : tensor<4x32xf32> loc("b")
  %c = weft.exp %b : tensor<4x32xf32> loc("c")
  %w = weft.load @w : tensor<32x8xf32>
  %y = weft.dot_general %c, %w batch [] x [] contract [1] x [0]
      : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32> loc("y")
  %q = weft.mul %y, %y : tensor<4x8xf32>
  %l = weft.reduce sum %q dims [0, 1] : tensor<4x8xf32> -> tensor<f32> loc("loss")
  return %l : tensor<f32>
}

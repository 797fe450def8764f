// Gradients of weights that are put off: the product of @v's is, the sum of @b's is done at once, since it is less than what it is made
// of. In 1F1B nothing is put off.

// RUN: weft-opt --mlir-print-debuginfo '--weft-train-pipeline=training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.1 } parameters: "u" parameters: "v" parameters: "b" pipeline: "zb-h1"}' %s -o %t.mlir
// RUN: weft-opt --weft-split-microbatches=microbatches=4 --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-partition-pipeline %t.mlir | FileCheck %s
// RUN: weft-opt --mlir-print-debuginfo '--weft-train-pipeline=training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.1 } parameters: "u" parameters: "v" parameters: "b"}' %s -o %t.one.mlir
// RUN: weft-opt --weft-split-microbatches=microbatches=4 --weft-apply-plan="mesh=data=1 cuts=h" --weft-propagate-shardings --weft-partition-pipeline %t.one.mlir | FileCheck %s --check-prefix=TOGETHER

// CHECK-LABEL: func.func @part1.weights(
// CHECK: weft.dot_general {{.*}} -> tensor<32x8xf32>
// CHECK-NOT: weft.reduce
// CHECK: return
// CHECK-LABEL: func.func @part1.microbatch(
// CHECK: weft.reduce sum {{.*}} dims [0] : tensor<2x8xf32> -> tensor<8xf32>
// CHECK-NEXT: weft.load @accumulate.{{[0-9]+}}.part1.microbatch : tensor<8xf32>

// TOGETHER-NOT: weights(

weft.weight @u : tensor<16x32xf32> = #weft.external<"w.bin", 0, 2048>
weft.weight @v : tensor<32x8xf32> = #weft.external<"w.bin", 2048, 1024>
weft.weight @b : tensor<8xf32> = #weft.external<"w.bin", 3072, 32>
func.func @main(%x: tensor<8x16xf32> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %u = weft.load @u : tensor<16x32xf32>
  %0 = weft.dot_general %x, %u batch [] x [] contract [1] x [0]
      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %h = weft.tanh %0 : tensor<8x32xf32> loc("h")
  %v = weft.load @v : tensor<32x8xf32>
  %1 = weft.dot_general %h, %v batch [] x [] contract [1] x [0]
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %b = weft.load @b : tensor<8xf32>
  %2 = weft.broadcast %b dims [1] : tensor<8xf32> to tensor<8x8xf32>
  %y = weft.add %1, %2 : tensor<8x8xf32> loc("y")
  %q = weft.mul %y, %y : tensor<8x8xf32>
  %l = weft.reduce sum %q dims [0, 1] : tensor<8x8xf32> -> tensor<f32> loc("loss")
  return %l : tensor<f32>
}

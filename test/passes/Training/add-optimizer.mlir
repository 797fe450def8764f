// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 }}' | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: ADAMW learning_rate: 0.5 beta1: 0.75 beta2: 0.5 epsilon: 0.25 weight_decay: 0.125 no_decay: "b" }}' | FileCheck %s --check-prefixes=CHECK,ADAMW
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: ADAFACTOR learning_rate: 0.5 }}' | FileCheck %s --check-prefix=ADAFACTOR
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 clip_norm: 2 }}' | FileCheck %s --check-prefix=CLIP
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 } accumulate: 4 optimizer_sharding: 2 recompute: FULL}' | FileCheck %s --check-prefix=NOTED

// What later phases know of the step.
// CHECK: weft.training = {loss = "loss", microbatches = 1 : i64, optimizer_sharding = 0 : i64, parameters = ["w", "b"], recompute = "none"}
// NOTED: weft.training = {loss = "loss", microbatches = 4 : i64, optimizer_sharding = 2 : i64, parameters = ["w", "b"], recompute = "full"}

weft.weight kind(trained) @w : tensor<4x8xf32> = dense<1.0> : tensor<4x8xf32>
weft.weight kind(trained) @b : tensor<8xbf16> = dense<1.0> : tensor<8xbf16>

// CHECK: weft.weight kind(state) @optimizer.step : tensor<i64> = dense<0>
// ADAMW: weft.weight kind(state) @"optimizer.m:w" : tensor<4x8xf32> = dense<0.000000e+00>
// ADAMW: weft.weight kind(state) @"optimizer.v:w" : tensor<4x8xf32> = dense<0.000000e+00>
// CHECK: weft.weight kind(state) @"optimizer.master:b" : tensor<8xf32> = dense<0.000000e+00>
// ADAMW: weft.weight kind(state) @"optimizer.m:b" : tensor<8xf32>
// ADAFACTOR: weft.weight kind(state) @"optimizer.row:w" : tensor<4xf32>
// ADAFACTOR: weft.weight kind(state) @"optimizer.column:w" : tensor<8xf32>
// ADAFACTOR: weft.weight kind(state) @"optimizer.v:b" : tensor<8xf32>

// Gradients are of f32 where the weight is narrower.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<4x8xf32> {weft.name = "grad:w", weft.role = "gradient"}
// CHECK-SAME: tensor<8xf32> {weft.name = "grad:b", weft.role = "gradient"}
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xbf16>, %z: tensor<f32>)
    -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<4x8xf32> {weft.name = "grad:w", weft.role = "gradient"},
        tensor<8xbf16> {weft.name = "grad:b", weft.role = "gradient"}) {
  // CHECK: %[[WIDE:.*]] = weft.cast %{{.*}} : tensor<8xbf16> to tensor<8xf32>
  // CLIP: %[[W:.*]] = weft.reduce sum %{{.*}} dims [0, 1]
  // CLIP: %[[B:.*]] = weft.reduce sum %{{.*}} dims [0]
  // CLIP: %[[SUM:.*]] = weft.add %[[W]], %[[B]]
  // CLIP: %[[NORM:.*]] = weft.sqrt %[[SUM]]
  // CLIP: weft.div
  // CLIP: weft.min

  // CHECK: %[[DONE:.*]] = weft.load @optimizer.step
  // CHECK: %[[STEP:.*]] = weft.add %[[DONE]]
  // CHECK: weft.store @optimizer.step, %[[STEP]]

  // SGD: %[[OLD:.*]] = weft.load @w
  // SGD: %[[NEW:.*]] = weft.sub %[[OLD]]
  // SGD: weft.store @w, %[[NEW]]

  // What is not decayed is loaded and moved alone.
  // ADAMW: %[[LOADED:.*]] = weft.load @w
  // ADAMW: %[[DECAYED:.*]] = weft.mul %[[LOADED]]
  // ADAMW: %[[MOVED:.*]] = weft.sub %[[DECAYED]]
  // ADAMW: weft.store @w, %[[MOVED]]
  // ADAMW: weft.store @"optimizer.m:w"
  // ADAMW: weft.store @"optimizer.v:w"

  // The wide copy is the weight itself before the first step, and what the weight is rounded from.
  // CHECK: %[[NARROW:.*]] = weft.load @b
  // CHECK: %[[FIRST:.*]] = weft.cast %[[NARROW]] : tensor<8xbf16> to tensor<8xf32>
  // CHECK: %[[COPY:.*]] = weft.load @"optimizer.master:b"
  // CHECK: %[[MASTER:.*]] = weft.select %{{.*}}, %[[FIRST]], %[[COPY]]
  // CHECK: %[[NEXT:.*]] = weft.sub %[[MASTER]]
  // CHECK: %[[ROUNDED:.*]] = weft.cast %[[NEXT]] : tensor<8xf32> to tensor<8xbf16>
  // CHECK: weft.store @b, %[[ROUNDED]]
  // CHECK: weft.store @"optimizer.master:b", %[[NEXT]]
  // CHECK: return %{{.*}}, %{{.*}}, %[[WIDE]]
  return %z, %x, %y : tensor<f32>, tensor<4x8xf32>, tensor<8xbf16>
}

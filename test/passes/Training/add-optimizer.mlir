// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 }}' | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: ADAMW learning_rate: 0.5 beta1: 0.75 beta2: 0.5 epsilon: 0.25 weight_decay: 0.125 no_decay: "b" }}' | FileCheck %s --check-prefixes=CHECK,ADAMW
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: ADAFACTOR learning_rate: 0.5 }}' | FileCheck %s --check-prefix=ADAFACTOR
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 clip_norm: 2 }}' | FileCheck %s --check-prefix=CLIP
// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 } accumulate: 4 optimizer_sharding: 2 recompute: FULL}' | FileCheck %s --check-prefix=NOTED

// What later phases know of the step.
// CHECK: weft.training = {loss = "loss", microbatches = 1 : i64, optimizer_sharding = 0 : i64, parameters = ["w", "b"], recompute = "none"}
// NOTED: weft.training = {loss = "loss", microbatches = 4 : i64, optimizer_sharding = 2 : i64, parameters = ["w", "b"], recompute = "full"}

// An update is one function of scalars for all parameters of the same types. The wide copy is the weight itself before the first step,
// and what the weight is rounded from; what is not decayed is moved alone.
// SGD: func.func private @update_0(%[[NARROW:.*]]: tensor<bf16>, %[[G:.*]]: tensor<f32>, %[[COPY:.*]]: tensor<f32>, %[[FIRST:.*]]: tensor<i1>, %{{.*}}) -> (tensor<f32>, tensor<bf16>)
// SGD: %[[WIDE:.*]] = weft.cast %[[NARROW]] : tensor<bf16> to tensor<f32>
// SGD: %[[MASTER:.*]] = weft.select %[[FIRST]], %[[WIDE]], %[[COPY]]
// SGD: %[[NEXT:.*]] = weft.sub %[[MASTER]]
// SGD: %[[ROUNDED:.*]] = weft.cast %[[NEXT]] : tensor<f32> to tensor<bf16>
// SGD: return %[[NEXT]], %[[ROUNDED]]
// ADAMW: func.func private @update_undecayed(
// ADAMW: func.func private @update(%[[X:[^:]*]]: tensor<f32>
// ADAMW: %[[DECAYED:.*]] = weft.mul %[[X]]
// ADAMW: weft.sub %[[DECAYED]]
// ADAFACTOR-NOT: func.func private

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
  // SGD: %[[NEW:.*]] = weft.map @update(%[[OLD]], %arg0, %{{.*}})
  // SGD: weft.store @w, %[[NEW]]

  // ADAMW: %[[LOADED:.*]] = weft.load @w
  // ADAMW: %[[M:.*]] = weft.load @"optimizer.m:w"
  // ADAMW: %[[V:.*]] = weft.load @"optimizer.v:w"
  // ADAMW: %[[MOVED:.*]]:3 = weft.map @update(%[[LOADED]], %arg0, %[[M]], %[[V]], %{{.*}})
  // ADAMW: weft.store @"optimizer.m:w", %[[MOVED]]#0
  // ADAMW: weft.store @"optimizer.v:w", %[[MOVED]]#1
  // ADAMW: weft.store @w, %[[MOVED]]#2

  // CHECK: %[[NARROW:.*]] = weft.load @b
  // CHECK: %[[COPY:.*]] = weft.load @"optimizer.master:b"
  // SGD: %[[BOTH:.*]]:2 = weft.map @update_0(%[[NARROW]], %[[WIDE]], %[[COPY]], %{{.*}})
  // ADAMW: %[[BOTH:.*]]:4 = weft.map @update_undecayed(%[[NARROW]], %[[WIDE]], %[[COPY]], %{{.*}})
  // SGD: weft.store @"optimizer.master:b", %[[BOTH]]#0
  // SGD: weft.store @b, %[[BOTH]]#1

  // What looks at a whole parameter at once is written out for each.
  // ADAFACTOR: %[[NARROW:.*]] = weft.load @b
  // ADAFACTOR: %[[COPY:.*]] = weft.load @"optimizer.master:b"
  // ADAFACTOR: %[[LONG:.*]] = weft.cast %[[NARROW]] : tensor<8xbf16> to tensor<8xf32>
  // ADAFACTOR: %[[MASTER:.*]] = weft.select %{{.*}}, %[[LONG]], %[[COPY]]
  // ADAFACTOR: %[[NEXT:.*]] = weft.sub %[[MASTER]]
  // ADAFACTOR: %[[ROUNDED:.*]] = weft.cast %[[NEXT]] : tensor<8xf32> to tensor<8xbf16>
  // ADAFACTOR: weft.store @"optimizer.master:b", %[[NEXT]]
  // ADAFACTOR: weft.store @b, %[[ROUNDED]]
  // CHECK: return %{{.*}}, %{{.*}}, %[[WIDE]]
  return %z, %x, %y : tensor<f32>, tensor<4x8xf32>, tensor<8xbf16>
}

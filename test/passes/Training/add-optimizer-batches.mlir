// RUN: weft-opt %s --weft-train-pipeline='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 } accumulate_batches: 4 seed: 0}' | FileCheck %s

// A step takes four batches of the model: the loss is the mean of theirs, and gradients are those of it, both summed up over the batches;
// the model's own state goes from one batch to the next, the optimizer's does not.
// CHECK: weft.training = {batches = 4 : i64, {{.*}}microbatches = 4 : i64
// CHECK: weft.weight kind(state) @seen : tensor<f32> = dense<0.000000e+00> : tensor<f32> {weft.each_microbatch}
// CHECK: weft.weight kind(state) @optimizer.step : tensor<i64> = dense<0> : tensor<i64>{{$}}
weft.weight @w : tensor<8xbf16> = dense<1.0> : tensor<8xbf16>
weft.weight kind(state) @seen : tensor<f32> = dense<0.0> : tensor<f32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xbf16> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss"}) {
  // CHECK: %[[QUARTER:.*]] = weft.constant dense<2.500000e-01>
  // CHECK: %[[OWN:.*]] = weft.reduce sum
  // CHECK: %[[PART:.*]] = weft.mul %[[OWN]], %[[QUARTER]]
  // CHECK: %[[LOSS:.*]] = dist.accumulate %[[PART]] : tensor<f32> to tensor<f32>
  // CHECK: %[[WIDE:.*]] = weft.cast %{{.*}} : tensor<8xbf16> to tensor<8xf32>
  // CHECK: %[[GRADIENT:.*]] = dist.accumulate %[[WIDE]] : tensor<8xf32> to tensor<8xf32>
  // CHECK: weft.store @w
  // CHECK: return %[[LOSS]], %[[GRADIENT]]
  %w = weft.load @w : tensor<8xbf16>
  %b = weft.broadcast %w dims [1] : tensor<8xbf16> to tensor<4x8xbf16>
  %y = weft.mul %x, %b : tensor<4x8xbf16>
  %f = weft.cast %y : tensor<4x8xbf16> to tensor<4x8xf32>
  %l = weft.reduce sum %f dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %seen = weft.load @seen : tensor<f32>
  %more = weft.add %seen, %l : tensor<f32>
  weft.store @seen, %more : tensor<f32>
  return %l : tensor<f32>
}

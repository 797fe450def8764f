// RUN: weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 }}' | FileCheck %s
// RUN: sed 's/kind(state) @optimizer.scale/kind(constant) @optimizer.scale/' %s | weft-opt --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD learning_rate: 0.5 }}' | FileCheck %s --check-prefix=STATIC
// RUN: not weft-opt %s --weft-add-optimizer='training={loss { value: "loss" } optimizer { kind: SGD momentum: 0.5 }}' 2>&1 | FileCheck %s --check-prefix=TAKEN

// TAKEN: the model has a weight 'optimizer.m:w' already, which a state of the optimizer is called
weft.weight @"optimizer.m:w" : tensor<8xf32> = dense<1.0> : tensor<8xf32>

weft.weight kind(trained) @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
weft.weight kind(state) @optimizer.scale : tensor<f32> = dense<8.0> : tensor<f32>

// CHECK: func.func private @update(%[[OLD:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[GOOD:.*]]: tensor<i1>)
// CHECK: %[[NEW:.*]] = weft.sub %[[OLD]]
// CHECK: %[[KEPT:.*]] = weft.select %[[GOOD]], %[[NEW]], %[[OLD]]
// CHECK: return %[[KEPT]]
// CHECK-LABEL: func.func @main
// STATIC-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>, %z: tensor<f32>)
    -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<8xf32> {weft.name = "grad:w", weft.role = "gradient"}) {
  // The gradient is divided by the scale, and the step counts where nothing is infinite or no number.
  // CHECK: %[[SCALE:.*]] = weft.load @optimizer.scale
  // CHECK: %[[INVERSE:.*]] = weft.reciprocal %[[SCALE]]
  // CHECK: weft.is_inf
  // CHECK: weft.is_nan
  // CHECK: %[[STRAYS:.*]] = weft.reduce sum
  // CHECK: %[[ROWS:.*]] = weft.broadcast %[[INVERSE]]
  // CHECK: %[[GRADIENT:.*]] = weft.mul %{{.*}}, %[[ROWS]]
  // CHECK: %[[GOOD:.*]] = weft.compare eq %[[STRAYS]]
  // CHECK: %[[NEXT:.*]] = weft.select %[[GOOD]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>
  // CHECK: weft.store @optimizer.scale_steps
  // CHECK: weft.store @optimizer.scale, %[[NEXT]]
  // CHECK: %[[STEP:.*]] = weft.select %[[GOOD]]
  // CHECK: weft.store @optimizer.step, %[[STEP]]
  // CHECK: %[[OLD:.*]] = weft.load @w
  // CHECK: %[[KEPT:.*]] = weft.map @update(%[[OLD]], %[[GRADIENT]], %{{.*}}, %[[GOOD]])
  // CHECK: weft.store @w, %[[KEPT]]
  // CHECK: return %{{.*}}, %[[GRADIENT]]

  // STATIC: weft.reciprocal
  // STATIC-NOT: weft.store @optimizer.scale
  // STATIC: weft.store @w
  return %z, %x : tensor<f32>, tensor<8xf32>
}

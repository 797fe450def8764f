// RUN: weft-opt %s --weft-add-loss='training={loss { kind: CROSS_ENTROPY value: "logits" labels: "labels" ignore_index: -100 class_axis: -1 }}' | FileCheck %s --check-prefixes=CHECK,CLASSES
// RUN: weft-opt %s --weft-add-loss='training={loss { kind: MSE value: "logits" labels: "targets" }}' | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: weft-opt %s --weft-add-loss='training={loss { kind: BCE value: "hidden" labels: "targets" }}' | FileCheck %s --check-prefix=BCE
// RUN: weft-opt %s --weft-add-loss='training={loss { kind: OUTPUT value: "mean" }}' | FileCheck %s --check-prefix=OUTPUT
// RUN: weft-opt %s --weft-add-loss='training={loss { kind: OUTPUT value: "mean" } loss_scale { value: 8 }}' | FileCheck %s --check-prefix=SCALE
// RUN: weft-opt %s --weft-add-loss='training={loss { kind: OUTPUT value: "mean" } loss_scale { value: 8 dynamic: true }}' | FileCheck %s --check-prefix=DYNAMIC

// SCALE: weft.weight kind(constant) @optimizer.scale : tensor<f32> = dense<8.000000e+00>
// DYNAMIC: weft.weight kind(state) @optimizer.scale : tensor<f32> = dense<8.000000e+00>

// CHECK-LABEL: func.func @main
// CLASSES-SAME: %[[LABELS:arg[0-9]*]]: tensor<4xi64> {weft.name = "labels"}
// MSE-SAME: %[[TARGETS:arg[0-9]*]]: tensor<4x8xf32> {weft.name = "targets"}
// CHECK-SAME: tensor<f32> {weft.name = "loss", weft.role = "loss"}
func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}) -> (tensor<4x8xf32> {weft.name = "logits"}, tensor<1xf32> {weft.name = "mean"}) {
  %0 = weft.tanh %x : tensor<4x8xf32> loc("hidden")
  // CHECK: %[[LOGITS:.*]] = weft.exp
  %1 = weft.exp %0 : tensor<4x8xf32>
  %2 = weft.reduce sum %1 dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  // CHECK: %[[MEAN:.*]] = weft.reshape
  %3 = weft.reshape %2 : tensor<f32> to tensor<1xf32>

  // Logits are reduced by rows alone, and labels that count are looked up where all classes are.
  // CLASSES: %[[COUNTS:.*]] = weft.compare ne %[[LABELS]]
  // CLASSES: %[[SAFE:.*]] = weft.select %[[COUNTS]], %[[LABELS]]
  // CLASSES: %[[MAX:.*]] = weft.reduce max %[[LOGITS]] dims [1]
  // CLASSES: %[[HELD:.*]] = weft.stop_gradient %[[MAX]]
  // CLASSES: %[[ROWS:.*]] = weft.broadcast %[[HELD]]
  // CLASSES: %[[SHIFTED:.*]] = weft.sub %[[LOGITS]], %[[ROWS]]
  // CLASSES: %[[EXP:.*]] = weft.exp %[[SHIFTED]]
  // CLASSES: weft.reduce sum %[[EXP]] dims [1]
  // CLASSES: %[[CLASSES:.*]] = weft.iota 1 : tensor<4x8xi64>
  // CLASSES: %[[CHOSEN:.*]] = weft.compare eq %[[CLASSES]]
  // CLASSES: %[[ONE:.*]] = weft.select %[[CHOSEN]], %[[SHIFTED]]
  // CLASSES: weft.reduce sum %[[ONE]] dims [1]
  // CLASSES: %[[BITS:.*]] = weft.cast %[[SAFE]] : tensor<4xi64> to tensor<4xui64>
  // CLASSES: %[[FOUND:.*]] = weft.gather %{{.*}}, %[[BITS]] axis 0 : (tensor<8xf32>, tensor<4xui64>)
  // CLASSES: %[[WEIGHTS:.*]] = weft.select %[[COUNTS]], %[[FOUND]]
  // CLASSES: %[[COUNT:.*]] = weft.reduce sum %[[WEIGHTS]] dims [0]
  // CLASSES: weft.div %{{.*}}, %[[COUNT]]

  // MSE: %[[DIFFERENCE:.*]] = weft.sub %[[LOGITS]], %[[TARGETS]]
  // MSE: %[[SQUARE:.*]] = weft.mul %[[DIFFERENCE]], %[[DIFFERENCE]]
  // MSE: weft.reduce sum %[[SQUARE]] dims [0, 1]
  // MSE: weft.constant dense<3.125000e-02>

  // BCE: %[[HIDDEN:.*]] = weft.tanh
  // BCE: weft.max %[[HIDDEN]]
  // BCE: weft.log1p

  // OUTPUT: %[[LOSS:.*]] = weft.reshape %{{.*}} : tensor<1xf32> to tensor<f32>
  // OUTPUT: return %{{.*}}, %{{.*}}, %[[LOSS]]
  return %1, %3 : tensor<4x8xf32>, tensor<1xf32>
}

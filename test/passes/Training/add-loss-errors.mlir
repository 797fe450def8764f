// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: MSE value: "logit" labels: "targets" }}' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: the model has no output and no value 'logit', did you mean 'logits'?
// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: MSE value: "logits" labels: "x" }}' 2>&1 | FileCheck %s --check-prefix=LABELS
// LABELS: the model has an input 'x' already; name the labels otherwise
// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: OUTPUT value: "logits" }}' 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: expected a loss of one float, 'logits' is 'tensor<4x8xf32>'
// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: MSE value: "ids" labels: "targets" }}' 2>&1 | FileCheck %s --check-prefix=FLOATS
// FLOATS: expected floats to make a loss of, 'ids' is 'tensor<4xi64>'
// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: CROSS_ENTROPY value: "logits" labels: "labels" class_axis: 2 }}' 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: expected a class axis within [-2, 2) of 'logits', which is 'tensor<4x8xf32>', got: 2
// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: BCE value: "inner" labels: "targets" }}' 2>&1 | FileCheck %s --check-prefix=FUSED
// FUSED: 'inner' was fused into 'logits', so that no loss can be made of it
// RUN: not weft-opt %s --weft-add-loss='training={loss { kind: BCE value: "logits" }}' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: expected a name for the labels
// RUN: not weft-opt %s --weft-add-loss='training={loss { kinds: BCE }}' 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: malformed training of the option:1:13: {{.*}}kinds

func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}, %ids: tensor<4xi64> {weft.name = "ids"}) -> (tensor<4x8xf32> {weft.name = "logits"}) {
  %0 = weft.gelu erf %x : tensor<4x8xf32> loc(fused["logits", "inner"])
  return %0 : tensor<4x8xf32>
}

// RUN: weft plan %s --cluster %S/Inputs/ratios.txtpb -o %t.txtpb | FileCheck %s --check-prefix=ALL
// RUN: weft plan %s --cluster %S/Inputs/ratios.txtpb --train adamw --loss mse --logits y --labels z -o %t.txtpb | FileCheck %s
// RUN: %python %S/../../tools/Inputs/exits.py 3 weft compile %s --cluster %S/Inputs/ratios.txtpb --no-codegen --dump-ir-after plan -o %t.weft | FileCheck %s --check-prefix=PLANNED
// RUN: %python %S/../../tools/Inputs/exits.py 3 weft compile %s --mesh data=2 --no-codegen --dump-ir-after plan -o %t.weft | FileCheck %s --check-prefix=ANYWHERE

// By whose times instructions are ordered.
// PLANNED: module attributes {weft.cluster = "{{.*}}ratios.txtpb"}
// ANYWHERE: module {

// A small model and a large batch: of all meshes of the cluster that of the batch alone, which takes no collective, and to
// train those of the gradients, split for the optimizer.

// ALL: mesh: 8 devices
// ALL-NEXT: data=8 over link: {{.*}}; no collectives
// ALL: collectives: none

// CHECK: x {{ *}}[{"data"}, {}]
// CHECK: mesh: 8 devices
// CHECK-NEXT: data=8 over link
// CHECK: collectives a step:
// CHECK: all_gather over data {{ *}}128.0 KiB
// CHECK: reduce_scatter over data {{ *}}128.0 KiB
weft.weight @up : tensor<64x256xf32> = #weft.external<"f", 0, 65536>
weft.weight @down : tensor<256x64xf32> = #weft.external<"f", 65536, 65536>
func.func @main(%x: tensor<4096x64xf32> {weft.name = "x"}) -> (tensor<4096x64xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<64x256xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<4096x64xf32>, tensor<64x256xf32>) -> tensor<4096x256xf32> loc("up")
  %1 = weft.gelu tanh %0 : tensor<4096x256xf32>
  %down = weft.load @down : tensor<256x64xf32>
  %2 = weft.dot_general %1, %down batch [] x [] contract [1] x [0] : (tensor<4096x256xf32>, tensor<256x64xf32>) -> tensor<4096x64xf32> loc("down")
  return %2 : tensor<4096x64xf32>
}

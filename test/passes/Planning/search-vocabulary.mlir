// RUN: weft plan %s --mesh model=2 --cluster %S/Inputs/ratios.txtpb --train adamw --loss cross_entropy --logits logits --labels labels -o %t.txtpb | FileCheck %s
// RUN: weft explain %t.txtpb | FileCheck %s --check-prefix=VALUES

// A table that is embedding and projection: its words are split for both, the logits and their exponentials are never whole,
// and of the loss a sum and a maximum of each position are joined.

// CHECK: weight:table {{ *}}[{"model"}, {}]
// CHECK: weight:up {{ *}}[{}, {"model"}]
// CHECK: weight:down {{ *}}[{"model"}, {}]
// CHECK: weight:optimizer.m:table {{ *}}[{"model"}, {}]

// VALUES: head {{ *}}tensor<2x64x8192xf32> {{ *}}[{}, {}, {"model"}]
// VALUES: loss/exp {{ *}}tensor<2x64x8192xf32> {{ *}}[{}, {}, {"model"}]
// VALUES: grad:embedding {{ *}}tensor<{{.*}}x256xf32>
weft.weight @table : tensor<8192x256xf32> = #weft.external<"f", 0, 8388608>
weft.weight @up : tensor<256x1024xf32> = #weft.external<"f", 0, 1048576>
weft.weight @down : tensor<1024x256xf32> = #weft.external<"f", 0, 1048576>
func.func @main(%ids: tensor<2x64xi64> {weft.name = "ids"}) -> (tensor<2x64x8192xf32> {weft.name = "logits"}) {
  %table = weft.load @table : tensor<8192x256xf32>
  %0 = weft.gather %table, %ids axis 0 : (tensor<8192x256xf32>, tensor<2x64xi64>) -> tensor<2x64x256xf32> loc("embedding")
  %up = weft.load @up : tensor<256x1024xf32>
  %1 = weft.dot_general %0, %up batch [] x [] contract [2] x [0] : (tensor<2x64x256xf32>, tensor<256x1024xf32>) -> tensor<2x64x1024xf32> loc("up")
  %2 = weft.gelu tanh %1 : tensor<2x64x1024xf32>
  %down = weft.load @down : tensor<1024x256xf32>
  %3 = weft.dot_general %2, %down batch [] x [] contract [2] x [0] : (tensor<2x64x1024xf32>, tensor<1024x256xf32>) -> tensor<2x64x256xf32> loc("down")
  %4 = weft.add %0, %3 : tensor<2x64x256xf32>
  %again = weft.load @table : tensor<8192x256xf32>
  %head = weft.transpose %again [1, 0] : tensor<8192x256xf32> -> tensor<256x8192xf32>
  %5 = weft.dot_general %4, %head batch [] x [] contract [2] x [0] : (tensor<2x64x256xf32>, tensor<256x8192xf32>) -> tensor<2x64x8192xf32> loc("head")
  return %5 : tensor<2x64x8192xf32>
}

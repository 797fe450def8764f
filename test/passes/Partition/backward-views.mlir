// What the forward pass makes of a part of a weight, which is exchanged, is not kept for the backward pass, which makes it again: though both
// load the weight as it lies.
// RUN: weft-opt %s --weft-plan-pipeline="mesh=model=2 shard=w=[{},{model}];part=[{},{model}];same=[{},{model}];y=[{},{model}];g=[{},{model}];dx=[{},{}]" --weft-partition-pipeline | FileCheck %s

// CHECK: %[[W:.*]] = dist.load_shard @w
// CHECK: dist.all_to_all
// CHECK: weft.reduce sum
// CHECK: %[[AGAIN:.*]] = weft.barrier %[[W]]
// CHECK: weft.slice %[[AGAIN]]
weft.weight kind(trained) @w : tensor<8x4xf32> = dense<1.0> : tensor<8x4xf32>
func.func @main(%x: tensor<2x4xf32> {weft.name = "x"}, %g: tensor<2x4xf32> {weft.name = "g"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<2x4xf32> {weft.name = "grad:x"}) {
  %w = weft.load @w : tensor<8x4xf32> loc("w")
  %part = weft.slice %w starts [0, 0] strides [1, 1] : tensor<8x4xf32> to tensor<4x4xf32> loc("part")
  %y = weft.dot_general %x, %part batch [] x [] contract [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("y")
  %loss = weft.reduce sum %y dims [0, 1] : tensor<2x4xf32> -> tensor<f32> loc("loss")
  %again = weft.load @w : tensor<8x4xf32> loc("again")
  %same = weft.slice %again starts [0, 0] strides [1, 1] : tensor<8x4xf32> to tensor<4x4xf32> loc("same")
  %dx = weft.dot_general %g, %same batch [] x [] contract [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("dx")
  return %loss, %dx : tensor<f32>, tensor<2x4xf32>
}

// RUN: weft-opt %s --split-input-file --weft-partition | FileCheck %s

// Split by rows here, by columns there: each device of @a sends each of @b a quarter of its block.
dist.mesh @a <["data"=2]>
dist.mesh @b <["model"=4], first_device = 2>
func.func @part0(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>, weft.name = "x"}) -> tensor<8x8xf32> attributes {dist.mesh = @a} {
  %h = weft.exp %x {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>} : tensor<8x8xf32> loc("h")
  return %h : tensor<8x8xf32>
}
func.func @part1(%h: tensor<8x8xf32> {dist.sharding = #dist.sharding<@b, [{}, {"model"}]>, weft.name = "h"}, %x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@b, [{}, {"model"}]>, weft.name = "x"})
    -> (tensor<8x8xf32> {weft.name = "y"}) attributes {dist.mesh = @b} {
  %y = weft.add %h, %x {dist.sharding = #dist.sharding<@b, [{}, {"model"}]>} : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @main(%x: tensor<8x8xf32> {weft.name = "x"}) -> (tensor<8x8xf32> {weft.name = "y"}) {
  %0 = call @part0(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @part1(%0, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @part0
// CHECK-SAME: -> (tensor<4x8xf32> {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>, weft.global_type = tensor<8x8xf32>}) attributes {dist.mesh = @a}
// CHECK-NEXT: weft.exp
// CHECK-NEXT: return
// CHECK-LABEL: func.func @part1
// CHECK-NEXT: weft.add
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[XA:.*]]: tensor<4x8xf32> {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>, weft.global_type = tensor<8x8xf32>, weft.name = "x"},
// CHECK-SAME: %[[XB:.*]]: tensor<8x2xf32> {dist.sharding = #dist.sharding<@b, [{}, {"model"}]>, weft.global_type = tensor<8x8xf32>, weft.name = "x"})
// CHECK-SAME: -> (tensor<8x2xf32> {dist.sharding = #dist.sharding<@b, [{}, {"model"}]>, weft.global_type = tensor<8x8xf32>, weft.name = "y"})
// CHECK: %[[H:.*]] = call @part0(%[[XA]])
// CHECK: %[[T:.*]] = dist.transfer %[[H]] from <@a, [{"data"}, {}]> to <@b, [{}, {"model"}]> : tensor<4x8xf32> -> tensor<8x2xf32>
// CHECK: %[[Y:.*]] = call @part1(%[[T]], %[[XB]])
// CHECK: return %[[Y]]

// -----

// A block of 64 KiB that two devices are to hold whole arrives in halves and is gathered there; a smaller one is sent to both.
dist.mesh @a <[]>
dist.mesh @b <["model"=2], first_device = 1>
func.func @part0(%x: tensor<128x128xf32>, %s: tensor<8x8xf32>) -> (tensor<128x128xf32>, tensor<8x8xf32>) attributes {dist.mesh = @a} {
  %h = weft.exp %x : tensor<128x128xf32>
  %t = weft.exp %s : tensor<8x8xf32>
  return %h, %t : tensor<128x128xf32>, tensor<8x8xf32>
}
func.func @part1(%h: tensor<128x128xf32>, %s: tensor<8x8xf32>) -> (tensor<128x128xf32>, tensor<8x8xf32>) attributes {dist.mesh = @b} {
  %y = weft.tanh %h {dist.sharding = #dist.sharding<@b, [{}, {}]>} : tensor<128x128xf32>
  %z = weft.tanh %s {dist.sharding = #dist.sharding<@b, [{}, {}]>} : tensor<8x8xf32>
  return %y, %z : tensor<128x128xf32>, tensor<8x8xf32>
}
func.func @main(%x: tensor<128x128xf32> {weft.name = "x"}, %s: tensor<8x8xf32> {weft.name = "s"}) -> (tensor<128x128xf32>, tensor<8x8xf32>) {
  %0:2 = call @part0(%x, %s) : (tensor<128x128xf32>, tensor<8x8xf32>) -> (tensor<128x128xf32>, tensor<8x8xf32>)
  %1:2 = call @part1(%0#0, %0#1) : (tensor<128x128xf32>, tensor<8x8xf32>) -> (tensor<128x128xf32>, tensor<8x8xf32>)
  return %1#0, %1#1 : tensor<128x128xf32>, tensor<8x8xf32>
}
// CHECK-LABEL: func.func @part1
// CHECK-SAME: (%[[H:.*]]: tensor<64x128xf32> {dist.sharding = #dist.sharding<@b, [{"model"}, {}]>, weft.global_type = tensor<128x128xf32>}, %[[S:.*]]: tensor<8x8xf32>
// CHECK: %[[W:.*]] = dist.all_gather %[[H]] dim 0 axes ["model"] on @b : tensor<64x128xf32> -> tensor<128x128xf32>
// CHECK: weft.tanh %[[W]]
// CHECK: weft.tanh %[[S]]
// CHECK-LABEL: func.func @main
// CHECK: dist.transfer %{{.*}}#0 from <@a, [{}, {}]> to <@b, [{"model"}, {}]> : tensor<128x128xf32> -> tensor<64x128xf32>
// CHECK: dist.transfer %{{.*}}#1 from <@a, [{}, {}]> to <@b, [{}, {}]> : tensor<8x8xf32> -> tensor<8x8xf32>

// -----

// Devices that hold the same each send a part of it.
dist.mesh @a <["model"=2]>
dist.mesh @b <[], first_device = 2>
func.func @part0(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {dist.mesh = @a} {
  %h = weft.exp %x {dist.sharding = #dist.sharding<@a, [{}, {}]>} : tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}
func.func @part1(%h: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {dist.mesh = @b} {
  %y = weft.tanh %h : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @main(%x: tensor<8x8xf32> {weft.name = "x"}) -> tensor<8x8xf32> {
  %0 = call @part0(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @part1(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @part0
// CHECK: %[[H:.*]] = weft.exp
// CHECK: %[[S:.*]] = dist.slice %[[H]] dim 0 axes ["model"] on @a : tensor<8x8xf32> -> tensor<4x8xf32>
// CHECK: return %[[S]]
// CHECK-LABEL: func.func @main
// CHECK: dist.transfer %{{.*}} from <@a, [{"model"}, {}]> to <@b, [{}, {}]> : tensor<4x8xf32> -> tensor<8x8xf32>

// -----

// Blocks that do not pair are joined first.
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=3], first_device = 2>
func.func @part0(%x: tensor<6xf32>) -> tensor<6xf32> attributes {dist.mesh = @a} {
  %h = weft.exp %x {dist.sharding = #dist.sharding<@a, [{"x"}]>} : tensor<6xf32>
  return %h : tensor<6xf32>
}
func.func @part1(%h: tensor<6xf32> {dist.sharding = #dist.sharding<@b, [{"x"}]>}) -> tensor<6xf32> attributes {dist.mesh = @b} {
  %y = weft.tanh %h {dist.sharding = #dist.sharding<@b, [{"x"}]>} : tensor<6xf32>
  return %y : tensor<6xf32>
}
func.func @main(%x: tensor<6xf32> {weft.name = "x"}) -> tensor<6xf32> {
  %0 = call @part0(%x) : (tensor<6xf32>) -> tensor<6xf32>
  %1 = call @part1(%0) : (tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
// CHECK-LABEL: func.func @part0
// CHECK: dist.all_gather %{{.*}} dim 0 axes ["x"] on @a : tensor<3xf32> -> tensor<6xf32>
// CHECK-LABEL: func.func @main
// CHECK: dist.transfer %{{.*}} from <@a, [{}]> to <@b, [{"x"}]> : tensor<6xf32> -> tensor<2xf32>

// -----

// Three parts on two meshes: what stays on a mesh is handed over as it is, though the reader wants it otherwise.
dist.mesh @a <["data"=2]>
dist.mesh @b <["data"=2], first_device = 2>
func.func @part0(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@a, [{"data"}]>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.mesh = @a} {
  %h = weft.exp %x {dist.sharding = #dist.sharding<@a, [{"data"}]>} : tensor<4xf32>
  return %h, %h : tensor<4xf32>, tensor<4xf32>
}
func.func @part1(%h: tensor<4xf32> {dist.sharding = #dist.sharding<@b, [{"data"}]>}) -> tensor<4xf32> attributes {dist.mesh = @b} {
  %y = weft.tanh %h {dist.sharding = #dist.sharding<@b, [{"data"}]>} : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @part2(%y: tensor<4xf32> {dist.sharding = #dist.sharding<@a, [{"data"}]>}, %h: tensor<4xf32> {dist.sharding = #dist.sharding<@a, [{}]>}) -> tensor<4xf32> attributes {dist.mesh = @a} {
  %s = weft.add %y, %h {dist.sharding = #dist.sharding<@a, [{}]>} : tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
  %0:2 = call @part0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = call @part1(%0#0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @part2(%1, %0#1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK-LABEL: func.func @part2
// CHECK-SAME: %[[H:[^:]*]]: tensor<2xf32> {dist.sharding = #dist.sharding<@a, [{"data"}]>, weft.global_type = tensor<4xf32>}) ->
// CHECK: weft.add %{{.*}}, %[[H]] : tensor<2xf32>
// CHECK-LABEL: func.func @main
// CHECK: %[[FIRST:.*]]:2 = call @part0
// CHECK: %[[THERE:.*]] = dist.transfer %[[FIRST]]#0 from <@a, [{"data"}]> to <@b, [{"data"}]>
// CHECK: %[[SECOND:.*]] = call @part1(%[[THERE]])
// CHECK: %[[BACK:.*]] = dist.transfer %[[SECOND]] from <@b, [{"data"}]> to <@a, [{"data"}]>
// CHECK: call @part2(%[[BACK]], %[[FIRST]]#1)

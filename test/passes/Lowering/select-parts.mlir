// RUN: weft-opt %s --split-input-file --weft-partition --weft-form-kernels --weft-select-instructions | FileCheck %s

// Each part is a program for the ranks of its mesh. What is sent to several is packed first, each peer's piece by itself;
// what comes from several that divide rows lies in its place already.
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
// CHECK-LABEL: exec.mesh @a ["data"=2]
// CHECK-NEXT: exec.mesh @b ["model"=4] from 2
// CHECK: exec.program @class0 ranks 0 to 2 schedule [#exec.entry<@part0, forward>]
// CHECK: port input "x" [8, 8] split {{\[\[}}"data"], []] on @a
// CHECK: segment @part0
// CHECK-NEXT: launch {{.*}} to [#exec.operand<activations, 0, f32 [4, 8] value [[H:[0-9]+]]>]
// CHECK-NEXT: copy <activations, 0, f32 [4, 4, 2] strides [2, 8, 1] value [[H]]> to <communication, 0, f32 [4, 4, 2] value [[P:[0-9]+]]>
// CHECK-NEXT: send tag 1 <communication, 0, f32 [4, 4, 2] value [[P]]> to @b peer <0> steps [1] leaders [] priced <"h", 0 flops, 128 read, 0 written, "send n=4 bytes=128">
// CHECK: exec.program @class1 ranks 2 to 6 schedule [#exec.entry<@part1, forward>]
// CHECK: port input "x" [8, 8] split {{\[\[}}], ["model"]] on @b
// CHECK: port output "y" [8, 8] split {{\[\[}}], ["model"]] on @b
// CHECK: segment @part1
// CHECK-NEXT: receive tag 1 from @a peer <0> steps [1] into <communication, 0, f32 [2, 4, 2] value [[R:[0-9]+]]> priced <"h", 0 flops, 0 read, 64 written, "receive n=2 bytes=64">
// CHECK-NEXT: launch {{.*}} [#exec.operand<communication, 0, f32 [8, 2] value [[R]]>,
// CHECK-NOT: exec.program

// -----

// What two peers are sent alike lies once. Values are sent as soon as they are made, and receives stand first.
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
// CHECK-LABEL: exec.mesh @a []
// CHECK: segment @part0
// CHECK-NEXT: launch {{.*}} to [#exec.operand<communication, 0, f32 [128, 128] value [[H:[0-9]+]]>]
// CHECK-NEXT: send tag 1 <communication, 0, f32 [2, 64, 128] value [[H]]> to @b peer <0> steps [1]
// CHECK-NEXT: launch {{.*}} to [#exec.operand<communication, 0, f32 [8, 8] value [[S:[0-9]+]]>]
// CHECK-NEXT: send tag 2 <communication, 0, f32 [2, 8, 8] strides [0, 8, 1] value [[S]]> to @b peer <0> steps [1] leaders []
// CHECK: segment @part1
// CHECK-NEXT: receive tag 1 from @a peer <0> steps [] into <communication, 0, f32 [64, 128]
// CHECK-NEXT: receive tag 2 from @a peer <0> steps [] into <communication, 0, f32 [8, 8]
// CHECK-NEXT: collective all_gather

// -----

// Copies that send a part each: no copy is made to take it.
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
// CHECK-LABEL: exec.mesh @a ["model"=2]
// CHECK: segment @part0
// CHECK-NEXT: launch
// CHECK-NEXT: send tag 1 <communication, 0 + 128 * ["model"], f32 [4, 8] value {{[0-9]+}}> to @b peer <0> steps [] leaders []
// CHECK: segment @part1
// CHECK-NEXT: receive tag 1 from @a peer <0> steps [1] into <communication, 0, f32 [2, 4, 8]

// -----

// Of copies that cannot share, the first sends.
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
// CHECK-LABEL: exec.mesh @a ["x"=2]
// CHECK: send tag 1 <communication, 0, f32 [3, 2] value {{[0-9]+}}> to @b peer <0> steps [1] leaders ["x"] priced
// CHECK: receive tag 1 from @a peer <0> steps [] into <communication, 0, f32 [2]

// -----

// Two parts on one mesh are segments of one program; what the one leaves the other finds where it lies.
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
// CHECK-LABEL: exec.mesh @a ["data"=2]
// CHECK: exec.program @class0 ranks 0 to 2 schedule [#exec.entry<@part0, forward>, #exec.entry<@part2, forward>]
// CHECK: segment @part0
// CHECK-NEXT: launch {{.*}} to [#exec.operand<communication, 0, f32 [2] value [[H:[0-9]+]]>]
// CHECK-NEXT: send tag 1 <communication, 0, f32 [2] value [[H]]> to @b peer <0 + 1 * ["data"]> steps []
// CHECK: segment @part2
// CHECK-NEXT: receive tag 2 from @b peer <0 + 1 * ["data"]> steps []
// CHECK-NEXT: launch {{.*}} #exec.operand<communication, 0, f32 [2] value [[H]]>]
// CHECK: exec.program @class1 ranks 2 to 4 schedule [#exec.entry<@part1, forward>]
// CHECK: segment @part1
// CHECK-NEXT: receive tag 1
// CHECK-NEXT: launch
// CHECK-NEXT: send tag 2

// -----

// Columns from each of two peers are put in their places.
dist.mesh @a <["x"=2]>
dist.mesh @b <[], first_device = 2>
func.func @part0(%x: tensor<4x4xf32> {dist.sharding = #dist.sharding<@a, [{}, {"x"}]>}) -> tensor<4x4xf32> attributes {dist.mesh = @a} {
  %h = weft.exp %x {dist.sharding = #dist.sharding<@a, [{}, {"x"}]>} : tensor<4x4xf32>
  return %h : tensor<4x4xf32>
}
func.func @part1(%h: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dist.mesh = @b} {
  %y = weft.tanh %h : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32> {weft.name = "x"}) -> tensor<4x4xf32> {
  %0 = call @part0(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @part1(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
// CHECK-LABEL: exec.mesh @a ["x"=2]
// CHECK: send tag 1 <communication, 0, f32 [4, 2] value {{[0-9]+}}> to @b peer <0> steps [] leaders []
// CHECK: receive tag 1 from @a peer <0> steps [1] into <communication, 0, f32 [2, 4, 2] value [[R:[0-9]+]]>
// CHECK-NEXT: copy <communication, 0, f32 [2, 4, 2] value [[R]]> to <activations, 0, f32 [2, 4, 2] strides [2, 4, 1] value [[H:[0-9]+]]>
// CHECK-NEXT: launch {{.*}} [#exec.operand<activations, 0, f32 [4, 4] value [[H]]>]

// -----

// Two meshes exchange values: each waits for what it sends behind what it receives in between.
dist.mesh @a <[]>
dist.mesh @b <[], first_device = 1>
func.func @part0(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.mesh = @a} {
  %h = weft.exp %x : tensor<4xf32> loc("h")
  return %h, %h : tensor<4xf32>, tensor<4xf32>
}
func.func @part1(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.mesh = @b} {
  %g = weft.tanh %x : tensor<4xf32> loc("g")
  return %g, %g : tensor<4xf32>, tensor<4xf32>
}
func.func @part2(%h: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @a} {
  %y = weft.add %h, %g : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @part3(%h: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @b} {
  %y = weft.add %h, %g : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @part0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @part1(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = call @part2(%0#0, %1#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = call @part3(%0#1, %1#1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: exec.mesh @a []
// CHECK: segment @part0
// CHECK: send tag 2 {{.*}} to @b {{.*}} until @part2 priced <"h"
// CHECK: exec.program @class1
// CHECK: segment @part1
// CHECK: send tag 1 {{.*}} to @a
// CHECK-NOT: until
// CHECK: segment @part3

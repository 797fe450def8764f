// RUN: weft-opt %s --split-input-file --weft-select-instructions | FileCheck %s

// A product of an input and a weight; one rank where there is no mesh.
// CHECK-LABEL: exec.mesh @mesh []
// CHECK: exec.weight @w f32 [8, 4] = #exec.external<"w.bin", 0, 128>
weft.weight @w : tensor<8x4xf32> = #weft.external<"w.bin", 0, 128>
// CHECK: exec.program @class0 ranks 0 to 1
// CHECK-NEXT: buffer [[X:[0-9]+]] activations 64 align 64 live step
// CHECK-NEXT: buffer [[W:[0-9]+]] weights 128 align 64 live step
// CHECK-NEXT: buffer [[Y:[0-9]+]] activations 32 align 64 live end
// CHECK-NEXT: port input "x" [2, 8] split {{\[\[}}], []] on @mesh at <activations, 0, f32 [2, 8] value [[X]]>
// CHECK-NEXT: port output "y" [2, 4] {{.*}} at <activations, 0, f32 [2, 4] value [[Y]]>
// CHECK-NEXT: weight_block @w start <0> strides [1] into <weights, 0, f32 [32] value [[W]]>
// CHECK-NEXT: segment @forward
// CHECK-NEXT: gemm <activations, 0, f32 [2, 8] value [[X]]>, <weights, 0, f32 [8, 4] value [[W]]> to <activations, 0, f32 [2, 4] value [[Y]]>
// CHECK-SAME: priced <"prod", 128 flops, 192 read, 32 written, "gemm b=1 m=2 n=4 k=8 f32">
func.func @main(%x: tensor<2x8xf32> {weft.name = "x"}) -> (tensor<2x4xf32> {weft.name = "y"}) {
  %w = weft.load @w : tensor<8x4xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
      : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32> loc("prod")
  return %0 : tensor<2x4xf32>
}

// -----

// Scores of attention: heads are strided batches of q and k, read in place.
// CHECK-LABEL: exec.mesh
// CHECK: gemm <activations, 0, f32 [2, 4, 3, 5] strides [120, 5, 40, 1] value [[QK:[0-9]+]]>, <activations, 80, f32 [2, 4, 5, 3] strides [120, 5, 1, 40] value [[QK]]> to <activations, 0, f32 [2, 4, 3, 3] value {{[0-9]+}}>
// CHECK-NOT: copy
func.func @main(%qk: tensor<2x3x40xf32> {weft.name = "qk"}) -> (tensor<2x4x3x3xf32> {weft.name = "s"}) {
  %q0 = weft.slice %qk starts [0, 0, 0] strides [1, 1, 1] : tensor<2x3x40xf32> to tensor<2x3x20xf32>
  %q1 = weft.reshape %q0 : tensor<2x3x20xf32> to tensor<2x3x4x5xf32>
  %q = weft.transpose %q1 [0, 2, 1, 3] : tensor<2x3x4x5xf32> -> tensor<2x4x3x5xf32>
  %k0 = weft.slice %qk starts [0, 0, 20] strides [1, 1, 1] : tensor<2x3x40xf32> to tensor<2x3x20xf32>
  %k1 = weft.reshape %k0 : tensor<2x3x20xf32> to tensor<2x3x4x5xf32>
  %k = weft.transpose %k1 [0, 2, 1, 3] : tensor<2x3x4x5xf32> -> tensor<2x4x3x5xf32>
  %s = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3]
      : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x3xf32>
  return %s : tensor<2x4x3x3xf32>
}

// -----

// The result's strides make the transpose and reshape behind it free.
// CHECK-LABEL: exec.mesh
// CHECK: port output "o" [2, 3, 20] {{.*}} at <activations, 0, f32 [2, 3, 20] value [[O:[0-9]+]]>
// CHECK: gemm {{.*}} to <activations, 0, f32 [2, 4, 3, 5] strides [60, 5, 20, 1] value [[O]]>
// CHECK-NOT: copy
func.func @main(%p: tensor<2x4x3x3xf32>, %v: tensor<2x4x3x5xf32>) -> (tensor<2x3x20xf32> {weft.name = "o"}) {
  %0 = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] {exec.strides = array<i64: 60, 5, 20, 1>}
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = weft.transpose %0 [0, 2, 1, 3] : tensor<2x4x3x5xf32> -> tensor<2x3x4x5xf32>
  %2 = weft.reshape %1 : tensor<2x3x4x5xf32> to tensor<2x3x20xf32>
  return %2 : tensor<2x3x20xf32>
}

// -----

// 5 columns, then 5 rows, over 4 ranks: 2, 2, 1 and none. Ranks read of weights and write of outputs what is theirs; a
// dimension of one element a rank is told of, too. Both loads of a tied weight are one block.
// CHECK-LABEL: exec.mesh @mesh ["model"=4]
// CHECK-DAG: port output "y" [8, 5] split {{\[\[}}], ["model"]] on @mesh at <activations, 0, f32 [8, 2] value {{[0-9]+}}> valid [#exec.affine<8>, #exec.affine<5 + -2 * ["model"]>]
// CHECK-DAG: port output "z" [3] split {{\[\[}}"model"]] on @mesh at {{.*}} valid [#exec.affine<3 + -1 * ["model"]>]
// CHECK-DAG: weight_block @rows start <0 + 12 * ["model"]> strides [1] into <weights, 0, f32 [12] value {{[0-9]+}}> valid [#exec.affine<30 + -12 * ["model"]>]
// CHECK-DAG: weight_block @columns start <0 + 2 * ["model"]> strides [5, 1] into <weights, 0, f32 [6, 2] value {{[0-9]+}}> valid [#exec.affine<6>, #exec.affine<5 + -2 * ["model"]>]
// CHECK-DAG: weight_block @few start <0 + 1 * ["model"]> strides [1] into <weights, 0, f32 [1] value {{[0-9]+}}> valid [#exec.affine<3 + -1 * ["model"]>]
// CHECK-NOT: weight_block
dist.mesh @mesh <["model"=4]>
weft.weight @rows : tensor<5x6xf32> = #weft.external<"w.bin", 0, 120>
weft.weight @columns : tensor<6x5xf32> = #weft.external<"w.bin", 120, 120>
weft.weight @few : tensor<3xf32> = #weft.external<"w.bin", 240, 12>
func.func @main(%x: tensor<8x6xf32> {weft.name = "x"})
    -> (tensor<8x2xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>, weft.global_type = tensor<8x5xf32>, weft.name = "y"},
        tensor<8x2xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>, weft.global_type = tensor<8x5xf32>, weft.name = "t"},
        tensor<6x2xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>, weft.global_type = tensor<6x5xf32>, weft.name = "c"},
        tensor<1xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}]>, weft.global_type = tensor<3xf32>, weft.name = "z"}) {
  %w = dist.load_shard @rows start 0 shape [5, 6] strides [6, 1] sharding <@mesh, [{"model"}, {}]> : tensor<2x6xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<8x6xf32>, tensor<2x6xf32>) -> tensor<8x2xf32>
  %t = dist.load_shard @rows start 0 shape [6, 5] strides [1, 6] sharding <@mesh, [{}, {"model"}]> : tensor<6x2xf32>
  %1 = weft.dot_general %x, %t batch [] x [] contract [1] x [0] : (tensor<8x6xf32>, tensor<6x2xf32>) -> tensor<8x2xf32>
  %c = dist.load_shard @columns start 0 shape [6, 5] strides [5, 1] sharding <@mesh, [{}, {"model"}]> : tensor<6x2xf32>
  %f = dist.load_shard @few start 0 shape [3] strides [1] sharding <@mesh, [{"model"}]> : tensor<1xf32>
  return %0, %1, %c, %f : tensor<8x2xf32>, tensor<8x2xf32>, tensor<6x2xf32>, tensor<1xf32>
}

// -----

// Column then row parallel: weights are blocks that start where the rank's coordinate says.
// CHECK-LABEL: exec.mesh @mesh ["data"=2, "model"=4]
dist.mesh @mesh <["data"=2, "model"=4]>
weft.weight @up : tensor<8x16xf32> = #weft.external<"w.bin", 0, 512>
weft.weight @down : tensor<16x8xf32> = #weft.external<"w.bin", 512, 512>
// CHECK: exec.program @class0 ranks 0 to 8
// CHECK: buffer [[P:[0-9]+]] activations 64 align 64 live uses
// CHECK-NEXT: buffer [[R:[0-9]+]] activations 64 align 64 live end
// CHECK: port input "x" [4, 8] split {{\[\[}}"data"], []] on @mesh at <activations, 0, f32 [2, 8] value [[X:[0-9]+]]>
// CHECK: port output "y" [4, 8] split {{\[\[}}"data"], []] on @mesh at <activations, 0, f32 [2, 8] value [[R]]>
// CHECK: weight_block @up start <0 + 4 * ["model"]> strides [16, 1] into <weights, 0, f32 [8, 4] value [[UP:[0-9]+]]>
// CHECK: weight_block @down start <0 + 32 * ["model"]> strides [1] into <weights, 0, f32 [32] value [[DOWN:[0-9]+]]>
// CHECK: gemm <activations, 0, f32 [2, 8] value [[X]]>, <weights, 0, f32 [8, 4] value [[UP]]> to <activations, 0, f32 [2, 4] value [[H:[0-9]+]]>
// CHECK: gemm <activations, 0, f32 [2, 4] value [[H]]>, <weights, 0, f32 [4, 8] value [[DOWN]]> to <activations, 0, f32 [2, 8] value [[P]]>
// CHECK: collective all_reduce sum axes ["model"] on @mesh <activations, 0, f32 [16] value [[P]]> to <activations, 0, f32 [16] value [[R]]>
func.func @main(%x: tensor<2x8xf32> {weft.name = "x", weft.global_type = tensor<4x8xf32>, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<2x8xf32> {weft.name = "y", weft.global_type = tensor<4x8xf32>, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>}) {
  %up = dist.load_shard @up start 0 shape [8, 16] strides [16, 1] sharding <@mesh, [{}, {"model"}]> : tensor<8x4xf32>
  %down = dist.load_shard @down start 0 shape [16, 8] strides [8, 1] sharding <@mesh, [{"model"}, {}]> : tensor<4x8xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = weft.dot_general %0, %down batch [] x [] contract [1] x [0] : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %2 = dist.all_reduce sum %1 axes ["model"] on @mesh : tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// -----

// A tied weight is held once, read as it is and transposed.
weft.weight @wte : tensor<10x8xf32> = #weft.external<"w.bin", 0, 320>
dist.mesh @mesh <["model"=2]>
// CHECK-LABEL: exec.mesh
// CHECK: buffer [[W:[0-9]+]] weights 160 align 64 live step
// CHECK: weight_block @wte start <0 + 40 * ["model"]> strides [1] into <weights, 0, f32 [40] value [[W]]>
// CHECK-NOT: weight_block
// CHECK: gemm {{.*}} <weights, 0, f32 [5, 8] value [[W]]>
// CHECK: gemm {{.*}} <weights, 0, f32 [8, 5] strides [1, 8] value [[W]]>
func.func @main(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %a = dist.load_shard @wte start 0 shape [10, 8] strides [8, 1] sharding <@mesh, [{"model"}, {}]> : tensor<5x8xf32>
  %b = dist.load_shard @wte start 0 shape [8, 10] strides [1, 8] sharding <@mesh, [{}, {"model"}]> : tensor<8x5xf32>
  %0 = weft.dot_general %x, %a batch [] x [] contract [1] x [0] : (tensor<2x5xf32>, tensor<5x8xf32>) -> tensor<2x8xf32>
  %1 = weft.dot_general %0, %b batch [] x [] contract [1] x [0] : (tensor<2x8xf32>, tensor<8x5xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}

// -----

// Gathered along the outermost dimension there is nothing to unpack, along an inner one there is.
dist.mesh @mesh <["x"=2]>
// CHECK-LABEL: exec.mesh
// CHECK: port output "outer" [4, 6] {{.*}} at <activations, 0, f32 [4, 6] value [[G:[0-9]+]]>
// CHECK: port output "inner" [2, 12] {{.*}} at <activations, 0, f32 [2, 12] value [[OUT:[0-9]+]]>
// CHECK: collective all_gather sum axes ["x"] on @mesh {{.*}} to <activations, 0, f32 [2, 2, 6] value [[G]]>
// CHECK-NEXT: collective all_gather sum axes ["x"] on @mesh {{.*}} to <activations, 0, f32 [2, 2, 6] value [[H:[0-9]+]]>
// CHECK-NEXT: copy <activations, 0, f32 [2, 2, 6] value [[H]]> to <activations, 0, f32 [2, 2, 6] strides [6, 12, 1] value [[OUT]]>
func.func @main(%x: tensor<2x6xf32>) -> (tensor<4x6xf32> {weft.name = "outer"}, tensor<2x12xf32> {weft.name = "inner"}) {
  %0 = dist.all_gather %x dim 0 axes ["x"] on @mesh : tensor<2x6xf32> -> tensor<4x6xf32>
  %1 = dist.all_gather %x dim 1 axes ["x"] on @mesh : tensor<2x6xf32> -> tensor<2x12xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<2x12xf32>
}

// -----

// A scatter along an inner dimension packs its blocks first; a slice of what is whole is a view at the rank's place.
dist.mesh @mesh <["x"=2]>
// CHECK-LABEL: exec.mesh
// CHECK: copy <activations, 0, f32 [2, 4, 3] strides [3, 6, 1] value [[X:[0-9]+]]> to <activations, 0, f32 [2, 4, 3] value [[P:[0-9]+]]>
// CHECK-NEXT: collective reduce_scatter sum axes ["x"] on @mesh <activations, 0, f32 [2, 4, 3] value [[P]]> to <activations, 0, f32 [4, 3] value {{[0-9]+}}>
// CHECK-NEXT: copy <activations, 0 + 12 * ["x"], f32 [4, 3] strides [6, 1] value [[X]]>
func.func @main(%x: tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = dist.reduce_scatter sum %x dim 1 axes ["x"] on @mesh : tensor<4x6xf32> -> tensor<4x3xf32>
  %1 = dist.slice %x dim 1 axes ["x"] on @mesh : tensor<4x6xf32> -> tensor<4x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// A gradient is looked at where it is made, and kept for nobody; a transposed one is looked at as it lies.
// CHECK-LABEL: exec.mesh
// CHECK: buffer [[G:[0-9]+]] activations 64 align 64 live uses
// CHECK: port gradient "grad:w" [8, 2] {{.*}} at <activations, 0, f32 [8, 2] strides [1, 8] value [[G]]>
// CHECK-NOT: output "grad:w"
// CHECK: segment @forward
// CHECK-NEXT: fill
// CHECK-NEXT: gemm {{.*}} to <activations, 0, f32 [2, 8] value [[G]]>
// CHECK-NEXT: observe "grad:w" <activations, 0, f32 [8, 2] strides [1, 8] value [[G]]> priced <{{.*}}, 0 flops, 0 read, 0 written, "observe">
// CHECK-NEXT: gemm
// CHECK-NOT: copy
func.func @main(%x: tensor<2x8xf32> {weft.name = "x"})
    -> (tensor<8x2xf32> {weft.name = "grad:w", weft.role = "gradient"}, tensor<2x2xf32> {weft.name = "y"}) {
  %0 = weft.constant dense<1.0> : tensor<8x8xf32>
  %1 = weft.dot_general %x, %0 batch [] x [] contract [1] x [0] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %2 = weft.transpose %1 [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
  %3 = weft.dot_general %1, %x batch [] x [] contract [1] x [1] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  return %2, %3 : tensor<8x2xf32>, tensor<2x2xf32>
}

// -----

// A lookup reads what its indices choose, not the table; an exponential counts as additions that take as long.
// CHECK-LABEL: exec.mesh
// CHECK: launch "{{k[0-9a-f]+}}"
// CHECK-SAME: priced <"lookup", 0 flops, 80 read, 64 written, "kernel {{k[0-9a-f]+}}">
// CHECK: launch "{{k[0-9a-f]+}}"
// CHECK-SAME: priced <"exp", 160 flops, 64 read, 64 written, "kernel {{k[0-9a-f]+}}">
func.func private @lookup(%t: tensor<1000x8xf32>, %i: tensor<2xi64>) -> tensor<2x8xf32> attributes {exec.kernel} {
  %0 = weft.gather %t, %i axis 0 : (tensor<1000x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
func.func private @exp(%x: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {exec.kernel} {
  %0 = weft.exp %x : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
func.func @main(%t: tensor<1000x8xf32> {weft.name = "t"}, %i: tensor<2xi64> {weft.name = "i"}) -> (tensor<2x8xf32> {weft.name = "y"}) {
  %0 = func.call @lookup(%t, %i) : (tensor<1000x8xf32>, tensor<2xi64>) -> tensor<2x8xf32> loc("lookup")
  %1 = func.call @exp(%0) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("exp")
  return %1 : tensor<2x8xf32>
}

// -----

// Two small blocks that are computed are gathered together: packed, sent by one instruction, and each put in its place.
// CHECK-LABEL: exec.mesh
// CHECK: copy {{.*}} f32 [1, 2, 6] {{.*}} to <activations, 0, f32 [1, 2, 6] strides [14, 6, 1] value [[SENT:[0-9]+]]>
// CHECK: copy {{.*}} f32 [1, 2, 1] {{.*}} to <activations, 48, f32 [1, 2, 1] strides [14, 1, 1] value [[SENT]]>
// CHECK: collective all_gather sum axes ["x"] on @mesh <activations, 0, f32 [14] value [[SENT]]> to <activations, 0, f32 [2, 14] value [[ALL:[0-9]+]]>
// CHECK-NEXT: copy <activations, 0, f32 [2, 2, 6] strides [14, 6, 1] value [[ALL]]> to <activations, 0, f32 [2, 2, 6] {{.*}}
// CHECK-NEXT: copy <activations, 48, f32 [2, 2, 1] strides [14, 1, 1] value [[ALL]]> to <activations, 0, f32 [2, 2, 1]{{.*}}
// CHECK-NOT: collective
dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<2x6xf32> {weft.name = "x"}) -> (tensor<2x12xf32> {weft.name = "y"}, tensor<4x1xf32> {weft.name = "z"}) {
  %a = weft.dot_general %x, %x batch [] x [] contract [0] x [0] : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
  %b = weft.slice %a starts [0, 0] strides [1, 1] : tensor<6x6xf32> to tensor<2x6xf32>
  %c = weft.slice %a starts [0, 5] strides [1, 1] : tensor<6x6xf32> to tensor<2x1xf32>
  %0 = dist.all_gather %b dim 1 axes ["x"] on @mesh : tensor<2x6xf32> -> tensor<2x12xf32>
  %1 = dist.all_gather %c dim 0 axes ["x"] on @mesh : tensor<2x1xf32> -> tensor<4x1xf32>
  return %0, %1 : tensor<2x12xf32>, tensor<4x1xf32>
}

// -----

// What follows a convolution is part of its instruction, in the memory of its result: the kernel's other operands are read beside the
// convolution's, and nothing is priced for what stays in cache.
// CHECK-LABEL: exec.mesh
// CHECK: buffer [[Y:[0-9]+]] activations 2048 align 64 live end
// CHECK: segment @forward
// CHECK-NEXT: conv <activations, 0, f32 [2, 16, 18] value [[X:[0-9]+]]>, <activations, 0, f32 [16, 16, 3] value [[K:[0-9]+]]> to <activations, 0, f32 [2, 16, 16] strides [256, 1, 16] value [[Y]]> {{.*}} epilogue <"[[KEY:.*]]", inputs [#exec.operand<activations, 0, f32 [2, 16, 16] strides [256, 1, 16] value [[Y]]>, #exec.operand<activations, 0, f32 [16] value [[B:[0-9]+]]>], params [], tiles 1, tile 512, row 512> priced <"conv", 49664 flops, 5440 read, 2048 written, "conv 2x16x18 16x16x3">
// CHECK-NOT: launch
func.func @main(%x: tensor<2x16x18xf32> {weft.name = "x"}, %k: tensor<16x16x3xf32> {weft.name = "k"}, %b: tensor<16xf32> {weft.name = "b"})
    -> (tensor<2x16x16xf32> {weft.name = "y"}) {
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1 {exec.strides = array<i64: 256, 1, 16>} : (tensor<2x16x18xf32>, tensor<16x16x3xf32>) -> tensor<2x16x16xf32> loc("conv")
  %1 = call @kernel_0(%0, %b) {exec.epilogue = 0 : i64} : (tensor<2x16x16xf32>, tensor<16xf32>) -> tensor<2x16x16xf32>
  return %1 : tensor<2x16x16xf32>
}
func.func private @kernel_0(%0: tensor<2x16x16xf32> {exec.in_place = 0 : i64, exec.strides = array<i64: 256, 1, 16>}, %b: tensor<16xf32>) -> tensor<2x16x16xf32> attributes {exec.kernel} {
  %1 = weft.transpose %0 [0, 2, 1] : tensor<2x16x16xf32> -> tensor<2x16x16xf32>
  %2 = weft.broadcast %b dims [2] : tensor<16xf32> to tensor<2x16x16xf32>
  %3 = weft.add %1, %2 : tensor<2x16x16xf32>
  return %3 : tensor<2x16x16xf32>
}

// -----

// A weight's gradient, of what comes by position times what comes by head: the former walks batch and positions as one loop and stays; of
// the latter rows of a head move as they are.
// CHECK-LABEL: exec.mesh
// CHECK: segment @forward
// CHECK-NEXT: copy <activations, 0, f32 [2, 4, 3, 5] value [[G:[0-9]+]]> to <activations, 0, f32 [2, 4, 3, 5] strides [60, 5, 20, 1] value [[P:[0-9]+]]>
// CHECK-NEXT: gemm <activations, 0, f32 [7, 6] strides [1, 7] value {{[0-9]+}}>, <activations, 0, f32 [6, 20] value [[P]]> to <activations, 0, f32 [7, 20] value {{[0-9]+}}>
// CHECK-NOT: copy
func.func @main(%x: tensor<2x3x7xf32> {weft.name = "x"}, %g: tensor<2x4x3x5xf32> {weft.name = "g"}) -> (tensor<7x4x5xf32> {weft.name = "w"}) {
  %0 = weft.dot_general %x, %g batch [] x [] contract [0, 1] x [0, 2] : (tensor<2x3x7xf32>, tensor<2x4x3x5xf32>) -> tensor<7x4x5xf32>
  return %0 : tensor<7x4x5xf32>
}

// -----

// What is summed over heads and what is in them: the weight walks both as one loop, the gradient is laid out like it.
// CHECK-LABEL: exec.mesh
// CHECK: segment @forward
// CHECK-NEXT: copy <activations, 0, f32 [2, 4, 3, 5] value {{[0-9]+}}> to <activations, 0, f32 [2, 4, 3, 5] strides [60, 5, 20, 1] value [[P:[0-9]+]]>
// CHECK-NEXT: gemm <activations, 0, f32 [6, 20] value [[P]]>, <activations, 0, f32 [20, 7] strides [1, 20] value {{[0-9]+}}> to
// CHECK-NOT: copy
func.func @main(%g: tensor<2x4x3x5xf32> {weft.name = "g"}, %w: tensor<7x4x5xf32> {weft.name = "w"}) -> (tensor<2x3x7xf32> {weft.name = "x"}) {
  %0 = weft.dot_general %g, %w batch [] x [] contract [1, 3] x [1, 2] : (tensor<2x4x3x5xf32>, tensor<7x4x5xf32>) -> tensor<2x3x7xf32>
  return %0 : tensor<2x3x7xf32>
}

// -----

// Both walk what is contracted in one loop, but neither as the other does: the smaller one moves.
// CHECK-LABEL: exec.mesh
// CHECK: segment @forward
// CHECK-NEXT: copy <activations, 0, f32 [3, 2, 2] value {{[0-9]+}}> to <activations, 0, f32 [3, 2, 2] strides [2, 6, 1] value [[P:[0-9]+]]>
// CHECK-NEXT: gemm <activations, 0, f32 [7, 6] strides [1, 7] value {{[0-9]+}}>, <activations, 0, f32 [6, 2] value [[P]]> to
func.func @main(%x: tensor<2x3x7xf32> {weft.name = "x"}, %g: tensor<3x2x2xf32> {weft.name = "g"}) -> (tensor<7x2xf32> {weft.name = "w"}) {
  %0 = weft.dot_general %x, %g batch [] x [] contract [0, 1] x [1, 0] : (tensor<2x3x7xf32>, tensor<3x2x2xf32>) -> tensor<7x2xf32>
  return %0 : tensor<7x2xf32>
}

// -----

// A matrix in panels is read from its file as such, and a product of it is one of each panel.
// CHECK-LABEL: exec.mesh
// CHECK: port output "y" [2, 8] {{.*}} value [[Y:[0-9]+]]>
// CHECK: weight_block @w start <0> strides [4, 8, 1] into <weights, 0, f32 [2, 3, 4] value [[W:[0-9]+]]>
// CHECK: gemm <activations, 0, f32 [2, 2, 3] strides [0, 3, 1] value {{[0-9]+}}>, <weights, 0, f32 [2, 3, 4] value [[W]]> to <activations, 0, f32 [2, 2, 4] strides [4, 8, 1] value [[Y]]>
weft.weight @w : tensor<3x8xf32> = #weft.external<"w.bin", 0, 96>
func.func @main(%x: tensor<2x3xf32> {weft.name = "x"}) -> (tensor<2x8xf32> {weft.name = "y"}) {
  %w = weft.load @w {exec.panels = 4 : i64} : tensor<3x8xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
      : (tensor<2x3xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// Of heads some lie in each panel: [4 heads, 2] as [2, 2 heads, 2].
// CHECK-LABEL: exec.mesh
// CHECK: weight_block @w start <0> strides [4, 8, 1] into <weights, 0, f32 [2, 3, 4] value [[W:[0-9]+]]>
// CHECK: gemm {{.*}}, <weights, 0, f32 [2, 3, 4] value [[W]]> to <activations, 0, f32 [2, 2, 4] strides [4, 8, 1] value {{[0-9]+}}>
weft.weight @w : tensor<3x4x2xf32> = #weft.external<"w.bin", 0, 96>
func.func @main(%x: tensor<2x3xf32> {weft.name = "x"}) -> (tensor<2x4x2xf32> {weft.name = "y"}) {
  %w = weft.load @w {exec.panels = 2 : i64} : tensor<3x4x2xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
      : (tensor<2x3xf32>, tensor<3x4x2xf32>) -> tensor<2x4x2xf32>
  return %0 : tensor<2x4x2xf32>
}

// -----

// A matrix by columns is read from its file as such, heads and all, and a product reads it turned back.
// CHECK-LABEL: exec.mesh
// CHECK: weight_block @w start <0> strides [1, 8] into <weights, 0, f32 [8, 3] value [[W:[0-9]+]]>
// CHECK: gemm {{.*}}, <weights, 0, f32 [3, 8] strides [1, 3] value [[W]]> to <activations, 0, f32 [2, 8] value {{[0-9]+}}>
weft.weight @w : tensor<3x4x2xf32> = #weft.external<"w.bin", 0, 96>
func.func @main(%x: tensor<2x3xf32> {weft.name = "x"}) -> (tensor<2x4x2xf32> {weft.name = "y"}) {
  %w = weft.load @w {exec.by_columns} : tensor<3x4x2xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
      : (tensor<2x3xf32>, tensor<3x4x2xf32>) -> tensor<2x4x2xf32>
  return %0 : tensor<2x4x2xf32>
}

// -----

// Attention by a library reads views, broadcasts what masks it by strides of 0, and writes in the order in which its
// result is read. Query i sees keys up to i - 1 and from i - 3 on.
// CHECK-LABEL: exec.mesh
// CHECK: port output "y" [1, 4, 4] {{.*}} value [[Y:[0-9]+]]>
// CHECK: attention <activations, 0, f32 [1, 2, 4, 2] strides [1, 2, 4, 1] value {{[0-9]+}}>, <activations, 0, f32 [1, 1, 6, 2] value {{[0-9]+}}>, <activations, 0, f32 [1, 1, 6, 2] value {{[0-9]+}}>
// CHECK-SAME: mask <activations, 0, i1 [1, 2, 4, 6] strides [6, 0, 0, 1] value {{[0-9]+}}>
// CHECK-SAME: to <activations, 0, f32 [1, 2, 4, 2] strides [16, 2, 4, 1] value [[Y]]>
// CHECK-SAME: scale 5.000000e-01 low -3 high -1 masked_rows zero priced <"attn", 384 flops, 166 read, 64 written, "attention b=2 m=4 n=6 k=2 f32">
func.func @main(%q: tensor<1x4x4xf32> {weft.name = "q"}, %k: tensor<1x1x6x2xf32> {weft.name = "k"}, %v: tensor<1x1x6x2xf32> {weft.name = "v"},
                %m: tensor<1x1x1x6xi1> {weft.name = "m"}) -> (tensor<1x4x4xf32> {weft.name = "y"}) {
  %0 = weft.reshape %q : tensor<1x4x4xf32> to tensor<1x4x2x2xf32>
  %1 = weft.transpose %0 [0, 2, 1, 3] : tensor<1x4x2x2xf32> -> tensor<1x2x4x2xf32>
  %2 = weft.attention %1, %k, %v mask %m scale 0.5 causal query_offset -1 window 3 masked_rows zero {exec.strides = array<i64: 16, 2, 4, 1>}
      : (tensor<1x2x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x1x6xi1>) -> tensor<1x2x4x2xf32> loc("attn")
  %3 = weft.transpose %2 [0, 2, 1, 3] : tensor<1x2x4x2xf32> -> tensor<1x4x2x2xf32>
  %4 = weft.reshape %3 : tensor<1x4x2x2xf32> to tensor<1x4x4xf32>
  return %4 : tensor<1x4x4xf32>
}

// -----

// Its gradients read what it wrote, each in its own order, and are written in the order in which they are read.
// CHECK-LABEL: exec.mesh
// CHECK: attention_backward {{.*}} output <activations, {{.*}} strides [16, 2, 4, 1] {{.*}} lse <activations, {{[0-9]+}}, f32 [1, 2, 4] {{.*}} gradient <activations, 0, f32 [1, 2, 4, 2] value {{[0-9]+}}>
// CHECK-SAME: to <activations, {{[0-9]+}}, f32 [1, 2, 4, 2] strides [16, 2, 4, 1] value {{[0-9]+}}>, <activations, {{[0-9]+}}, f32 [1, 1, 6, 2] strides [12, 2, 2, 1] value {{[0-9]+}}>, <activations, {{[0-9]+}}, f32 [1, 1, 6, 2] value {{[0-9]+}}>
// CHECK-SAME: scale 5.000000e-01 high 0 masked_rows nan priced <"attn", 960 flops, 320 read, 160 written, "attention_backward b=2 m=4 n=6 k=2 f32">
func.func @main(%q: tensor<1x2x4x2xf32> {weft.name = "q"}, %k: tensor<1x1x6x2xf32> {weft.name = "k"}, %g: tensor<1x2x4x2xf32> {weft.name = "g"})
    -> (tensor<1x2x4x2xf32> {weft.name = "y"}, tensor<1x1x6x2xf32> {weft.name = "z"}, tensor<1x1x6x2xf32> {weft.name = "w"}) {
  %o, %l = weft.attention %q, %k, %k scale 0.5 causal masked_rows nan {exec.strides = array<i64: 16, 2, 4, 1>}
      : (tensor<1x2x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>) -> (tensor<1x2x4x2xf32>, tensor<1x2x4xf32>) loc("attn")
  %dq, %dk, %dv = weft.attention_backward %q, %k, %k result %o lse %l gradient %g scale 0.5 causal masked_rows nan
      {exec.strides = array<i64: 16, 2, 4, 1>, exec.strides.1 = array<i64: 12, 2, 2, 1>}
      : (tensor<1x2x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>, tensor<1x2x4x2xf32>, tensor<1x2x4xf32>, tensor<1x2x4x2xf32>)
      -> (tensor<1x2x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>) loc("attn")
  return %dq, %dk, %dv : tensor<1x2x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>
}

// -----

// A window that is wider than all positions hides no key.
// CHECK-LABEL: exec.mesh
// CHECK: attention {{.*}} scale 1.000000e+00 masked_rows nan
func.func @main(%q: tensor<1x1x4x2xf32> {weft.name = "q"}, %k: tensor<1x1x6x2xf32> {weft.name = "k"}) -> (tensor<1x1x4x2xf32> {weft.name = "y"}) {
  %0 = weft.attention %q, %k, %k scale 1.0 query_offset 2 window 9223372036854775807 masked_rows nan
      : (tensor<1x1x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>) -> tensor<1x1x4x2xf32>
  return %0 : tensor<1x1x4x2xf32>
}

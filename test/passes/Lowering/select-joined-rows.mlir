// RUN: weft-opt %s --split-input-file --weft-select-instructions | FileCheck %s

// The rows of each expert lie apart, in 4 groups of 64: each would read the experts' matrices again, 32 MiB, which is more than the rows. They are laid out side by side first.
// CHECK-LABEL: exec.mesh
// CHECK: copy <activations, 0, f32 [2, 4, 64, 1024] strides [65536, 131072, 1024, 1] value {{[0-9]+}}> to <activations, 0, f32 [2, 4, 64, 1024] value [[X:[0-9]+]]>
// CHECK-NEXT: gemm <activations, 0, f32 [2, 256, 1024] value [[X]]>
// CHECK-SAME: "gemm b=2 m=256 n=4096 k=1024 f32"
// CHECK-NOT: copy
func.func @main(%x: tensor<4x2x64x1024xf32> {weft.name = "x"}, %w: tensor<2x4096x1024xf32> {weft.name = "w"}) -> (tensor<2x4x64x4096xf32> {weft.name = "y"}) {
  %0 = weft.transpose %x [1, 0, 2, 3] : tensor<4x2x64x1024xf32> -> tensor<2x4x64x1024xf32>
  %1 = weft.dot_general %0, %w batch [0] x [0] contract [3] x [2]
      : (tensor<2x4x64x1024xf32>, tensor<2x4096x1024xf32>) -> tensor<2x4x64x4096xf32>
  return %1 : tensor<2x4x64x4096xf32>
}

// -----

// What is made lies apart: it is made side by side, and then laid out.
// CHECK-LABEL: exec.mesh
// CHECK: gemm {{.*}} to <activations, 0, f32 [2, 256, 1024] value [[Y:[0-9]+]]>
// CHECK-SAME: "gemm b=2 m=256 n=1024 k=4096 f32"
// CHECK: copy <activations, 0, f32 [2, 4, 64, 1024] value [[Y]]> to <activations, 0, f32 [2, 4, 64, 1024] strides [65536, 131072, 1024, 1] value {{[0-9]+}}>
func.func @main(%x: tensor<2x4x64x4096xf32> {weft.name = "x"}, %w: tensor<2x1024x4096xf32> {weft.name = "w"}) -> (tensor<4x2x64x1024xf32> {weft.name = "y"}) {
  %0 = weft.dot_general %x, %w batch [0] x [0] contract [3] x [2] {exec.strides = array<i64: 65536, 131072, 1024, 1>}
      : (tensor<2x4x64x4096xf32>, tensor<2x1024x4096xf32>) -> tensor<2x4x64x1024xf32>
  %1 = weft.transpose %0 [1, 0, 2, 3] : tensor<2x4x64x1024xf32> -> tensor<4x2x64x1024xf32>
  return %1 : tensor<4x2x64x1024xf32>
}

// -----

// The same of columns: the parts of the right operand's result lie apart.
// CHECK-LABEL: exec.mesh
// CHECK: gemm {{.*}}"gemm b=1 m=65536 n=512 k=256 f32"
// CHECK-NEXT: copy <activations, 0, f32 [65536, 8, 64] value {{[0-9]+}}> to <activations, 0, f32 [65536, 8, 64] strides [64, 4194304, 1] value {{[0-9]+}}>
func.func @main(%x: tensor<65536x256xf32> {weft.name = "x"}, %w: tensor<8x64x256xf32> {weft.name = "w"}) -> (tensor<8x65536x64xf32> {weft.name = "y"}) {
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [2] {exec.strides = array<i64: 64, 4194304, 1>}
      : (tensor<65536x256xf32>, tensor<8x64x256xf32>) -> tensor<65536x8x64xf32>
  %1 = weft.transpose %0 [1, 0, 2] : tensor<65536x8x64xf32> -> tensor<8x65536x64xf32>
  return %1 : tensor<8x65536x64xf32>
}

// -----

// Read in place: rows of which there are enough in each loop, a matrix that caches hold, and one that is less than the rows.
// CHECK-LABEL: exec.mesh
// CHECK-NOT: copy
// CHECK: "gemm b=4 m=512 n=4096 k=1024 f32"
// CHECK-NOT: copy
// CHECK: "gemm b=8 m=64 n=1024 k=1024 f32"
// CHECK-NOT: copy
// CHECK: "gemm b=4 m=64 n=128 k=65536 f32"
// CHECK-NOT: copy
func.func @main(%x: tensor<2x2x512x1024xf32> {weft.name = "x"}, %w: tensor<2x4096x1024xf32> {weft.name = "w"}, %s: tensor<4x2x64x1024xf32> {weft.name = "s"},
                %n: tensor<2x1024x1024xf32> {weft.name = "n"}, %u: tensor<2x2x64x65536xf32> {weft.name = "u"}, %v: tensor<2x128x65536xf32> {weft.name = "v"})
    -> (tensor<2x2x512x4096xf32> {weft.name = "y"}, tensor<2x4x64x1024xf32> {weft.name = "z"}, tensor<2x2x64x128xf32> {weft.name = "o"}) {
  %0 = weft.transpose %x [1, 0, 2, 3] : tensor<2x2x512x1024xf32> -> tensor<2x2x512x1024xf32>
  %1 = weft.dot_general %0, %w batch [0] x [0] contract [3] x [2]
      : (tensor<2x2x512x1024xf32>, tensor<2x4096x1024xf32>) -> tensor<2x2x512x4096xf32>
  %2 = weft.transpose %s [1, 0, 2, 3] : tensor<4x2x64x1024xf32> -> tensor<2x4x64x1024xf32>
  %3 = weft.dot_general %2, %n batch [0] x [0] contract [3] x [2]
      : (tensor<2x4x64x1024xf32>, tensor<2x1024x1024xf32>) -> tensor<2x4x64x1024xf32>
  %4 = weft.transpose %u [1, 0, 2, 3] : tensor<2x2x64x65536xf32> -> tensor<2x2x64x65536xf32>
  %5 = weft.dot_general %4, %v batch [0] x [0] contract [3] x [2]
      : (tensor<2x2x64x65536xf32>, tensor<2x128x65536xf32>) -> tensor<2x2x64x128xf32>
  return %1, %3, %5 : tensor<2x2x512x4096xf32>, tensor<2x4x64x1024xf32>, tensor<2x2x64x128xf32>
}

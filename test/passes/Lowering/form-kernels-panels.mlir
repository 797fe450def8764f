// RUN: weft-opt %s --split-input-file --weft-form-kernels | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-form-kernels=target=generic | FileCheck %s --check-prefix=GENERIC

// Long rows of a matrix that never changes are cut: panels divide them, and heads stay whole.
// CHECK-LABEL: func.func @main
// CHECK-DAG: weft.load @w {exec.panels = 512 : i64}
// CHECK-DAG: weft.load @heads {exec.panels = 8 : i64}
// GENERIC-NOT: exec.panels
weft.weight @w : tensor<64x2048xf32> = #weft.external<"w.bin", 0, 524288>
weft.weight @heads : tensor<64x32x64xf32> = #weft.external<"w.bin", 524288, 524288>
func.func @main(%x: tensor<2x64xf32>) -> (tensor<2x2048xf32>, tensor<2x32x64xf32>) {
  %w = weft.load @w : tensor<64x2048xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
      : (tensor<2x64xf32>, tensor<64x2048xf32>) -> tensor<2x2048xf32>
  %h = weft.load @heads : tensor<64x32x64xf32>
  %1 = weft.dot_general %x, %h batch [] x [] contract [1] x [0]
      : (tensor<2x64xf32>, tensor<64x32x64xf32>) -> tensor<2x32x64xf32>
  return %0, %1 : tensor<2x2048xf32>, tensor<2x32x64xf32>
}

// -----

// Not short rows, rows that nothing divides, 16 bits, and columns that are contracted.
// CHECK-LABEL: func.func @main
// CHECK-NOT: exec.panels
weft.weight @short : tensor<64x768xf32> = #weft.external<"w.bin", 0, 196608>
weft.weight @odd : tensor<64x1031xf32> = #weft.external<"w.bin", 0, 263936>
weft.weight @half : tensor<64x2048xbf16> = #weft.external<"w.bin", 0, 262144>
weft.weight @turned : tensor<2048x64xf32> = #weft.external<"w.bin", 0, 524288>
func.func @main(%x: tensor<2x64xf32>, %y: tensor<2x64xbf16>)
    -> (tensor<2x768xf32>, tensor<2x1031xf32>, tensor<2x2048xbf16>, tensor<2x2048xf32>) {
  %0 = weft.load @short : tensor<64x768xf32>
  %1 = weft.dot_general %x, %0 batch [] x [] contract [1] x [0]
      : (tensor<2x64xf32>, tensor<64x768xf32>) -> tensor<2x768xf32>
  %2 = weft.load @odd : tensor<64x1031xf32>
  %3 = weft.dot_general %x, %2 batch [] x [] contract [1] x [0]
      : (tensor<2x64xf32>, tensor<64x1031xf32>) -> tensor<2x1031xf32>
  %4 = weft.load @half : tensor<64x2048xbf16>
  %5 = weft.dot_general %y, %4 batch [] x [] contract [1] x [0]
      : (tensor<2x64xbf16>, tensor<64x2048xbf16>) -> tensor<2x2048xbf16>
  %6 = weft.load @turned : tensor<2048x64xf32>
  %7 = weft.dot_general %x, %6 batch [] x [] contract [1] x [1]
      : (tensor<2x64xf32>, tensor<2048x64xf32>) -> tensor<2x2048xf32>
  return %1, %3, %5, %7 : tensor<2x768xf32>, tensor<2x1031xf32>, tensor<2x2048xbf16>, tensor<2x2048xf32>
}

// -----

// Nor what the step changes, or something else reads too: one block serves all.
// CHECK-LABEL: func.func @main
// CHECK-NOT: exec.panels
weft.weight kind(state) @state : tensor<64x2048xf32> = #weft.external<"w.bin", 0, 524288>
weft.weight @tied : tensor<64x2048xf32> = #weft.external<"w.bin", 0, 524288>
func.func @main(%x: tensor<2x64xf32>, %i: tensor<3xi64>) -> (tensor<2x2048xf32>, tensor<2x2048xf32>, tensor<3x2048xf32>) {
  %0 = weft.load @state : tensor<64x2048xf32>
  %1 = weft.dot_general %x, %0 batch [] x [] contract [1] x [0]
      : (tensor<2x64xf32>, tensor<64x2048xf32>) -> tensor<2x2048xf32>
  %2 = weft.dot_general %x, %1 batch [] x [] contract [0] x [0]
      : (tensor<2x64xf32>, tensor<2x2048xf32>) -> tensor<64x2048xf32>
  weft.store @state, %2 : tensor<64x2048xf32>
  %3 = weft.load @tied : tensor<64x2048xf32>
  %4 = weft.dot_general %x, %3 batch [] x [] contract [1] x [0]
      : (tensor<2x64xf32>, tensor<64x2048xf32>) -> tensor<2x2048xf32>
  %5 = weft.load @tied : tensor<64x2048xf32>
  %6 = weft.gather %5, %i axis 0 : (tensor<64x2048xf32>, tensor<3xi64>) -> tensor<3x2048xf32>
  return %1, %4, %6 : tensor<2x2048xf32>, tensor<2x2048xf32>, tensor<3x2048xf32>
}

// -----

// One row reads columns where they lie; by some a matrix of a great depth is best read by columns, by others in panels.
// CHECK-LABEL: func.func @main
// CHECK-DAG: dist.load_shard @one start 0 shape [64, 2048] strides [1, 64]
// CHECK-DAG: weft.load @rows {exec.panels = 512 : i64}
// CHECK-DAG: dist.load_shard @some {{.*}} {exec.panels = 512 : i64}
// CHECK-DAG: dist.load_shard @deep {{.*}} {exec.by_columns}
// CHECK-DAG: weft.load @by_some {exec.by_columns}
// CHECK-DAG: weft.load @by_many : tensor
// CHECK-DAG: weft.load @by_many : tensor
dist.mesh @mesh <["model"=1]>
weft.weight @one : tensor<2048x64xf32> = #weft.external<"w.bin", 0, 524288>
weft.weight @rows : tensor<64x2048xf32> = #weft.external<"w.bin", 0, 524288>
weft.weight @some : tensor<2048x64xf32> = #weft.external<"w.bin", 0, 524288>
weft.weight @deep : tensor<1024x256xf32> = #weft.external<"w.bin", 0, 1048576>
weft.weight @by_some : tensor<256x256xf32> = #weft.external<"w.bin", 0, 262144>
weft.weight @by_many : tensor<256x1024xf32> = #weft.external<"w.bin", 0, 1048576>
func.func @main(%x: tensor<1x64xf32>, %y: tensor<32x64xf32>, %z: tensor<32x256xf32>, %u: tensor<64x256xf32>)
    -> (tensor<1x2048xf32>, tensor<1x2048xf32>, tensor<32x2048xf32>, tensor<32x1024xf32>, tensor<32x256xf32>, tensor<32x1024xf32>, tensor<64x1024xf32>) {
  %0 = dist.load_shard @one start 0 shape [64, 2048] strides [1, 64] sharding <@mesh, [{}, {}]> : tensor<64x2048xf32>
  %1 = weft.dot_general %x, %0 batch [] x [] contract [1] x [0]
      : (tensor<1x64xf32>, tensor<64x2048xf32>) -> tensor<1x2048xf32>
  %2 = weft.load @rows : tensor<64x2048xf32>
  %3 = weft.dot_general %x, %2 batch [] x [] contract [1] x [0]
      : (tensor<1x64xf32>, tensor<64x2048xf32>) -> tensor<1x2048xf32>
  %4 = dist.load_shard @some start 0 shape [64, 2048] strides [1, 64] sharding <@mesh, [{}, {}]> : tensor<64x2048xf32>
  %5 = weft.dot_general %y, %4 batch [] x [] contract [1] x [0]
      : (tensor<32x64xf32>, tensor<64x2048xf32>) -> tensor<32x2048xf32>
  %6 = dist.load_shard @deep start 0 shape [256, 1024] strides [1, 256] sharding <@mesh, [{}, {}]> : tensor<256x1024xf32>
  %7 = weft.dot_general %z, %6 batch [] x [] contract [1] x [0]
      : (tensor<32x256xf32>, tensor<256x1024xf32>) -> tensor<32x1024xf32>
  %8 = weft.load @by_some : tensor<256x256xf32>
  %9 = weft.dot_general %z, %8 batch [] x [] contract [1] x [0]
      : (tensor<32x256xf32>, tensor<256x256xf32>) -> tensor<32x256xf32>
  %10 = weft.load @by_many : tensor<256x1024xf32>
  %11 = weft.dot_general %z, %10 batch [] x [] contract [1] x [0]
      : (tensor<32x256xf32>, tensor<256x1024xf32>) -> tensor<32x1024xf32>
  %12 = weft.load @by_many : tensor<256x1024xf32>
  %13 = weft.dot_general %u, %12 batch [] x [] contract [1] x [0]
      : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32>
  return %1, %3, %5, %7, %9, %11, %13
      : tensor<1x2048xf32>, tensor<1x2048xf32>, tensor<32x2048xf32>, tensor<32x1024xf32>, tensor<32x256xf32>, tensor<32x1024xf32>, tensor<64x1024xf32>
}

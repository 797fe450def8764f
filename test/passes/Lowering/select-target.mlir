// RUN: weft-opt %s --weft-form-kernels=target=cuda --weft-select-instructions=target=cuda | FileCheck %s
// RUN: weft-opt %s --weft-form-kernels --weft-select-instructions | FileCheck %s --check-prefix=CPU
// RUN: not weft-opt %s --weft-form-kernels --weft-select-instructions=target=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected target to be one of cpu, cuda, generic, got: tpu

// On a GPU the grain is what a block of 256 threads does at once: 256 elements, the rows of eight warps, or one row; sums
// of long columns, 32 of them, and each thread a short one.
// CHECK: segment @forward
// CHECK: launch {{.*}} tiles 24576 grain 256
// CHECK: launch {{.*}} tiles 4096 grain 8
// CHECK: launch {{.*}} tiles 24 grain 1
// CHECK: launch {{.*}} tiles 16 grain 1
// CHECK: launch {{.*}} tiles 32768 grain 256
// CPU: launch {{.*}} tiles 6 grain
func.func @main(%a: tensor<48x512xf32> {weft.name = "a"}, %b: tensor<4096x512xf32> {weft.name = "b"}, %c: tensor<24x5000xf32> {weft.name = "c"},
                %d: tensor<2048x512xf32> {weft.name = "d"}, %e: tensor<9x32768xf32> {weft.name = "e"})
    -> (tensor<48x512xf32> {weft.name = "v"}, tensor<4096xf32> {weft.name = "w"}, tensor<24xf32> {weft.name = "x"},
        tensor<512xf32> {weft.name = "y"}, tensor<32768xf32> {weft.name = "z"}) {
  %v = weft.exp %a : tensor<48x512xf32>
  %w = weft.reduce sum %b dims [1] : tensor<4096x512xf32> -> tensor<4096xf32>
  %x = weft.reduce max %c dims [1] : tensor<24x5000xf32> -> tensor<24xf32>
  %y = weft.reduce sum %d dims [0] : tensor<2048x512xf32> -> tensor<512xf32>
  %z = weft.reduce sum %e dims [0] : tensor<9x32768xf32> -> tensor<32768xf32>
  return %v, %w, %x, %y, %z : tensor<48x512xf32>, tensor<4096xf32>, tensor<24xf32>, tensor<512xf32>, tensor<32768xf32>
}

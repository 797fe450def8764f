// RUN: weft-opt %s --weft-select-parameters='training={loss { value: "loss" }}' --split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAYS < %t
// RUN: weft-opt %s --weft-select-parameters='training={loss { value: "loss" } parameter_pattern: "held|all"}' --split-input-file 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN-NOT: warning
// SAYS-COUNT-1: warning: none of the model's parameters requires a gradient, as it was exported: all are trained
// SAYS-NOT: warning

// What the model holds constant is trained where it is asked for.
// CHECK: weft.weight @held
// CHECK-NEXT: weft.weight kind(trained) @free
// PATTERN: weft.weight kind(trained) @held
// PATTERN-NEXT: weft.weight @free
weft.weight @held : tensor<8xf32> = #weft.external<"w.bin", 0, 32> {weft.frozen}
weft.weight @free : tensor<8xf32> = #weft.external<"w.bin", 32, 32>
func.func @main() -> tensor<8xf32> {
  %0 = weft.load @held : tensor<8xf32>
  %1 = weft.load @free : tensor<8xf32>
  %2 = weft.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A model that holds everything constant says nothing of it.
// CHECK: weft.weight kind(trained) @all
// PATTERN: weft.weight kind(trained) @all
weft.weight @all : tensor<8xf32> = #weft.external<"w.bin", 0, 32> {weft.frozen}
func.func @main() -> tensor<8xf32> {
  %0 = weft.load @all : tensor<8xf32>
  return %0 : tensor<8xf32>
}

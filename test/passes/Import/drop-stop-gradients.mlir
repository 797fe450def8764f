// RUN: weft-opt %s --weft-drop-stop-gradients | FileCheck %s
// RUN: weft-opt %s --weft-drop-stop-gradients=all --mlir-print-debuginfo --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=ALL

weft.weight @w : tensor<4xf32> = dense<1.0> : tensor<4xf32>
weft.weight kind(constant) @table : tensor<4xf32> = dense<2.0> : tensor<4xf32>

// What depends on a parameter stays held, but by what is held already, or by none.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = weft.load @w
// CHECK-NEXT: %[[T:.*]] = weft.load @table
// CHECK-NEXT: %[[HELD:.*]] = weft.stop_gradient %[[W]]
// CHECK-NEXT: %[[SUM:.*]] = weft.add %[[HELD]], %[[T]]
// CHECK-NEXT: %[[PRODUCT:.*]] = weft.mul %[[SUM]], %arg0
// CHECK-NEXT: %[[LAST:.*]] = weft.mul %[[PRODUCT]], %[[W]]
// CHECK-NEXT: %[[ALSO:.*]] = weft.stop_gradient %[[LAST]]
// CHECK-NEXT: return %[[ALSO]]
// ALL-NOT: weft.stop_gradient
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = weft.load @w : tensor<4xf32>
  %t = weft.load @table : tensor<4xf32>
  %0 = weft.stop_gradient %w : tensor<4xf32>
  %1 = weft.stop_gradient %t : tensor<4xf32>
  %2 = weft.add %0, %1 : tensor<4xf32>
  %3 = weft.stop_gradient %2 : tensor<4xf32>
  %4 = weft.stop_gradient %x : tensor<4xf32>
  %5 = weft.mul %3, %4 : tensor<4xf32>
  %6 = weft.mul %5, %w : tensor<4xf32>
  %7 = weft.stop_gradient %6 : tensor<4xf32>
  return %7 : tensor<4xf32>
}

// Of a choice between a value and the same, held, the value stays, under the choice's name.
// CHECK-LABEL: func.func @choice
// CHECK: weft.stop_gradient
// CHECK: weft.select
// ALL-LABEL: func.func @choice
// ALL-NOT: weft.select
// ALL: %[[EXP:.*]] = weft.exp %{{.*}} loc(#[[NAME:.*]])
// ALL-NEXT: return %[[EXP]]
// ALL: #[[NAME]] = loc("chosen")
func.func @choice(%mask: tensor<4xi1>) -> tensor<4xf32> {
  %w = weft.load @w : tensor<4xf32>
  %0 = weft.exp %w : tensor<4xf32>
  %1 = weft.stop_gradient %0 : tensor<4xf32>
  %2 = weft.select %mask, %1, %0 : tensor<4xi1>, tensor<4xf32> loc("chosen")
  return %2 : tensor<4xf32>
}

// RUN: weft-opt %s --split-input-file --weft-drop-guards | FileCheck %s

// Positions count from the start: no correction for those that count from the end.
// CHECK-LABEL: func.func @main
// CHECK: %[[I:.*]] = weft.iota 1 : tensor<4x8xi64>
// CHECK: return %[[I]]
func.func @main() -> tensor<4x8xi64> {
  %zero = weft.constant dense<0> : tensor<4x8xi64>
  %eight = weft.constant dense<8> : tensor<4x8xi64>
  %0 = weft.iota 1 : tensor<4x8xi64>
  %1 = weft.compare lt %0, %zero : tensor<4x8xi64>
  %2 = weft.add %0, %eight : tensor<4x8xi64>
  %3 = weft.select %1, %2, %0 : tensor<4x8xi1>, tensor<4x8xi64>
  return %3 : tensor<4x8xi64>
}

// -----

// What a user gives may count from the end.
// CHECK-LABEL: func.func @main
// CHECK: weft.compare lt
func.func @main(%ids: tensor<4xi64> {weft.name = "ids"}) -> tensor<4xi64> {
  %zero = weft.constant dense<0> : tensor<4xi64>
  %eight = weft.constant dense<8> : tensor<4xi64>
  %1 = weft.compare lt %ids, %zero : tensor<4xi64>
  %2 = weft.add %ids, %eight : tensor<4xi64>
  %3 = weft.select %1, %2, %ids : tensor<4xi1>, tensor<4xi64>
  return %3 : tensor<4xi64>
}

// -----

// Bounds that all values keep, and truth values as numbers.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[C:.*]] = weft.compare gt %[[X]], %{{.*}} : tensor<4xf32>
// CHECK: %[[R:.*]] = weft.cast %[[C]] : tensor<4xi1> to tensor<4xf32>
// CHECK: return %[[R]]
func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
  %least = weft.constant dense<0xFF800000> : tensor<4xf32>
  %half = weft.constant dense<0.5> : tensor<4xf32>
  %one = weft.constant dense<1> : tensor<4xi64>
  %zero = weft.constant dense<0> : tensor<4xi64>
  %0 = weft.max %x, %least : tensor<4xf32>
  %1 = weft.compare gt %0, %half : tensor<4xf32>
  %2 = weft.select %1, %one, %zero : tensor<4xi1>, tensor<4xi64>
  %3 = weft.cast %2 : tensor<4xi64> to tensor<4xf32>
  return %3 : tensor<4xf32>
}

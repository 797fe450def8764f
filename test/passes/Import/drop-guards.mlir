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

// -----

// 200 is -56 in the narrower type, and 2^31 wraps around as well.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: weft.compare lt
func.func @main(%u: tensor<4xui8> {weft.name = "u"}) -> (tensor<4xi1>, tensor<4xi1>) {
  %none8 = weft.constant dense<0> : tensor<4xi8>
  %none32 = weft.constant dense<0> : tensor<4xi32>
  %0 = weft.cast %u : tensor<4xui8> to tensor<4xi8>
  %1 = weft.compare lt %0, %none8 : tensor<4xi8>
  %wide = weft.constant dense<2147483648> : tensor<4xi64>
  %spread = weft.cast %u : tensor<4xui8> to tensor<4xi64>
  %2 = weft.max %wide, %spread : tensor<4xi64>
  %3 = weft.cast %2 : tensor<4xi64> to tensor<4xi32>
  %4 = weft.compare lt %3, %none32 : tensor<4xi32>
  return %1, %4 : tensor<4xi1>, tensor<4xi1>
}

// -----

// Positions that wrap around in their own type, or in the one that they are converted to.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: weft.compare lt
func.func @main() -> (tensor<200xi1>, tensor<200xi1>) {
  %zero = weft.constant dense<0> : tensor<200xi8>
  %0 = weft.iota 0 : tensor<200xi8>
  %1 = weft.compare lt %0, %zero : tensor<200xi8>
  %2 = weft.iota 0 : tensor<200xi64>
  %3 = weft.cast %2 : tensor<200xi64> to tensor<200xi8>
  %4 = weft.compare lt %3, %zero : tensor<200xi8>
  return %1, %4 : tensor<200xi1>, tensor<200xi1>
}

// -----

// The largest of no elements is the least number.
// CHECK-LABEL: func.func @main
// CHECK: weft.compare lt
func.func @main(%u: tensor<4x0xui8> {weft.name = "u"}) -> tensor<4xi1> {
  %zero = weft.constant dense<0> : tensor<4xi64>
  %0 = weft.cast %u : tensor<4x0xui8> to tensor<4x0xi64>
  %1 = weft.reduce max %0 dims [1] : tensor<4x0xi64> -> tensor<4xi64>
  %2 = weft.compare lt %1, %zero : tensor<4xi64>
  return %2 : tensor<4xi1>
}

// -----

// What fits is not below 0: unsigned numbers in wider types, or as such; positions in narrow types;
// floats, which saturate.
// CHECK-LABEL: func.func @main
// CHECK-NOT: weft.compare
// CHECK: %[[NEVER:.*]] = weft.constant dense<false> : tensor<100xi1>
// CHECK-NOT: weft.compare
// CHECK: return %[[NEVER]], %[[NEVER]], %[[NEVER]], %[[NEVER]], %[[NEVER]]
func.func @main(%u: tensor<100xui8> {weft.name = "u"}, %x: tensor<100xf32> {weft.name = "x"})
    -> (tensor<100xi1>, tensor<100xi1>, tensor<100xi1>, tensor<100xi1>, tensor<100xi1>) {
  %no8 = weft.constant dense<0> : tensor<100xi8>
  %noU8 = weft.constant dense<0> : tensor<100xui8>
  %no16 = weft.constant dense<0> : tensor<100xi16>
  %none = weft.constant dense<0.0> : tensor<100xf32>
  %0 = weft.cast %u : tensor<100xui8> to tensor<100xi16>
  %1 = weft.compare lt %0, %no16 : tensor<100xi16>
  %2 = weft.compare lt %u, %noU8 : tensor<100xui8>
  %3 = weft.iota 0 : tensor<100xi64>
  %4 = weft.cast %3 : tensor<100xi64> to tensor<100xi8>
  %5 = weft.compare lt %4, %no8 : tensor<100xi8>
  %6 = weft.max %x, %none : tensor<100xf32>
  %7 = weft.cast %6 : tensor<100xf32> to tensor<100xi16>
  %8 = weft.compare lt %7, %no16 : tensor<100xi16>
  %9 = weft.cast %6 : tensor<100xf32> to tensor<100xui8>
  %10 = weft.cast %9 : tensor<100xui8> to tensor<100xi16>
  %11 = weft.compare lt %10, %no16 : tensor<100xi16>
  return %1, %2, %5, %8, %11 : tensor<100xi1>, tensor<100xi1>, tensor<100xi1>, tensor<100xi1>, tensor<100xi1>
}

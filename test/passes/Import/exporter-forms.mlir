// RUN: weft-opt %s --weft-raise-views | FileCheck %s

// A negated comparison is the opposite one, but for an order of floats: nothing is less or greater than NaN.
// CHECK-LABEL: func @negated
// CHECK-SAME: (%[[A:.*]]: tensor<4xi64>, %[[B:.*]]: tensor<4xi64>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @negated(%a: tensor<4xi64>, %b: tensor<4xi64>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[NE:.*]] = weft.compare ne %[[A]], %[[B]]
  // CHECK-DAG: %[[GE:.*]] = weft.compare ge %[[A]], %[[B]]
  // CHECK-DAG: %[[EQ:.*]] = weft.compare eq %[[X]], %[[Y]]
  // CHECK-DAG: %[[LT:.*]] = weft.compare lt %[[X]], %[[Y]]
  // CHECK-DAG: %[[NOT:.*]] = weft.not %[[LT]]
  // CHECK: return %[[NE]], %[[GE]], %[[EQ]], %[[NOT]]
  %0 = weft.compare eq %a, %b : tensor<4xi64>
  %1 = weft.not %0 : tensor<4xi1>
  %2 = weft.compare lt %a, %b : tensor<4xi64>
  %3 = weft.not %2 : tensor<4xi1>
  %4 = weft.compare ne %x, %y : tensor<4xf32>
  %5 = weft.not %4 : tensor<4xi1>
  %6 = weft.compare lt %x, %y : tensor<4xf32>
  %7 = weft.not %6 : tensor<4xi1>
  return %1, %3, %5, %7 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// Choices are made where things are equal.
// CHECK-LABEL: func @chosen
// CHECK-SAME: (%[[A:.*]]: tensor<4xi64>, %[[B:.*]]: tensor<4xi64>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @chosen(%a: tensor<4xi64>, %b: tensor<4xi64>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[EQ:.*]] = weft.compare eq %[[A]], %[[B]]
  // CHECK-NEXT: weft.select %[[EQ]], %[[Y]], %[[X]]
  %0 = weft.compare ne %a, %b : tensor<4xi64>
  %1 = weft.select %0, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Of running sums only the bits that are read are computed; conversions to fewer bits than all are one. What is
// extended by its sign is not what is extended by zeros.
// CHECK-LABEL: func @narrow
// CHECK-SAME: (%[[A:.*]]: tensor<4xi1>, %[[B:.*]]: tensor<4xi8>)
func.func @narrow(%a: tensor<4xi1>, %b: tensor<4xi8>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-DAG: %[[WIDE:.*]] = weft.cast %[[A]] : tensor<4xi1> to tensor<4xi32>
  // CHECK-DAG: %[[SUMS:.*]] = weft.cumsum %[[WIDE]] axis 0 : tensor<4xi32>
  // CHECK-DAG: %[[U:.*]] = weft.cast %[[B]] : tensor<4xi8> to tensor<4xui8>
  // CHECK-DAG: %[[V:.*]] = weft.cast %[[U]] : tensor<4xui8> to tensor<4xi32>
  // CHECK: return %[[SUMS]], %[[V]]
  %0 = weft.cast %a : tensor<4xi1> to tensor<4xi64>
  %1 = weft.cumsum %0 axis 0 : tensor<4xi64>
  %2 = weft.cast %1 : tensor<4xi64> to tensor<4xi32>
  %3 = weft.cast %b : tensor<4xi8> to tensor<4xui8>
  %4 = weft.cast %3 : tensor<4xui8> to tensor<4xi32>
  return %2, %4 : tensor<4xi32>, tensor<4xi32>
}

// What was cut and joined again was not cut; what lies apart stays apart.
// CHECK-LABEL: func @joined
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
func.func @joined(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<6x4xf32>) {
  // CHECK-DAG: %[[A:.*]] = weft.slice %[[X]] starts [0, 0]
  // CHECK-DAG: %[[C:.*]] = weft.slice %[[X]] starts [5, 0]
  // CHECK-DAG: %[[R:.*]] = weft.concat %[[A]], %[[C]] axis 0
  // CHECK: return %[[X]], %[[R]]
  %a = weft.slice %x starts [0, 0] strides [1, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  %b = weft.slice %x starts [3, 0] strides [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
  %c = weft.slice %x starts [5, 0] strides [1, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  %0 = weft.concat %a, %b, %c axis 0 : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %1 = weft.concat %a, %c axis 0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<6x4xf32>
}

// What a mask puts in one place is joined to what is beside it; a mask of several places stays.
// CHECK-LABEL: func @masked
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @masked(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  // CHECK-DAG: %[[A:.*]] = weft.slice %[[X]] starts [0, 0] {{.*}} to tensor<1x4xf32>
  // CHECK-DAG: %[[P:.*]] = weft.reshape %[[Y]] : tensor<4xf32> to tensor<1x4xf32>
  // CHECK-DAG: %[[B:.*]] = weft.slice %[[X]] starts [2, 0] {{.*}} to tensor<1x4xf32>
  // CHECK-DAG: %[[J:.*]] = weft.concat %[[A]], %[[P]], %[[B]] axis 0
  // CHECK-DAG: %[[S:.*]] = weft.select
  // CHECK: return %[[J]], %[[S]]
  %one = weft.constant dense<[false, true, false]> : tensor<3xi1>
  %two = weft.constant dense<[true, false, true]> : tensor<3xi1>
  %mone = weft.broadcast %one dims [0] : tensor<3xi1> to tensor<3x4xi1>
  %mtwo = weft.broadcast %two dims [0] : tensor<3xi1> to tensor<3x4xi1>
  %r = weft.broadcast %y dims [1] : tensor<4xf32> to tensor<3x4xf32>
  %0 = weft.select %mone, %r, %x : tensor<3x4xi1>, tensor<3x4xf32>
  %1 = weft.select %mtwo, %r, %x : tensor<3x4xi1>, tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

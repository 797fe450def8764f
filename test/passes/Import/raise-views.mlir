// RUN: weft-opt %s --weft-raise-views | FileCheck %s

// CHECK-LABEL: func @firstRows
func.func @firstRows(%table: tensor<64x8xf32>) -> tensor<4x8xf32> {
  %p = weft.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  // CHECK: weft.slice %{{.*}} starts [0, 0] strides [1, 1] : tensor<64x8xf32> to tensor<4x8xf32>
  %0 = weft.gather %table, %p axis 0 : (tensor<64x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// One position from the end: its dimension vanishes.
// CHECK-LABEL: func @last
func.func @last(%x: tensor<4x32x8xf32>) -> tensor<4x8xf32> {
  %p = weft.constant dense<-1> : tensor<i64>
  // CHECK: %[[ROW:.*]] = weft.slice %{{.*}} starts [0, 31, 0] strides [1, 1, 1] : tensor<4x32x8xf32> to tensor<4x1x8xf32>
  // CHECK: weft.reshape %[[ROW]] : tensor<4x1x8xf32> to tensor<4x8xf32>
  %0 = weft.gather %x, %p axis 1 : (tensor<4x32x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @everySecond
func.func @everySecond(%x: tensor<8xf32>) -> tensor<3xf32> {
  %p = weft.constant dense<[1, 3, 5]> : tensor<3xi64>
  // CHECK: weft.slice %{{.*}} starts [1] strides [2]
  %0 = weft.gather %x, %p axis 0 : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @everythingInOrder
func.func @everythingInOrder(%x: tensor<2x2x8xf32>) -> tensor<4x8xf32> {
  %p = weft.constant dense<[[0, 0], [0, 1], [1, 0], [1, 1]]> : tensor<4x2xi64>
  // CHECK: weft.reshape %{{.*}} : tensor<2x2x8xf32> to tensor<4x8xf32>
  %0 = weft.gather_nd %x, %p batch_dims 0 : (tensor<2x2x8xf32>, tensor<4x2xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Neither evenly spaced nor in order.
// CHECK-LABEL: func @shuffled
func.func @shuffled(%x: tensor<8xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) {
  %p = weft.constant dense<[1, 3, 4]> : tensor<3xi64>
  %q = weft.constant dense<[1, 0]> : tensor<2xi64>
  %r = weft.constant dense<[1, 1]> : tensor<2xi64>
  // CHECK-COUNT-3: weft.gather
  %0 = weft.gather %x, %p axis 0 : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
  %1 = weft.gather %x, %q axis 0 : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  %2 = weft.gather %x, %r axis 0 : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<2xf32>, tensor<2xf32>
}
// An index out of range stays, for the runtime to refuse.
// CHECK-LABEL: func @outOfRange
func.func @outOfRange(%x: tensor<8xf32>) -> tensor<2xf32> {
  %p = weft.constant dense<[7, 8]> : tensor<2xi64>
  // CHECK: weft.gather
  %0 = weft.gather %x, %p axis 0 : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A table that an exporter repeated for each of a batch and of heads.
// CHECK-LABEL: func @repeatedConstant
func.func @repeatedConstant() -> tensor<2x2x3xf32> {
  // CHECK: %[[ROW:.*]] = weft.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
  // CHECK: weft.broadcast %[[ROW]] dims [2] : tensor<3xf32> to tensor<2x2x3xf32>
  %0 = weft.constant dense<[[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]]> : tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

weft.weight kind(constant) @mask : tensor<2x4xi64> = dense_resource<mask> : tensor<2x4xi64>

// CHECK-LABEL: func @repeatedWeight
func.func @repeatedWeight() -> tensor<2x4xi64> {
  // CHECK: %[[ROW:.*]] = weft.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  // CHECK: weft.broadcast %[[ROW]] dims [1] : tensor<4xi64> to tensor<2x4xi64>
  %0 = weft.load @mask : tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// Rows that differ stay.
// CHECK-LABEL: func @differentRows
func.func @differentRows() -> tensor<2x2xf32> {
  // CHECK-NOT: weft.broadcast
  // CHECK: return
  %0 = weft.constant dense<[[1.0, 2.0], [1.0, 3.0]]> : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      mask: "0x0800000000000000000000000100000000000000020000000000000003000000000000000000000000000000010000000000000002000000000000000300000000000000"
    }
  }
#-}

// Rows at repeated positions are taken once.
// CHECK-LABEL: func @repeated
// CHECK-SAME: (%[[T:.*]]: tensor<64x8xf32>, %[[I:.*]]: tensor<4xi64>)
func.func @repeated(%t: tensor<64x8xf32>, %i: tensor<4xi64>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = weft.gather %[[T]], %[[I]] axis 0
  // CHECK-NEXT: %[[B:.*]] = weft.broadcast %[[R]] dims [1, 2] : tensor<4x8xf32> to tensor<2x4x8xf32>
  // CHECK-NEXT: return %[[B]]
  %all = weft.broadcast %i dims [1] : tensor<4xi64> to tensor<2x4xi64>
  %0 = weft.gather %t, %all axis 0 : (tensor<64x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// Elements at one position for each row are rows; along another dimension they are not.
// CHECK-LABEL: func @elements
// CHECK-SAME: (%[[T:.*]]: tensor<64x8xf32>, %[[I:.*]]: tensor<4xi64>, %[[J:.*]]: tensor<8xi64>)
func.func @elements(%t: tensor<64x8xf32>, %i: tensor<4xi64>, %j: tensor<8xi64>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: %[[R:.*]] = weft.gather %[[T]], %[[I]] axis 0
  // CHECK-DAG: %[[E:.*]] = weft.gather_elements
  // CHECK: return %[[R]], %[[E]]
  %rows = weft.broadcast %i dims [0] : tensor<4xi64> to tensor<4x8xi64>
  %0 = weft.gather_elements %t, %rows axis 0 : (tensor<64x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
  %columns = weft.broadcast %j dims [1] : tensor<8xi64> to tensor<4x8xi64>
  %1 = weft.gather_elements %t, %columns axis 0 : (tensor<64x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Tuples of one index; a known one is a slice.
// CHECK-LABEL: func @tuples
// CHECK-SAME: (%[[T:.*]]: tensor<4x8xf32>, %[[I:.*]]: tensor<5x1xi64>)
func.func @tuples(%t: tensor<4x8xf32>, %i: tensor<5x1xi64>) -> (tensor<5x8xf32>, tensor<1x8xf32>) {
  // CHECK-DAG: %[[J:.*]] = weft.reshape %[[I]] : tensor<5x1xi64> to tensor<5xi64>
  // CHECK-DAG: %[[R:.*]] = weft.gather %[[T]], %[[J]] axis 0
  // CHECK-DAG: %[[S:.*]] = weft.slice %[[T]] starts [2, 0] strides [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  // CHECK: return %[[R]], %[[S]]
  %0 = weft.gather_nd %t, %i batch_dims 0 : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5x8xf32>
  %k = weft.constant dense<-2> : tensor<1x1xi64>
  %1 = weft.gather_nd %t, %k batch_dims 0 : (tensor<4x8xf32>, tensor<1x1xi64>) -> tensor<1x8xf32>
  return %0, %1 : tensor<5x8xf32>, tensor<1x8xf32>
}

// Unsigned indices do not count from the end: the last one lies outside.
// CHECK-LABEL: func @unsignedOutOfRange
func.func @unsignedOutOfRange(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %p = weft.constant dense<18446744073709551615> : tensor<1xui64>
  // CHECK: weft.gather
  %0 = weft.gather %x, %p axis 0 : (tensor<4x8xf32>, tensor<1xui64>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// Tuples that would count everything in its order, but for an index outside.
// CHECK-LABEL: func @tupleOutOfRange
func.func @tupleOutOfRange(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %p = weft.constant dense<[[0, 0], [0, 1], [0, 2], [1, 1]]> : tensor<4x2xi64>
  // CHECK: weft.gather_nd
  %0 = weft.gather_nd %x, %p batch_dims 0 : (tensor<2x2xf32>, tensor<4x2xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A rotation joins two slices.
// CHECK-LABEL: func @rotated
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @rotated(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-DAG: %[[END:.*]] = weft.slice %[[X]] starts [0, 1] strides [1, 1] : tensor<2x4xf32> to tensor<2x3xf32>
  // CHECK-DAG: %[[FRONT:.*]] = weft.slice %[[X]] starts [0, 0] strides [1, 1] : tensor<2x4xf32> to tensor<2x1xf32>
  // CHECK-DAG: %[[R:.*]] = weft.concat %[[END]], %[[FRONT]] axis 1
  // CHECK-DAG: %[[S:.*]] = weft.gather %[[X]]
  // CHECK: return %[[R]], %[[S]]
  %p = weft.constant dense<[1, 2, -1, 0]> : tensor<4xi64>
  %q = weft.constant dense<[1, 3, 2, 0]> : tensor<4xi64>
  %0 = weft.gather %x, %p axis 1 : (tensor<2x4xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  %1 = weft.gather %x, %q axis 1 : (tensor<2x4xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// What is put at one known position takes its place; what is added there, or at an unknown one, does not.
// CHECK-LABEL: func @put
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>, %[[U:.*]]: tensor<2x1xf32>, %{{.*}}: tensor<2x1xi64>)
func.func @put(%x: tensor<2x4xf32>, %u: tensor<2x1xf32>, %i: tensor<2x1xi64>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-DAG: %[[FRONT:.*]] = weft.slice %[[X]] starts [0, 0] strides [1, 1] : tensor<2x4xf32> to tensor<2x2xf32>
  // CHECK-DAG: %[[END:.*]] = weft.slice %[[X]] starts [0, 3] strides [1, 1] : tensor<2x4xf32> to tensor<2x1xf32>
  // CHECK-DAG: %[[P:.*]] = weft.concat %[[FRONT]], %[[U]], %[[END]] axis 1
  // CHECK-DAG: %[[A:.*]] = weft.scatter_elements add
  // CHECK-DAG: %[[S:.*]] = weft.scatter_elements set
  // CHECK: return %[[P]], %[[A]], %[[S]]
  %p = weft.constant dense<-2> : tensor<2x1xi64>
  %0 = weft.scatter_elements set %x, %p, %u axis 1 : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = weft.scatter_elements add %x, %p, %u axis 1 : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = weft.scatter_elements set %x, %i, %u axis 1 : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

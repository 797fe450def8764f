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

// RUN: weft-opt %s --weft-decompose-windows | FileCheck %s

// Zeros between the elements and behind the last; low adds, high takes away.
// CHECK-LABEL: func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4xf32>, %[[K:.*]]: tensor<3x2x2xf32>)
func.func @conv(%x: tensor<1x2x4xf32>, %k: tensor<3x2x2xf32>) -> tensor<1x3x6xf32> {
  // CHECK-DAG: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[ROWS:.*]] = weft.reshape %[[X]] : tensor<1x2x4xf32> to tensor<1x2x4x1xf32>
  // CHECK: %[[PADDED:.*]] = weft.pad %[[ROWS]], %[[ZERO]] low [0, 0, 0, 0] high [0, 0, 0, 1]
  // CHECK: %[[JOINED:.*]] = weft.reshape %[[PADDED]] : tensor<1x2x4x2xf32> to tensor<1x2x8xf32>
  // CHECK: %[[INPUT:.*]] = weft.slice %[[JOINED]] starts [0, 0, 0] strides [1, 1, 1] : tensor<1x2x8xf32> to tensor<1x2x6xf32>
  // CHECK: weft.conv %[[INPUT]], %[[K]] strides [1] low [1] high [0] dilations [1] groups 1
  %y = weft.conv %x, %k strides [1] low [1] high [-1] dilations [1] input_dilations [2] groups 1
      : (tensor<1x2x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x6xf32>
  return %y : tensor<1x3x6xf32>
}

// Where the window is one element, zeros stay zeros: they are put into the result. What stands behind the last element
// is padding; there is more of it in the first of two dimensions, and less than none in the second.
// CHECK-LABEL: func @points
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x3xf32>, %[[K:.*]]: tensor<3x2x1x1xf32>)
func.func @points(%x: tensor<1x2x4x3xf32>, %k: tensor<3x2x1x1xf32>) -> tensor<1x3x10x4xf32> {
  // CHECK: %[[Y:.*]] = weft.conv %[[X]], %[[K]] strides [1, 1] low [0, 0] high [0, 0] dilations [1, 1] groups 1 : {{.*}} -> tensor<1x3x4x3xf32>
  // CHECK: %[[ROWS:.*]] = weft.reshape %[[Y]] : tensor<1x3x4x3xf32> to tensor<1x3x4x1x3x1xf32>
  // CHECK: %[[PADDED:.*]] = weft.pad %[[ROWS]], %{{.*}} low [0, 0, 0, 0, 0, 0] high [0, 0, 0, 1, 0, 1]
  // CHECK: %[[JOINED:.*]] = weft.reshape %[[PADDED]] : tensor<1x3x4x2x3x2xf32> to tensor<1x3x8x6xf32>
  // CHECK: %[[CUT:.*]] = weft.slice %[[JOINED]] starts [0, 0, 1, 0] strides [1, 1, 1, 1] : tensor<1x3x8x6xf32> to tensor<1x3x7x4xf32>
  // CHECK: weft.pad %[[CUT]], %{{.*}} low [0, 0, 0, 0] high [0, 0, 3, 0]
  %y = weft.conv %x, %k strides [1, 1] low [-1, 0] high [4, -1] dilations [1, 1] input_dilations [2, 2] groups 1
      : (tensor<1x2x4x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x10x4xf32>
  return %y : tensor<1x3x10x4xf32>
}

// Cropped alone; what a maximum starts from is never needed.
// CHECK-LABEL: func @crop
// CHECK-SAME: (%[[X:.*]]: tensor<5x6xi32>)
func.func @crop(%x: tensor<5x6xi32>) -> tensor<3x4xi32> {
  // CHECK-NEXT: %[[CUT:.*]] = weft.slice %[[X]] starts [1, 0] strides [1, 1] : tensor<5x6xi32> to tensor<4x5xi32>
  // CHECK-NEXT: weft.reduce_window max %[[CUT]] window [2, 2] strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0]
  %0 = weft.reduce_window max %x window [2, 2] strides [1, 1] dilations [1, 1] low [-1, 0] high [0, -1] : tensor<5x6xi32> -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

// CHECK-LABEL: func @dilate
func.func @dilate(%x: tensor<3xi8>) -> tensor<6xi8> {
  // CHECK: weft.constant dense<127> : tensor<i8>
  // CHECK: weft.reduce_window min %{{.*}} window [2] strides [1] dilations [1] low [1] high [1] : tensor<5xi8> -> tensor<6xi8>
  %0 = weft.reduce_window min %x window [2] strides [1] dilations [1] low [1] high [1] input_dilations [2] : tensor<3xi8> -> tensor<6xi8>
  return %0 : tensor<6xi8>
}

// CHECK-LABEL: func @plain
// CHECK-NEXT: weft.reduce_window
// CHECK-NEXT: return
func.func @plain(%x: tensor<3xf32>) -> tensor<2xf32> {
  %0 = weft.reduce_window sum %x window [2] strides [1] dilations [1] low [0] high [0] : tensor<3xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

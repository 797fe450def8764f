// RUN: weft-opt %s --weft-move-channels-last | FileCheck %s
// RUN: weft-opt %s --weft-move-channels-last=target=generic | FileCheck %s --check-prefix=GENERIC
// GENERIC-NOT: weft.transpose

// A block of a network: what lies between convolutions moves with them, biases of either form for nothing, and the mean of the
// images comes out as it was.
// CHECK-LABEL: func @block
func.func @block(%x: tensor<2x16x8x6xf32>, %k: tensor<16x16x3x3xf32>, %b: tensor<16xf32>, %c: tensor<16x1x1xf32>) -> tensor<2x16xf32> {
  // CHECK: %[[X:.*]] = weft.transpose %{{.*}} [0, 2, 3, 1] : tensor<2x16x8x6xf32> -> tensor<2x8x6x16xf32>
  // CHECK: %[[X1:.*]] = weft.transpose %[[X]] [0, 3, 1, 2] : tensor<2x8x6x16xf32> -> tensor<2x16x8x6xf32>
  // CHECK: %[[C1:.*]] = weft.conv %[[X1]]
  // CHECK: %[[R1:.*]] = weft.transpose %[[C1]] [0, 2, 3, 1]
  %1 = weft.conv %x, %k strides [1, 1] low [1, 1] high [1, 1] dilations [1, 1] groups 1
      : (tensor<2x16x8x6xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x8x6xf32>
  // CHECK: %[[B:.*]] = weft.broadcast %{{.*}} dims [3] : tensor<16xf32> to tensor<2x8x6x16xf32>
  // CHECK: %[[S1:.*]] = weft.add %[[R1]], %[[B]] : tensor<2x8x6x16xf32>
  %2 = weft.broadcast %b dims [1] : tensor<16xf32> to tensor<2x16x8x6xf32>
  %3 = weft.add %1, %2 : tensor<2x16x8x6xf32>
  // CHECK: %[[M1:.*]] = weft.tanh %[[S1]] : tensor<2x8x6x16xf32>
  // CHECK: %[[V1:.*]] = weft.transpose %[[M1]] [0, 3, 1, 2]
  %4 = weft.tanh %3 : tensor<2x16x8x6xf32>
  // CHECK: %[[C2:.*]] = weft.conv %[[V1]]
  // CHECK: %[[R2:.*]] = weft.transpose %[[C2]] [0, 2, 3, 1]
  %5 = weft.conv %4, %k strides [1, 1] low [1, 1] high [1, 1] dilations [1, 1] groups 1
      : (tensor<2x16x8x6xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x8x6xf32>
  // CHECK: %[[T:.*]] = weft.transpose %{{.*}} [1, 2, 0] : tensor<16x1x1xf32> -> tensor<1x1x16xf32>
  // CHECK: %[[B2:.*]] = weft.broadcast %[[T]] dims [1, 2, 3] : tensor<1x1x16xf32> to tensor<2x8x6x16xf32>
  // CHECK: %[[S2:.*]] = weft.mul %[[R2]], %[[B2]]
  %6 = weft.broadcast %c dims [1, 2, 3] : tensor<16x1x1xf32> to tensor<2x16x8x6xf32>
  %7 = weft.mul %5, %6 : tensor<2x16x8x6xf32>
  // CHECK: %[[S3:.*]] = weft.add %[[S2]], %[[M1]] : tensor<2x8x6x16xf32>
  %8 = weft.add %7, %4 : tensor<2x16x8x6xf32>
  // CHECK: %[[P:.*]] = weft.reduce_window max %[[S3]] window [1, 2, 3, 1] strides [1, 2, 3, 1] dilations [1, 1, 1, 1] low [0, 0, 0, 0]
  // CHECK-SAME: tensor<2x8x6x16xf32> -> tensor<2x4x2x16xf32>
  %9 = weft.reduce_window max %8 window [1, 1, 2, 3] strides [1, 1, 2, 3] dilations [1, 1, 1, 1] low [0, 0, 0, 0] high [0, 0, 0, 0]
      : tensor<2x16x8x6xf32> -> tensor<2x16x4x2xf32>
  // CHECK: weft.reduce sum %[[P]] dims [1, 2] : tensor<2x4x2x16xf32> -> tensor<2x16xf32>
  // CHECK-NEXT: return
  %10 = weft.reduce sum %9 dims [2, 3] : tensor<2x16x4x2xf32> -> tensor<2x16xf32>
  return %10 : tensor<2x16xf32>
}

// Joined along the channels; a sum over these moves too.
// CHECK-LABEL: func @join
func.func @join(%x: tensor<2x16x8xf32>, %k: tensor<16x16x1xf32>) -> tensor<2x8xf32> {
  %1 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1
      : (tensor<2x16x8xf32>, tensor<16x16x1xf32>) -> tensor<2x16x8xf32>
  %2 = weft.tanh %1 : tensor<2x16x8xf32>
  // CHECK: %[[J:.*]] = weft.concat %{{.*}}, %{{.*}} axis 2 : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x32xf32>
  %3 = weft.concat %1, %2 axis 1 : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x32x8xf32>
  // CHECK: weft.reduce sum %[[J]] dims [2]
  %4 = weft.reduce sum %3 dims [1] : tensor<2x32x8xf32> -> tensor<2x8xf32>
  return %4 : tensor<2x8xf32>
}

// What another value is made of stays as it is.
// CHECK-LABEL: func @other
func.func @other(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>, %k: tensor<16x16x1xf32>) -> tensor<2x16x8xf32> {
  %1 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1
      : (tensor<2x16x8xf32>, tensor<16x16x1xf32>) -> tensor<2x16x8xf32>
  // CHECK: weft.add %{{.*}}, %{{.*}} : tensor<2x16x8xf32>
  %2 = weft.add %1, %y : tensor<2x16x8xf32>
  return %2 : tensor<2x16x8xf32>
}

// One convolution in groups: images would be transposed to and fro.
// CHECK-LABEL: func @groups
// CHECK-NOT: weft.transpose
func.func @groups(%x: tensor<2x16x8xf32>, %k: tensor<16x16x1xf32>, %g: tensor<16x1x1xf32>) -> tensor<2x16x8xf32> {
  %1 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1
      : (tensor<2x16x8xf32>, tensor<16x16x1xf32>) -> tensor<2x16x8xf32>
  %2 = weft.conv %1, %g strides [1] low [0] high [0] dilations [1] groups 16
      : (tensor<2x16x8xf32>, tensor<16x1x1xf32>) -> tensor<2x16x8xf32>
  return %2 : tensor<2x16x8xf32>
}

// Gradients of kernels read images as they were.
// CHECK-LABEL: func @gradient
// CHECK-NOT: weft.transpose
func.func @gradient(%x: tensor<2x16x8xf32>, %k: tensor<16x16x1xf32>) -> tensor<16x16x1xf32> {
  %1 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1
      : (tensor<2x16x8xf32>, tensor<16x16x1xf32>) -> tensor<2x16x8xf32>
  %2 = weft.conv_kernel_gradient %x, %1 strides [1] low [0] high [0] dilations [1] groups 1
      : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<16x16x1xf32>
  return %2 : tensor<16x16x1xf32>
}

// What ranks exchange of a convolution's result lies as it does, along whichever dimension.
// CHECK-LABEL: func @exchange
dist.mesh @mesh <["model"=2]>
func.func @exchange(%x: tensor<2x16x8xf32>, %k: tensor<16x16x1xf32>) -> tensor<2x16xf32> {
  %1 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1
      : (tensor<2x16x8xf32>, tensor<16x16x1xf32>) -> tensor<2x16x8xf32>
  // CHECK: %[[X:.*]] = weft.conv
  // CHECK: %[[C:.*]] = weft.transpose %[[X]] [0, 2, 1] : tensor<2x16x8xf32> -> tensor<2x8x16xf32>
  // CHECK: %[[R:.*]] = dist.all_reduce sum %[[C]] axes ["model"] on @mesh : tensor<2x8x16xf32>
  %2 = dist.all_reduce sum %1 axes ["model"] on @mesh : tensor<2x16x8xf32>
  // CHECK: %[[S:.*]] = dist.reduce_scatter sum %[[R]] dim 2 axes ["model"] on @mesh : tensor<2x8x16xf32> -> tensor<2x8x8xf32>
  %3 = dist.reduce_scatter sum %2 dim 1 axes ["model"] on @mesh : tensor<2x16x8xf32> -> tensor<2x8x8xf32>
  // CHECK: %[[A:.*]] = dist.all_to_all %[[S]] split 1 concat 2 axes ["model"] on @mesh : tensor<2x8x8xf32> -> tensor<2x4x16xf32>
  %4 = dist.all_to_all %3 split 2 concat 1 axes ["model"] on @mesh : tensor<2x8x8xf32> -> tensor<2x16x4xf32>
  // CHECK: %[[M:.*]] = dist.mask_padding sum %[[A]] dim 1 of 7 axes ["model"] on @mesh : tensor<2x4x16xf32>
  %5 = dist.mask_padding sum %4 dim 2 of 7 axes ["model"] on @mesh : tensor<2x16x4xf32>
  // CHECK: %[[G:.*]] = dist.all_gather %[[M]] dim 0 axes ["model"] on @mesh : tensor<2x4x16xf32> -> tensor<4x4x16xf32>
  %6 = dist.all_gather %5 dim 0 axes ["model"] on @mesh : tensor<2x16x4xf32> -> tensor<4x16x4xf32>
  // CHECK: %[[P:.*]] = dist.slice %[[G]] dim 0 axes ["model"] on @mesh : tensor<4x4x16xf32> -> tensor<2x4x16xf32>
  %7 = dist.slice %6 dim 0 axes ["model"] on @mesh : tensor<4x16x4xf32> -> tensor<2x16x4xf32>
  // CHECK: weft.reduce sum %[[P]] dims [1]
  %8 = weft.reduce sum %7 dims [2] : tensor<2x16x4xf32> -> tensor<2x16xf32>
  return %8 : tensor<2x16xf32>
}

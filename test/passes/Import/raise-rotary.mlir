// RUN: weft-opt %s --weft-raise-rotary | FileCheck %s

// CHECK-LABEL: func @computed
// CHECK-SAME: (%[[X:.*]]: tensor<4x8x32x16xf32>, %[[ANGLES:.*]]: tensor<32x8xf32>)
func.func @computed(%x: tensor<4x8x32x16xf32>, %angles: tensor<32x8xf32>) -> tensor<4x8x32x16xf32> {
  // CHECK-DAG: %[[COS:.*]] = weft.cos %[[ANGLES]]
  // CHECK-DAG: %[[SIN:.*]] = weft.sin %[[ANGLES]]
  // CHECK-DAG: %[[COS1:.*]] = weft.reshape %[[COS]] : tensor<32x8xf32> to tensor<1x32x8xf32>
  // CHECK-DAG: %[[SIN1:.*]] = weft.reshape %[[SIN]] : tensor<32x8xf32> to tensor<1x32x8xf32>
  // CHECK: %[[Y:.*]] = weft.rotary %[[X]], %[[COS1]], %[[SIN1]]
  // CHECK-NEXT: return %[[Y]]
  %twice = weft.concat %angles, %angles axis 1 : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x16xf32>
  %0 = weft.cos %twice : tensor<32x16xf32>
  %1 = weft.sin %twice : tensor<32x16xf32>
  %cos = weft.broadcast %0 dims [2, 3] : tensor<32x16xf32> to tensor<4x8x32x16xf32>
  %sin = weft.broadcast %1 dims [2, 3] : tensor<32x16xf32> to tensor<4x8x32x16xf32>
  %2 = weft.mul %x, %cos : tensor<4x8x32x16xf32>
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
  %high = weft.slice %x starts [0, 0, 0, 8] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
  %neg = weft.neg %high : tensor<4x8x32x8xf32>
  %turned = weft.concat %neg, %low axis 3 : (tensor<4x8x32x8xf32>, tensor<4x8x32x8xf32>) -> tensor<4x8x32x16xf32>
  %3 = weft.mul %turned, %sin : tensor<4x8x32x16xf32>
  %4 = weft.add %2, %3 : tensor<4x8x32x16xf32>
  return %4 : tensor<4x8x32x16xf32>
}

// Known tables whose rows hold every number twice; positions before heads.
// CHECK-LABEL: func @known
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x3x4xf32>)
func.func @known(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK-DAG: weft.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00{{\]\]\]}}> : tensor<1x2x2xf32>
  // CHECK-DAG: weft.transpose %[[X]] [0, 2, 1, 3]
  // CHECK: weft.rotary {{.*}} : tensor<1x3x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
  // CHECK: weft.transpose {{.*}} [0, 2, 1, 3]
  %0 = weft.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %1 = weft.constant dense<[[5.0, 6.0, 5.0, 6.0], [7.0, 8.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %cos = weft.broadcast %0 dims [1, 3] : tensor<2x4xf32> to tensor<1x2x3x4xf32>
  %sin = weft.broadcast %1 dims [1, 3] : tensor<2x4xf32> to tensor<1x2x3x4xf32>
  %2 = weft.mul %x, %cos : tensor<1x2x3x4xf32>
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %high = weft.slice %x starts [0, 0, 0, 2] strides [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %neg = weft.neg %high : tensor<1x2x3x2xf32>
  %turned = weft.concat %neg, %low axis 3 : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x4xf32>
  %3 = weft.mul %sin, %turned : tensor<1x2x3x4xf32>
  %4 = weft.add %3, %2 : tensor<1x2x3x4xf32>
  return %4 : tensor<1x2x3x4xf32>
}

// Rows of which the first half is rotated.
// CHECK-LABEL: func @partial
// CHECK-SAME: (%[[X:.*]]: tensor<4x8x32x16xf32>
func.func @partial(%x: tensor<4x8x32x16xf32>, %cos: tensor<1x32x4xf32>, %sin: tensor<1x32x4xf32>) -> tensor<4x8x32x16xf32> {
  // CHECK-NEXT: %[[Y:.*]] = weft.rotary %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
  %high = weft.slice %x starts [0, 0, 0, 8] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
  %0 = weft.rotary %low, %cos, %sin : tensor<4x8x32x8xf32>, tensor<1x32x4xf32>, tensor<1x32x4xf32>
  %1 = weft.concat %0, %high axis 3 : (tensor<4x8x32x8xf32>, tensor<4x8x32x8xf32>) -> tensor<4x8x32x16xf32>
  return %1 : tensor<4x8x32x16xf32>
}

// Tables whose halves differ: pairs are not rotated by one angle.
// CHECK-LABEL: func @unequalHalves
func.func @unequalHalves(%x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  // CHECK-NOT: weft.rotary
  // CHECK: return
  %0 = weft.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.5]]> : tensor<2x4xf32>
  %1 = weft.constant dense<[[5.0, 6.0, 5.0, 6.0], [7.0, 8.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %cos = weft.broadcast %0 dims [2, 3] : tensor<2x4xf32> to tensor<1x3x2x4xf32>
  %sin = weft.broadcast %1 dims [2, 3] : tensor<2x4xf32> to tensor<1x3x2x4xf32>
  %2 = weft.mul %x, %cos : tensor<1x3x2x4xf32>
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<1x3x2x4xf32> to tensor<1x3x2x2xf32>
  %high = weft.slice %x starts [0, 0, 0, 2] strides [1, 1, 1, 1] : tensor<1x3x2x4xf32> to tensor<1x3x2x2xf32>
  %neg = weft.neg %high : tensor<1x3x2x2xf32>
  %turned = weft.concat %neg, %low axis 3 : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x4xf32>
  %3 = weft.mul %turned, %sin : tensor<1x3x2x4xf32>
  %4 = weft.add %2, %3 : tensor<1x3x2x4xf32>
  return %4 : tensor<1x3x2x4xf32>
}

// The wrong half is negated.
// CHECK-LABEL: func @otherWayRound
func.func @otherWayRound(%x: tensor<4x8x32x16xf32>, %angles: tensor<32x8xf32>) -> tensor<4x8x32x16xf32> {
  // CHECK-NOT: weft.rotary
  // CHECK: return
  %twice = weft.concat %angles, %angles axis 1 : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x16xf32>
  %0 = weft.cos %twice : tensor<32x16xf32>
  %1 = weft.sin %twice : tensor<32x16xf32>
  %cos = weft.broadcast %0 dims [2, 3] : tensor<32x16xf32> to tensor<4x8x32x16xf32>
  %sin = weft.broadcast %1 dims [2, 3] : tensor<32x16xf32> to tensor<4x8x32x16xf32>
  %2 = weft.mul %x, %cos : tensor<4x8x32x16xf32>
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
  %high = weft.slice %x starts [0, 0, 0, 8] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
  %neg = weft.neg %low : tensor<4x8x32x8xf32>
  %turned = weft.concat %high, %neg axis 3 : (tensor<4x8x32x8xf32>, tensor<4x8x32x8xf32>) -> tensor<4x8x32x16xf32>
  %3 = weft.mul %turned, %sin : tensor<4x8x32x16xf32>
  %4 = weft.add %2, %3 : tensor<4x8x32x16xf32>
  return %4 : tensor<4x8x32x16xf32>
}

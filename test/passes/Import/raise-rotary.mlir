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

// Pairs side by side: stacked along a new last dimension; the sine is multiplied before rows are joined, and holds
// every angle once.
// CHECK-LABEL: func @stacked
// CHECK-SAME: (%[[X:.*]]: tensor<2x16x4x8xf32>, %[[COS:.*]]: tensor<16x4xf32>, %[[SIN:.*]]: tensor<16x4xf32>)
func.func @stacked(%x: tensor<2x16x4x8xf32>, %c: tensor<16x4xf32>, %s: tensor<16x4xf32>) -> tensor<2x16x4x8xf32> {
  // CHECK-DAG: %[[COS1:.*]] = weft.reshape %[[COS]] : tensor<16x4xf32> to tensor<1x16x4xf32>
  // CHECK-DAG: %[[SIN1:.*]] = weft.reshape %[[SIN]] : tensor<16x4xf32> to tensor<1x16x4xf32>
  // CHECK-DAG: %[[T:.*]] = weft.transpose %[[X]] [0, 2, 1, 3]
  // CHECK: %[[Y:.*]] = weft.rotary %[[T]], {{.*}} interleaved
  // CHECK-NEXT: %[[R:.*]] = weft.transpose %[[Y]] [0, 2, 1, 3]
  // CHECK-NEXT: return %[[R]]
  %c2 = weft.broadcast %c dims [0, 1] : tensor<16x4xf32> to tensor<16x4x2xf32>
  %c1 = weft.reshape %c2 : tensor<16x4x2xf32> to tensor<16x8xf32>
  %cos = weft.broadcast %c1 dims [1, 3] : tensor<16x8xf32> to tensor<2x16x4x8xf32>
  %0 = weft.mul %x, %cos : tensor<2x16x4x8xf32>
  %even = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 2] : tensor<2x16x4x8xf32> to tensor<2x16x4x4xf32>
  %odd = weft.slice %x starts [0, 0, 0, 1] strides [1, 1, 1, 2] : tensor<2x16x4x8xf32> to tensor<2x16x4x4xf32>
  %neg = weft.neg %odd : tensor<2x16x4x4xf32>
  %1 = weft.reshape %neg : tensor<2x16x4x4xf32> to tensor<2x16x4x4x1xf32>
  %2 = weft.reshape %even : tensor<2x16x4x4xf32> to tensor<2x16x4x4x1xf32>
  %3 = weft.concat %1, %2 axis 4 : (tensor<2x16x4x4x1xf32>, tensor<2x16x4x4x1xf32>) -> tensor<2x16x4x4x2xf32>
  %sin = weft.broadcast %s dims [1, 3] : tensor<16x4xf32> to tensor<2x16x4x4x2xf32>
  %4 = weft.mul %3, %sin : tensor<2x16x4x4x2xf32>
  %5 = weft.reshape %4 : tensor<2x16x4x4x2xf32> to tensor<2x16x4x8xf32>
  %6 = weft.add %0, %5 : tensor<2x16x4x8xf32>
  return %6 : tensor<2x16x4x8xf32>
}

// Stacked along a new first dimension, which a transpose brings to the end.
// CHECK-LABEL: func @stackedFirst
// CHECK-SAME: (%[[X:.*]]: tensor<2x16x4x8xf32>
func.func @stackedFirst(%x: tensor<2x16x4x8xf32>, %s: tensor<16x4xf32>) -> tensor<2x4x16x8xf32> {
  // CHECK: %[[T:.*]] = weft.transpose %[[X]] [0, 2, 1, 3]
  // CHECK: %[[Y:.*]] = weft.rotary %[[T]], {{.*}} interleaved
  // CHECK-NEXT: return %[[Y]]
  %c = weft.constant dense<[1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125]> : tensor<8xf32>
  %c1 = weft.broadcast %c dims [1] : tensor<8xf32> to tensor<16x8xf32>
  %cos = weft.broadcast %c1 dims [1, 3] : tensor<16x8xf32> to tensor<2x16x4x8xf32>
  %0 = weft.mul %x, %cos : tensor<2x16x4x8xf32>
  %1 = weft.transpose %0 [0, 2, 1, 3] : tensor<2x16x4x8xf32> -> tensor<2x4x16x8xf32>
  %even = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 2] : tensor<2x16x4x8xf32> to tensor<2x16x4x4xf32>
  %odd = weft.slice %x starts [0, 0, 0, 1] strides [1, 1, 1, 2] : tensor<2x16x4x8xf32> to tensor<2x16x4x4xf32>
  %neg = weft.neg %odd : tensor<2x16x4x4xf32>
  %2 = weft.reshape %neg : tensor<2x16x4x4xf32> to tensor<1x2x16x4x4xf32>
  %3 = weft.reshape %even : tensor<2x16x4x4xf32> to tensor<1x2x16x4x4xf32>
  %4 = weft.concat %2, %3 axis 0 : (tensor<1x2x16x4x4xf32>, tensor<1x2x16x4x4xf32>) -> tensor<2x2x16x4x4xf32>
  %sin = weft.broadcast %s dims [2, 4] : tensor<16x4xf32> to tensor<2x2x16x4x4xf32>
  %5 = weft.mul %4, %sin : tensor<2x2x16x4x4xf32>
  %6 = weft.transpose %5 [1, 3, 2, 4, 0] : tensor<2x2x16x4x4xf32> -> tensor<2x4x16x4x2xf32>
  %7 = weft.reshape %6 : tensor<2x4x16x4x2xf32> to tensor<2x4x16x8xf32>
  %8 = weft.add %1, %7 : tensor<2x4x16x8xf32>
  return %8 : tensor<2x4x16x8xf32>
}

// Heads in groups, two dimensions of them.
// CHECK-LABEL: func @groups
// CHECK-SAME: (%[[X:.*]]: tensor<2x16x3x2x4xf32>
func.func @groups(%x: tensor<2x16x3x2x4xf32>, %angles: tensor<16x2xf32>) -> tensor<2x16x3x2x4xf32> {
  // CHECK: weft.rotary {{.*}} : tensor<2x6x16x4xf32>, tensor<1x16x2xf32>, tensor<1x16x2xf32>
  %twice = weft.concat %angles, %angles axis 1 : (tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<16x4xf32>
  %c = weft.cos %twice : tensor<16x4xf32>
  %s = weft.sin %twice : tensor<16x4xf32>
  %cos = weft.broadcast %c dims [1, 4] : tensor<16x4xf32> to tensor<2x16x3x2x4xf32>
  %sin = weft.broadcast %s dims [1, 4] : tensor<16x4xf32> to tensor<2x16x3x2x4xf32>
  %0 = weft.mul %x, %cos : tensor<2x16x3x2x4xf32>
  %low = weft.slice %x starts [0, 0, 0, 0, 0] strides [1, 1, 1, 1, 1] : tensor<2x16x3x2x4xf32> to tensor<2x16x3x2x2xf32>
  %high = weft.slice %x starts [0, 0, 0, 0, 2] strides [1, 1, 1, 1, 1] : tensor<2x16x3x2x4xf32> to tensor<2x16x3x2x2xf32>
  %neg = weft.neg %high : tensor<2x16x3x2x2xf32>
  %turned = weft.concat %neg, %low axis 4 : (tensor<2x16x3x2x2xf32>, tensor<2x16x3x2x2xf32>) -> tensor<2x16x3x2x4xf32>
  %1 = weft.mul %turned, %sin : tensor<2x16x3x2x4xf32>
  %2 = weft.add %0, %1 : tensor<2x16x3x2x4xf32>
  return %2 : tensor<2x16x3x2x4xf32>
}

// Rows of which the first half is rotated, between a transpose and its inverse.
// CHECK-LABEL: func @partialBetweenTransposes
// CHECK-SAME: (%[[X:.*]]: tensor<4x32x8x16xf32>
func.func @partialBetweenTransposes(%x: tensor<4x32x8x16xf32>, %cos: tensor<1x32x4xf32>, %sin: tensor<1x32x4xf32>) -> tensor<4x32x8x16xf32> {
  // CHECK-NEXT: %[[T:.*]] = weft.transpose %[[X]] [0, 2, 1, 3]
  // CHECK-NEXT: %[[Y:.*]] = weft.rotary %[[T]], {{.*}} interleaved : tensor<4x8x32x16xf32>
  // CHECK-NEXT: %[[R:.*]] = weft.transpose %[[Y]] [0, 2, 1, 3]
  // CHECK-NEXT: return %[[R]]
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<4x32x8x16xf32> to tensor<4x32x8x8xf32>
  %high = weft.slice %x starts [0, 0, 0, 8] strides [1, 1, 1, 1] : tensor<4x32x8x16xf32> to tensor<4x32x8x8xf32>
  %0 = weft.transpose %low [0, 2, 1, 3] : tensor<4x32x8x8xf32> -> tensor<4x8x32x8xf32>
  %1 = weft.rotary %0, %cos, %sin interleaved : tensor<4x8x32x8xf32>, tensor<1x32x4xf32>, tensor<1x32x4xf32>
  %2 = weft.transpose %1 [0, 2, 1, 3] : tensor<4x8x32x8xf32> -> tensor<4x32x8x8xf32>
  %3 = weft.concat %2, %high axis 3 : (tensor<4x32x8x8xf32>, tensor<4x32x8x8xf32>) -> tensor<4x32x8x16xf32>
  return %3 : tensor<4x32x8x16xf32>
}

// Angles that pairs do not share, and elements turned the other way round, are no rotation.
// CHECK-LABEL: func @notShared
// CHECK-NOT: weft.rotary
// CHECK: return
func.func @notShared(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = weft.constant dense<[[1.0, 2.0, 1.0, 2.5], [3.0, 4.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %cos = weft.broadcast %0 dims [1, 3] : tensor<2x4xf32> to tensor<1x2x3x4xf32>
  %1 = weft.mul %x, %cos : tensor<1x2x3x4xf32>
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %high = weft.slice %x starts [0, 0, 0, 2] strides [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %neg = weft.neg %high : tensor<1x2x3x2xf32>
  %turned = weft.concat %neg, %low axis 3 : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x4xf32>
  %2 = weft.mul %turned, %cos : tensor<1x2x3x4xf32>
  %3 = weft.add %1, %2 : tensor<1x2x3x4xf32>
  return %3 : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func @turnedBack
// CHECK-NOT: weft.rotary
// CHECK: return
func.func @turnedBack(%x: tensor<1x2x3x4xf32>, %c: tensor<2x2xf32>) -> tensor<1x2x3x4xf32> {
  %twice = weft.concat %c, %c axis 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %cos = weft.broadcast %twice dims [1, 3] : tensor<2x4xf32> to tensor<1x2x3x4xf32>
  %1 = weft.mul %x, %cos : tensor<1x2x3x4xf32>
  %low = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %high = weft.slice %x starts [0, 0, 0, 2] strides [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %neg = weft.neg %low : tensor<1x2x3x2xf32>
  %turned = weft.concat %high, %neg axis 3 : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x4xf32>
  %2 = weft.mul %turned, %cos : tensor<1x2x3x4xf32>
  %3 = weft.add %1, %2 : tensor<1x2x3x4xf32>
  return %3 : tensor<1x2x3x4xf32>
}

// Halves that are rotated apart and joined.
// CHECK-LABEL: func @halves
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x16x8xf32>, %[[C:.*]]: tensor<16x4xf32>, %[[S:.*]]: tensor<16x4xf32>)
func.func @halves(%x: tensor<2x4x16x8xf32>, %c: tensor<16x4xf32>, %s: tensor<16x4xf32>) -> tensor<2x4x16x8xf32> {
  // CHECK-DAG: %[[COS:.*]] = weft.reshape %[[C]] : tensor<16x4xf32> to tensor<1x16x4xf32>
  // CHECK-DAG: %[[SIN:.*]] = weft.reshape %[[S]] : tensor<16x4xf32> to tensor<1x16x4xf32>
  // CHECK: %[[Y:.*]] = weft.rotary %[[X]], %[[COS]], %[[SIN]] : tensor<2x4x16x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %cos = weft.broadcast %c dims [2, 3] : tensor<16x4xf32> to tensor<2x4x16x4xf32>
  %sin = weft.broadcast %s dims [2, 3] : tensor<16x4xf32> to tensor<2x4x16x4xf32>
  %a = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x4x16x8xf32> to tensor<2x4x16x4xf32>
  %b = weft.slice %x starts [0, 0, 0, 4] strides [1, 1, 1, 1] : tensor<2x4x16x8xf32> to tensor<2x4x16x4xf32>
  %0 = weft.mul %a, %cos : tensor<2x4x16x4xf32>
  %1 = weft.mul %b, %sin : tensor<2x4x16x4xf32>
  %2 = weft.sub %0, %1 : tensor<2x4x16x4xf32>
  %3 = weft.mul %b, %cos : tensor<2x4x16x4xf32>
  %4 = weft.mul %a, %sin : tensor<2x4x16x4xf32>
  %5 = weft.add %4, %3 : tensor<2x4x16x4xf32>
  %6 = weft.concat %2, %5 axis 3 : (tensor<2x4x16x4xf32>, tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32>
  return %6 : tensor<2x4x16x8xf32>
}

// CHECK-LABEL: func @halvesExchanged
// CHECK-NOT: weft.rotary
// CHECK: return
func.func @halvesExchanged(%x: tensor<2x4x16x8xf32>, %c: tensor<16x4xf32>, %s: tensor<16x4xf32>) -> tensor<2x4x16x8xf32> {
  %cos = weft.broadcast %c dims [2, 3] : tensor<16x4xf32> to tensor<2x4x16x4xf32>
  %sin = weft.broadcast %s dims [2, 3] : tensor<16x4xf32> to tensor<2x4x16x4xf32>
  %a = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x4x16x8xf32> to tensor<2x4x16x4xf32>
  %b = weft.slice %x starts [0, 0, 0, 4] strides [1, 1, 1, 1] : tensor<2x4x16x8xf32> to tensor<2x4x16x4xf32>
  %0 = weft.mul %a, %cos : tensor<2x4x16x4xf32>
  %1 = weft.mul %b, %sin : tensor<2x4x16x4xf32>
  %2 = weft.sub %0, %1 : tensor<2x4x16x4xf32>
  %3 = weft.mul %a, %cos : tensor<2x4x16x4xf32>
  %4 = weft.mul %b, %sin : tensor<2x4x16x4xf32>
  %5 = weft.add %4, %3 : tensor<2x4x16x4xf32>
  %6 = weft.concat %2, %5 axis 3 : (tensor<2x4x16x4xf32>, tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32>
  return %6 : tensor<2x4x16x8xf32>
}

// Products of complex numbers, whose parts lie side by side in rows.
// CHECK-LABEL: func @complex
// CHECK-SAME: (%[[X:.*]]: tensor<2x16x4x8xf32>, %[[C:.*]]: tensor<16x4xf32>, %[[S:.*]]: tensor<16x4xf32>)
func.func @complex(%x: tensor<2x16x4x8xf32>, %c: tensor<16x4xf32>, %s: tensor<16x4xf32>) -> tensor<2x16x4x8xf32> {
  // CHECK-DAG: %[[T:.*]] = weft.transpose %[[X]] [0, 2, 1, 3]
  // CHECK-DAG: %[[COS:.*]] = weft.reshape %[[C]] : tensor<16x4xf32> to tensor<1x16x4xf32>
  // CHECK-DAG: %[[SIN:.*]] = weft.reshape %[[S]] : tensor<16x4xf32> to tensor<1x16x4xf32>
  // CHECK: %[[Y:.*]] = weft.rotary %[[T]], %[[COS]], %[[SIN]] interleaved : tensor<2x4x16x8xf32>
  // CHECK-NEXT: %[[R:.*]] = weft.transpose %[[Y]] [0, 2, 1, 3]
  // CHECK-NEXT: return %[[R]]
  %cos = weft.broadcast %c dims [1, 3] : tensor<16x4xf32> to tensor<2x16x4x4xf32>
  %sin = weft.broadcast %s dims [1, 3] : tensor<16x4xf32> to tensor<2x16x4x4xf32>
  %pairs = weft.reshape %x : tensor<2x16x4x8xf32> to tensor<2x16x4x4x2xf32>
  %re = weft.slice %pairs starts [0, 0, 0, 0, 0] strides [1, 1, 1, 1, 1] : tensor<2x16x4x4x2xf32> to tensor<2x16x4x4x1xf32>
  %im = weft.slice %pairs starts [0, 0, 0, 0, 1] strides [1, 1, 1, 1, 1] : tensor<2x16x4x4x2xf32> to tensor<2x16x4x4x1xf32>
  %a = weft.reshape %re : tensor<2x16x4x4x1xf32> to tensor<2x16x4x4xf32>
  %b = weft.reshape %im : tensor<2x16x4x4x1xf32> to tensor<2x16x4x4xf32>
  %0 = weft.mul %a, %cos : tensor<2x16x4x4xf32>
  %1 = weft.mul %b, %sin : tensor<2x16x4x4xf32>
  %2 = weft.sub %0, %1 : tensor<2x16x4x4xf32>
  %3 = weft.mul %a, %sin : tensor<2x16x4x4xf32>
  %4 = weft.mul %b, %cos : tensor<2x16x4x4xf32>
  %5 = weft.add %3, %4 : tensor<2x16x4x4xf32>
  %6 = weft.reshape %2 : tensor<2x16x4x4xf32> to tensor<2x16x4x4x1xf32>
  %7 = weft.reshape %5 : tensor<2x16x4x4xf32> to tensor<2x16x4x4x1xf32>
  %8 = weft.concat %6, %7 axis 4 : (tensor<2x16x4x4x1xf32>, tensor<2x16x4x4x1xf32>) -> tensor<2x16x4x4x2xf32>
  %9 = weft.reshape %8 : tensor<2x16x4x4x2xf32> to tensor<2x16x4x8xf32>
  return %9 : tensor<2x16x4x8xf32>
}

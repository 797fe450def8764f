// RUN: weft-opt %s --weft-move-views-to-weights | FileCheck %s

weft.weight @qkv : tensor<64x192xf32> = #weft.external<"w", 0, 49152>
weft.weight @bias : tensor<192xf32> = #weft.external<"w", 49152, 768>

// Columns are (3, heads, depth): a Split, then a reshape to heads.
// CHECK-LABEL: func @split
// CHECK-SAME: (%[[X:.*]]: tensor
func.func @split(%x: tensor<4x32x64xf32>) -> (tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>, tensor<4x32x64xf32>) {
  // CHECK-DAG: %[[Q:.*]] = weft.slice %{{.*}} starts [0, 0] strides [1, 1] : tensor<64x192xf32> to tensor<64x64xf32>
  // CHECK-DAG: %[[QHEADS:.*]] = weft.reshape %[[Q]] : tensor<64x64xf32> to tensor<64x4x16xf32>
  // CHECK-DAG: %[[BIAS:.*]] = weft.slice %{{.*}} starts [0] strides [1] : tensor<192xf32> to tensor<64xf32>
  // CHECK-DAG: %[[BIASHEADS:.*]] = weft.reshape %[[BIAS]] : tensor<64xf32> to tensor<4x16xf32>
  // CHECK-DAG: %[[PRODUCT:.*]] = weft.dot_general %[[X]], %[[QHEADS]] batch [] x [] contract [2] x [0]
  // CHECK-DAG: %[[BIASES:.*]] = weft.broadcast %[[BIASHEADS]] dims [2, 3]
  // CHECK-DAG: weft.add %[[PRODUCT]], %[[BIASES]]
  %w = weft.load @qkv : tensor<64x192xf32>
  %b = weft.load @bias : tensor<192xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %1 = weft.broadcast %b dims [2] : tensor<192xf32> to tensor<4x32x192xf32>
  %2 = weft.add %0, %1 : tensor<4x32x192xf32>
  %q = weft.slice %2 starts [0, 0, 0] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x64xf32>
  %k = weft.slice %2 starts [0, 0, 64] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x64xf32>
  %v = weft.slice %2 starts [0, 0, 128] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x64xf32>
  %3 = weft.reshape %q : tensor<4x32x64xf32> to tensor<4x32x4x16xf32>
  %4 = weft.reshape %k : tensor<4x32x64xf32> to tensor<4x32x4x16xf32>
  return %3, %4, %v : tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>, tensor<4x32x64xf32>
}

// Columns are (heads, 3, depth): reshaped to heads first.
// CHECK-LABEL: func @headsFirst
func.func @headsFirst(%x: tensor<4x32x64xf32>) -> (tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>) {
  // CHECK-DAG: %[[HEADS:.*]] = weft.reshape %{{.*}} : tensor<64x192xf32> to tensor<64x4x3x16xf32>
  // CHECK-DAG: weft.slice %[[HEADS]] starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<64x4x3x16xf32> to tensor<64x4x1x16xf32>
  // CHECK-DAG: weft.slice %[[HEADS]] starts [0, 0, 1, 0]
  // CHECK-DAG: weft.slice %[[HEADS]] starts [0, 0, 2, 0]
  // CHECK-COUNT-3: weft.dot_general {{.*}} -> tensor<4x32x4x16xf32>
  // CHECK-NEXT: return
  %w = weft.load @qkv : tensor<64x192xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %1 = weft.reshape %0 : tensor<4x32x192xf32> to tensor<4x32x4x3x16xf32>
  %q = weft.slice %1 starts [0, 0, 0, 0, 0] strides [1, 1, 1, 1, 1] : tensor<4x32x4x3x16xf32> to tensor<4x32x4x1x16xf32>
  %k = weft.slice %1 starts [0, 0, 0, 1, 0] strides [1, 1, 1, 1, 1] : tensor<4x32x4x3x16xf32> to tensor<4x32x4x1x16xf32>
  %v = weft.slice %1 starts [0, 0, 0, 2, 0] strides [1, 1, 1, 1, 1] : tensor<4x32x4x3x16xf32> to tensor<4x32x4x1x16xf32>
  %2 = weft.reshape %q : tensor<4x32x4x1x16xf32> to tensor<4x32x4x16xf32>
  %3 = weft.reshape %k : tensor<4x32x4x1x16xf32> to tensor<4x32x4x16xf32>
  %4 = weft.reshape %v : tensor<4x32x4x1x16xf32> to tensor<4x32x4x16xf32>
  return %2, %3, %4 : tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>
}

// The whole product is read too: cutting it up would compute it twice.
// CHECK-LABEL: func @readWhole
func.func @readWhole(%x: tensor<4x32x64xf32>) -> (tensor<4x32x64xf32>, tensor<4x32x192xf32>) {
  // CHECK: %[[ALL:.*]] = weft.dot_general
  // CHECK: weft.slice %[[ALL]]
  %w = weft.load @qkv : tensor<64x192xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %1 = weft.slice %0 starts [0, 0, 0] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x64xf32>
  return %1, %0 : tensor<4x32x64xf32>, tensor<4x32x192xf32>
}

// A slice of the rows of x, and a reshape across x and the weight, are no views of the weight.
// CHECK-LABEL: func @otherDimensions
func.func @otherDimensions(%x: tensor<4x32x64xf32>) -> (tensor<4x1x192xf32>, tensor<4x6144xf32>) {
  // CHECK: %[[FIRST:.*]] = weft.dot_general
  // CHECK: weft.slice %[[FIRST]]
  // CHECK: %[[SECOND:.*]] = weft.dot_general
  // CHECK: weft.reshape %[[SECOND]]
  %w = weft.load @qkv : tensor<64x192xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %1 = weft.slice %0 starts [0, 31, 0] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x1x192xf32>
  %2 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %3 = weft.reshape %2 : tensor<4x32x192xf32> to tensor<4x6144xf32>
  return %1, %3 : tensor<4x1x192xf32>, tensor<4x6144xf32>
}

// A product of two computed values is not taken apart.
// CHECK-LABEL: func @noWeight
func.func @noWeight(%x: tensor<4x32x64xf32>, %y: tensor<64x192xf32>) -> tensor<4x32x4x48xf32> {
  // CHECK: %[[PRODUCT:.*]] = weft.dot_general
  // CHECK: weft.reshape %[[PRODUCT]]
  %0 = weft.dot_general %x, %y batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %1 = weft.reshape %0 : tensor<4x32x192xf32> to tensor<4x32x4x48xf32>
  return %1 : tensor<4x32x4x48xf32>
}

weft.weight @experts : tensor<8x64x128xf32> = #weft.external<"w", 49920, 262144>
weft.weight @expertBias : tensor<8x128xf32> = #weft.external<"w", 312064, 4096>

// Weights are looked up first, and their columns are in turns of one matrix and of another: both are views of the table.
// CHECK-LABEL: func @lookedUp
func.func @lookedUp(%x: tensor<16x64xf32>, %ids: tensor<16xi64>) -> tensor<16x64xf32> {
  // CHECK-DAG: %[[EVEN:.*]] = weft.slice %{{.*}} starts [0, 0, 0] strides [1, 1, 2] : tensor<8x64x128xf32> to tensor<8x64x64xf32>
  // CHECK-DAG: %[[EVENBIAS:.*]] = weft.slice %{{.*}} starts [0, 0] strides [1, 2] : tensor<8x128xf32> to tensor<8x64xf32>
  // CHECK-DAG: %[[ODD:.*]] = weft.slice %{{.*}} starts [0, 0, 1] strides [1, 1, 2]
  // CHECK-DAG: %[[CHOSEN:.*]] = weft.gather %[[EVEN]], %arg1 axis 0
  // CHECK-DAG: weft.gather %[[EVENBIAS]], %arg1 axis 0
  // CHECK-DAG: weft.gather %[[ODD]], %arg1 axis 0
  // CHECK-DAG: weft.dot_general %arg0, %[[CHOSEN]] {{.*}} -> tensor<16x64xf32>
  // CHECK-NOT: weft.slice %{{.*}} : tensor<16x128xf32>
  // CHECK: return
  %w = weft.load @experts : tensor<8x64x128xf32>
  %b = weft.load @expertBias : tensor<8x128xf32>
  %0 = weft.gather %w, %ids axis 0 : (tensor<8x64x128xf32>, tensor<16xi64>) -> tensor<16x64x128xf32>
  %1 = weft.gather %b, %ids axis 0 : (tensor<8x128xf32>, tensor<16xi64>) -> tensor<16x128xf32>
  %2 = weft.dot_general %x, %0 batch [0] x [0] contract [1] x [1] : (tensor<16x64xf32>, tensor<16x64x128xf32>) -> tensor<16x128xf32>
  %3 = weft.add %2, %1 : tensor<16x128xf32>
  %gate = weft.slice %3 starts [0, 0] strides [1, 2] : tensor<16x128xf32> to tensor<16x64xf32>
  %up = weft.slice %3 starts [0, 1] strides [1, 2] : tensor<16x128xf32> to tensor<16x64xf32>
  %4 = weft.mul %gate, %up : tensor<16x64xf32>
  return %4 : tensor<16x64xf32>
}

weft.weight @mixed : tensor<64x160xf32> = #weft.external<"w", 316160, 40960>
weft.weight @kernel : tensor<160x1x4xf32> = #weft.external<"w", 357120, 2560>

// Through a convolution of each channel by itself, and what reads a value twice: two convolutions of fewer channels.
// CHECK-LABEL: func @channels
func.func @channels(%x: tensor<2x16x64xf32>) -> (tensor<2x128x16xf32>, tensor<2x32x16xf32>) {
  // CHECK-DAG: weft.slice %{{.*}} starts [0, 128] strides [1, 1] : tensor<64x160xf32> to tensor<64x32xf32>
  // CHECK-DAG: weft.slice %{{.*}} starts [128, 0, 0] strides [1, 1, 1] : tensor<160x1x4xf32> to tensor<32x1x4xf32>
  // CHECK-DAG: weft.conv {{.*}} groups 128 : (tensor<2x128x16xf32>, tensor<128x1x4xf32>) -> tensor<2x128x19xf32>
  // CHECK-DAG: weft.conv {{.*}} groups 32 : (tensor<2x32x16xf32>, tensor<32x1x4xf32>) -> tensor<2x32x19xf32>
  // CHECK: return
  %w = weft.load @mixed : tensor<64x160xf32>
  %k = weft.load @kernel : tensor<160x1x4xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<2x16x64xf32>, tensor<64x160xf32>) -> tensor<2x16x160xf32>
  %1 = weft.transpose %0 [0, 2, 1] : tensor<2x16x160xf32> -> tensor<2x160x16xf32>
  %2 = weft.conv %1, %k strides [1] low [3] high [3] dilations [1] groups 160 : (tensor<2x160x16xf32>, tensor<160x1x4xf32>) -> tensor<2x160x19xf32>
  %3 = weft.slice %2 starts [0, 0, 0] strides [1, 1, 1] : tensor<2x160x19xf32> to tensor<2x160x16xf32>
  %4 = weft.sigmoid %3 : tensor<2x160x16xf32>
  %5 = weft.mul %3, %4 : tensor<2x160x16xf32>
  %6 = weft.slice %5 starts [0, 0, 0] strides [1, 1, 1] : tensor<2x160x16xf32> to tensor<2x128x16xf32>
  %7 = weft.slice %5 starts [0, 128, 0] strides [1, 1, 1] : tensor<2x160x16xf32> to tensor<2x32x16xf32>
  return %6, %7 : tensor<2x128x16xf32>, tensor<2x32x16xf32>
}

// Queries and keys that are joined for one convolution of each channel: a convolution each.
// CHECK-LABEL: func @joinedChannels
func.func @joinedChannels(%x: tensor<2x128x16xf32>, %y: tensor<2x32x16xf32>) -> (tensor<2x128x16xf32>, tensor<2x32x16xf32>) {
  // CHECK-DAG: %[[FIRST:.*]] = weft.slice %{{.*}} starts [0, 0, 0] strides [1, 1, 1] : tensor<160x1x4xf32> to tensor<128x1x4xf32>
  // CHECK-DAG: %[[LAST:.*]] = weft.slice %{{.*}} starts [128, 0, 0] strides [1, 1, 1] : tensor<160x1x4xf32> to tensor<32x1x4xf32>
  // CHECK-DAG: weft.conv %arg0, %[[FIRST]] {{.*}} groups 128
  // CHECK-DAG: weft.conv %arg1, %[[LAST]] {{.*}} groups 32
  // CHECK-NOT: weft.concat
  // CHECK: return
  %k = weft.load @kernel : tensor<160x1x4xf32>
  %0 = weft.concat %x, %y axis 1 : (tensor<2x128x16xf32>, tensor<2x32x16xf32>) -> tensor<2x160x16xf32>
  %1 = weft.conv %0, %k strides [1] low [3] high [0] dilations [1] groups 160 : (tensor<2x160x16xf32>, tensor<160x1x4xf32>) -> tensor<2x160x16xf32>
  %2 = weft.slice %1 starts [0, 0, 0] strides [1, 1, 1] : tensor<2x160x16xf32> to tensor<2x128x16xf32>
  %3 = weft.slice %1 starts [0, 128, 0] strides [1, 1, 1] : tensor<2x160x16xf32> to tensor<2x32x16xf32>
  return %2, %3 : tensor<2x128x16xf32>, tensor<2x32x16xf32>
}

// A part that lies in two of what is joined stays a slice, and with it what could be computed by
// itself: it would be computed twice.
// CHECK-LABEL: func @acrossJoined
func.func @acrossJoined(%x: tensor<2x64x16xf32>, %y: tensor<2x64x16xf32>, %z: tensor<2x32x16xf32>) -> (tensor<2x64x16xf32>, tensor<2x96x16xf32>) {
  // CHECK: weft.concat
  // CHECK: weft.conv {{.*}} groups 160
  // CHECK: weft.slice %{{.*}} starts [0, 0, 0]
  // CHECK: weft.slice %{{.*}} starts [0, 64, 0]
  %k = weft.load @kernel : tensor<160x1x4xf32>
  %0 = weft.concat %x, %y, %z axis 1 : (tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x32x16xf32>) -> tensor<2x160x16xf32>
  %1 = weft.conv %0, %k strides [1] low [3] high [0] dilations [1] groups 160 : (tensor<2x160x16xf32>, tensor<160x1x4xf32>) -> tensor<2x160x16xf32>
  %2 = weft.slice %1 starts [0, 0, 0] strides [1, 1, 1] : tensor<2x160x16xf32> to tensor<2x64x16xf32>
  %3 = weft.slice %1 starts [0, 64, 0] strides [1, 1, 1] : tensor<2x160x16xf32> to tensor<2x96x16xf32>
  return %2, %3 : tensor<2x64x16xf32>, tensor<2x96x16xf32>
}

// What is sliced is also computed of an input, of which a part would be cut, not viewed.
// CHECK-LABEL: func @ofAnInput
func.func @ofAnInput(%x: tensor<4x32x64xf32>, %y: tensor<4x32x192xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xf32>) {
  // CHECK: %[[SUM:.*]] = weft.add
  // CHECK: weft.slice %[[SUM]]
  // CHECK: weft.slice %[[SUM]]
  %w = weft.load @qkv : tensor<64x192xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
  %1 = weft.add %0, %y : tensor<4x32x192xf32>
  %2 = weft.slice %1 starts [0, 0, 0] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x96xf32>
  %3 = weft.slice %1 starts [0, 0, 96] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x96xf32>
  return %2, %3 : tensor<4x32x96xf32>, tensor<4x32x96xf32>
}

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

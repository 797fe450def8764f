// RUN: weft-opt %s --canonicalize | FileCheck %s

// A weight is read as [contracted, others] before a product, whichever way round it is stored.
weft.weight @stored : tensor<96x64xf32> = #weft.external<"w", 0, 24576>

// CHECK-LABEL: func @orientWeight
func.func @orientWeight(%x: tensor<4x64xf32>) -> tensor<4x96xf32> {
  // CHECK: %[[W:.*]] = weft.load @stored
  // CHECK: %[[T:.*]] = weft.transpose %[[W]] [1, 0] : tensor<96x64xf32> -> tensor<64x96xf32>
  // CHECK: weft.dot_general %{{.*}}, %[[T]] batch [] x [] contract [1] x [0]
  %w = weft.load @stored : tensor<96x64xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<4x64xf32>, tensor<96x64xf32>) -> tensor<4x96xf32>
  return %0 : tensor<4x96xf32>
}

// CHECK-LABEL: func @reciprocalRoot
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @reciprocalRoot(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: weft.rsqrt %[[X]]
  // CHECK-NEXT: return
  %one = weft.constant dense<1.0> : tensor<4xf32>
  %0 = weft.sqrt %x : tensor<4xf32>
  %1 = weft.div %one, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @sliceBroadcast
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @sliceBroadcast(%x: tensor<4x8xf32>) -> tensor<1x4x3xf32> {
  // CHECK: %[[CUT:.*]] = weft.slice %[[X]] starts [0, 5] strides [1, 1] : tensor<4x8xf32> to tensor<4x3xf32>
  // CHECK: weft.reshape %[[CUT]] : tensor<4x3xf32> to tensor<1x4x3xf32>
  %0 = weft.broadcast %x dims [1, 2] : tensor<4x8xf32> to tensor<6x4x8xf32>
  %1 = weft.slice %0 starts [2, 0, 5] strides [1, 1, 1] : tensor<6x4x8xf32> to tensor<1x4x3xf32>
  return %1 : tensor<1x4x3xf32>
}

// Split, permuted and joined: one transpose.
// CHECK-LABEL: func @viewChain
// CHECK-SAME: (%[[X:.*]]: tensor<4x4x32x16xf32>)
func.func @viewChain(%x: tensor<4x4x32x16xf32>) -> tensor<4x4x16x32xf32> {
  // CHECK-NEXT: weft.transpose %[[X]] [0, 1, 3, 2]
  // CHECK-NEXT: return
  %0 = weft.reshape %x : tensor<4x4x32x16xf32> to tensor<16x32x16xf32>
  %1 = weft.transpose %0 [0, 2, 1] : tensor<16x32x16xf32> -> tensor<16x16x32xf32>
  %2 = weft.reshape %1 : tensor<16x16x32xf32> to tensor<4x4x16x32xf32>
  return %2 : tensor<4x4x16x32xf32>
}

// Slices of a slice that nothing but slices reads take from where it took.
// CHECK-LABEL: func @slicedTwice
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>)
func.func @slicedTwice(%x: tensor<8x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-DAG: %[[A:.*]] = weft.slice %[[X]] starts [1, 0] strides [2, 2]
  // CHECK-DAG: %[[B:.*]] = weft.slice %[[X]] starts [1, 1] strides [2, 2]
  // CHECK: return %[[A]], %[[B]]
  %0 = weft.slice %x starts [1, 0] strides [2, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %1 = weft.slice %0 starts [0, 0] strides [1, 2] : tensor<4x8xf32> to tensor<4x4xf32>
  %2 = weft.slice %0 starts [0, 1] strides [1, 2] : tensor<4x8xf32> to tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// What something else reads too stays one slice.
// CHECK-LABEL: func @sharedSlice
func.func @sharedSlice(%x: tensor<16xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK: %[[HALF:.*]] = weft.slice %{{.*}} starts [8]
  // CHECK: weft.slice %[[HALF]] starts [4]
  %0 = weft.slice %x starts [8] strides [1] : tensor<16xf32> to tensor<8xf32>
  %1 = weft.slice %0 starts [4] strides [1] : tensor<8xf32> to tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// A sort of which only the first elements are read.
// CHECK-LABEL: func @sortFewer
func.func @sortFewer(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x3xi64>) {
  // CHECK: %[[VALUES:.*]], %[[POSITIONS:.*]] = weft.sort %{{.*}} axis 1 count 3 descending : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  // CHECK: %[[FIRST:.*]] = weft.slice %[[VALUES]] starts [0, 0] strides [1, 1] : tensor<4x3xf32> to tensor<4x2xf32>
  // CHECK: return %[[FIRST]], %[[POSITIONS]]
  %0, %1 = weft.sort %x axis 1 count 8 descending : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xi64>
  %2 = weft.slice %0 starts [0, 0] strides [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
  %3 = weft.slice %1 starts [0, 0] strides [1, 1] : tensor<4x8xi64> to tensor<4x3xi64>
  return %2, %3 : tensor<4x2xf32>, tensor<4x3xi64>
}

// CHECK-LABEL: func @sortLast
func.func @sortLast(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  // CHECK: weft.sort %{{.*}} axis 1 count 8 :
  %0, %1 = weft.sort %x axis 1 count 8 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xi64>
  %2 = weft.slice %0 starts [0, 6] strides [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// A slice of one part of a concatenation.
// CHECK-LABEL: func @sliceOfPart
func.func @sliceOfPart(%x: tensor<4x6xf32>, %y: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf32>) {
  // CHECK-DAG: %[[FIRST:.*]] = weft.slice %arg0 starts [0, 4] strides [1, 1]
  // CHECK-DAG: %[[SECOND:.*]] = weft.slice %arg1 starts [0, 0] strides [1, 2]
  // CHECK-DAG: %[[BOTH:.*]] = weft.slice %{{.*}} starts [0, 4] strides [1, 1] : tensor<4x9xf32>
  // CHECK: return %[[FIRST]], %[[SECOND]], %[[BOTH]]
  %0 = weft.concat %x, %y axis 1 : (tensor<4x6xf32>, tensor<4x3xf32>) -> tensor<4x9xf32>
  %1 = weft.slice %0 starts [0, 4] strides [1, 1] : tensor<4x9xf32> to tensor<4x2xf32>
  %2 = weft.slice %0 starts [0, 6] strides [1, 2] : tensor<4x9xf32> to tensor<4x2xf32>
  %3 = weft.slice %0 starts [0, 4] strides [1, 1] : tensor<4x9xf32> to tensor<4x4xf32>
  return %1, %2, %3 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf32>
}

// A state that is stored as it was loaded keeps its value.
weft.weight kind(state) @kept : tensor<4xf32> = dense<0.0> : tensor<4xf32>
// CHECK-LABEL: func @storeLoaded
func.func @storeLoaded() {
  // CHECK-NEXT: return
  %0 = weft.load @kept : tensor<4xf32>
  weft.store @kept, %0 : tensor<4xf32>
  return
}
